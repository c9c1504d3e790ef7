package org.rdma4j.testing;

import java.util.List;

/**
 * The exit status and the output of a program.
 *
 * @param status the exit status
 * @param out the lines on its standard output
 * @param err the lines on its standard error; empty if both go to one file
 */
public record Outcome(int status, List<String> out, List<String> err) {
  /**
   * Removes what the JVM itself prints about its options.
   *
   * @return the rest
   */
  public Outcome withoutNoise() {
    return new Outcome(
        status, out.stream().filter(line -> !line.startsWith("Picked up ")).toList(), err);
  }

  /**
   * Asserts that the program failed, and that its only line of errors contains a message.
   *
   * @param message the message
   */
  public void assertFailed(String message) {
    if (status != 1 || err.size() != 1 || !err.get(0).contains(message)) {
      throw new AssertionError("no failure with the message \"%s\": %s".formatted(message, this));
    }
  }
}
