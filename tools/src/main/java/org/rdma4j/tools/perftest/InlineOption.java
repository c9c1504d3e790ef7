package org.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option of the tests whose messages can be inline. */
final class InlineOption {
  @Option(
      names = {"-I", "--inline_size"},
      paramLabel = "BYTES",
      description =
          "send messages up to this length inline (default: bandwidth 0; latency 188 to 236,"
              + " but 0 on a software device)")
  @Nullable Integer bytes;

  void fill(Settings.Draft draft, TestOptions test) {
    if (bytes != null) {
      test.checkRange("-I", bytes, 0, 912);
      draft.inlineBytes = bytes;
    }
  }
}
