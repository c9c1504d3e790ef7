package org.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option of the tests of reads and atomic operations. */
final class OutstandingOption {
  @Option(
      names = {"-o", "--outs"},
      paramLabel = "COUNT",
      description =
          "the number of reads and atomic operations that the device may have outstanding"
              + " (default: its maximum)")
  @Nullable Integer reads;

  void fill(Settings.Draft draft, TestOptions test) {
    if (reads != null) {
      test.checkRange("-o", reads, 1, 255);
      draft.reads = reads;
    }
  }
}
