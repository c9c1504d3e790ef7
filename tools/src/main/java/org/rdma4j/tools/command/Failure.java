package org.rdma4j.tools.command;

import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;

/**
 * A failure that the user can do something about. The message says what happened, then what to do.
 */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates a failure.
   *
   * @param message what happened, and what to do
   */
  public Failure(String message) {
    super(message);
  }

  /**
   * Creates a failure with a cause.
   *
   * @param message what happened, and what to do
   * @param cause the exception that says more
   */
  public Failure(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Returns the line to print for an exception. The message of a failure, of an {@link
   * RdmaException}, of a TimeoutException and of an {@link IllegalArgumentException} says enough;
   * other exceptions are unexpected, so their class is printed too.
   *
   * @param failure the exception
   * @return its description in one line
   */
  public static String describe(Exception failure) {
    boolean saysEnough =
        failure instanceof Failure
            || failure instanceof RdmaException
            || failure instanceof TimeoutException
            || failure instanceof IllegalArgumentException;
    return oneLine(
        saysEnough ? failure.getMessage() : failure + "; --debug prints the stack trace");
  }

  /**
   * Joins the lines of a message.
   *
   * @param message the message; null counts as empty
   * @return the message in one line
   */
  public static String oneLine(@Nullable String message) {
    return Objects.requireNonNullElse(message, "").strip().replaceAll("\\R\\s*", " ");
  }
}
