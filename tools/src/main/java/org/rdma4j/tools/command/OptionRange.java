package org.rdma4j.tools.command;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Checks the range of a number on the command line. */
public final class OptionRange {
  private OptionRange() {}

  /**
   * Checks that the value of an option is within its range.
   *
   * @param spec the program
   * @param option the name of the option
   * @param value its value
   * @param min the smallest valid value
   * @param max the largest valid value
   * @throws ParameterException if the value is out of range
   */
  public static void check(CommandSpec spec, String option, int value, int min, int max) {
    if (value < min || value > max) {
      throw new ParameterException(
          spec.commandLine(), "%s is %d, must be from %d to %d".formatted(option, value, min, max));
    }
  }
}
