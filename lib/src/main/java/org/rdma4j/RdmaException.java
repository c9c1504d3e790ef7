package org.rdma4j;

/**
 * Thrown if a call into the RDMA libraries fails. The message contains the C function, the name and
 * the number of the errno, and what to do about it, if that is known.
 *
 * <p>Misuse is not reported by this class. A bad argument throws {@link IllegalArgumentException}
 * before C sees it, and the use of a closed object throws {@link IllegalStateException}.
 *
 * @see ErrorNumber
 * @see org.rdma4j.verbs.WorkCompletionException
 */
public class RdmaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The C function. */
  private final String call;

  /** The errno value, or 0. */
  private final int errno;

  /** See {@link #advice}. */
  private final String advice;

  /**
   * Creates the exception for a call that failed with an errno. The advice follows from the
   * function and the errno.
   *
   * @param call the C function and what distinguishes this call from others, such as {@code
   *     ibv_open_device(rxe0)}
   * @param errno the errno value, or its negative, which some providers return
   */
  public RdmaException(String call, int errno) {
    this(call, errno, Advice.on(functionOf(call), Math.abs(errno)));
  }

  /**
   * Creates the exception for a call that failed, with the caller's own advice.
   *
   * @param call the C function and what distinguishes this call from others
   * @param errno the errno value, or its negative, which some providers return; 0 if the function
   *     does not return one
   * @param advice what to do, in one or more sentences without a final period; empty if nothing is
   *     known
   */
  public RdmaException(String call, int errno, String advice) {
    super(
        call
            + " failed"
            + (errno == 0 ? "" : ": " + ErrorNumber.describe(Math.abs(errno)))
            + (advice.isEmpty() ? "" : ". " + advice));
    this.call = call;
    this.errno = Math.abs(errno);
    this.advice = advice;
  }

  /**
   * Returns the call that failed.
   *
   * @return the C function, followed in parentheses by what distinguishes this call from others
   */
  public final String call() {
    return call;
  }

  /**
   * Returns the C function that failed, for programs that treat some functions differently.
   *
   * @return the name, such as {@code ibv_open_device}: what {@link #call} begins with
   */
  public final String function() {
    return functionOf(call);
  }

  private static String functionOf(String call) {
    int end = 0;
    while (end < call.length() && Character.isJavaIdentifierPart(call.charAt(end))) {
      end++;
    }
    return call.substring(0, end);
  }

  /**
   * Returns the errno value, as in {@code errno.h}.
   *
   * @return the value; 0 if the function did not return one
   */
  public final int errno() {
    return errno;
  }

  /**
   * Returns what to do, which is also the end of the message.
   *
   * @return one or more sentences without a final period; empty if nothing is known
   */
  public final String advice() {
    return advice;
  }

  /**
   * Returns the name of the errno value.
   *
   * @return the name, such as {@code ENOMEM}; the number in decimal if {@link ErrorNumber} does not
   *     contain it
   */
  public final String errnoName() {
    return ErrorNumber.of(errno).map(ErrorNumber::name).orElseGet(() -> Integer.toString(errno));
  }
}
