package org.rdma4j;

/**
 * A call into the RDMA libraries failed. The message names the C function, the errno by number and
 * name, and what to do about it where that is known.
 *
 * <p>Misuse is not reported by this class: a bad argument throws {@link IllegalArgumentException}
 * before C sees it, use of a closed object {@link IllegalStateException}.
 */
public class RdmaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The C function. */
  private final String call;

  /** The errno value, or 0. */
  private final int errno;

  /**
   * A call that failed with an errno.
   *
   * @param call the C function, with what tells this call from others, such as {@code
   *     ibv_open_device(rxe0)}
   * @param errno the errno value
   */
  public RdmaException(String call, int errno) {
    this(call, errno, Advice.on(call, errno));
  }

  /**
   * A call that failed with an errno, and what to do about it.
   *
   * @param call the C function, with what tells this call from others
   * @param errno the errno value, or 0 where the function gives none
   * @param advice a sentence or more on what to do; empty where nothing is known
   */
  public RdmaException(String call, int errno, String advice) {
    super(
        call
            + " failed"
            + (errno == 0 ? "" : ": " + ErrorNumber.describe(errno))
            + (advice.isEmpty() ? "" : ". " + advice));
    this.call = call;
    this.errno = errno;
  }

  /**
   * The C function that failed.
   *
   * @return its name, with what tells this call from others in parentheses
   */
  public final String call() {
    return call;
  }

  /**
   * The errno value, as in {@code errno.h}.
   *
   * @return the value, or 0 where the function gave none
   */
  public final int errno() {
    return errno;
  }

  /**
   * The name of the errno value.
   *
   * @return such as {@code ENOMEM}; the number in decimal where it has no name here
   */
  public final String errnoName() {
    return ErrorNumber.of(errno).map(ErrorNumber::name).orElseGet(() -> Integer.toString(errno));
  }
}
