package org.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The length of messages. Atomic operations have none. */
final class SizeOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description =
          "the length of a message; K and M multiply it by 1024 and 1048576 (default: latency 2,"
              + " bandwidth 65536)")
  @Nullable String size;

  @Option(
      names = {"-a", "--all"},
      description = "test the lengths 2, 4, 8 to 8388608 in turn; datagrams up to the path MTU")
  boolean all;

  void fill(Settings.Draft draft) {
    draft.allSizes = all;
    if (size != null) {
      draft.size = bytes(size);
      draft.sizeGiven = true;
    }
  }

  private long bytes(String text) {
    long unit = text.endsWith("K") ? 1 << 10 : text.endsWith("M") ? 1 << 20 : 1;
    try {
      long number = Long.parseLong(unit == 1 ? text : text.substring(0, text.length() - 1));
      if (number >= 1 && number <= Integer.MAX_VALUE / unit) {
        return number * unit;
      }
    } catch (NumberFormatException invalid) {
      throw new ParameterException(spec.commandLine(), message(text), invalid);
    }
    throw new ParameterException(spec.commandLine(), message(text));
  }

  private static String message(String text) {
    return "-s is %s, must be from 1 to %d".formatted(text, Integer.MAX_VALUE);
  }
}
