package org.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the tests that measure bandwidth. */
final class BandwidthOptions {
  @Option(
      names = {"-b", "--bidirectional"},
      description = "let both sides send, and print the sum; both sides need it")
  boolean bothWays;

  @Option(
      names = {"-l", "--post_list"},
      paramLabel = "COUNT",
      description = "post so many requests per call (default: ${DEFAULT-VALUE})")
  int postList = 1;

  @Option(
      names = {"-q", "--qp"},
      paramLabel = "COUNT",
      description = "the number of queue pairs; both sides need it (default: ${DEFAULT-VALUE})")
  int queuePairs = 1;

  @Option(
      names = {"-Q", "--cq-mod"},
      paramLabel = "COUNT",
      description =
          "signal every so many requests (default: -l; without it 100, or 1 if messages are longer"
              + " than 8192 bytes)")
  @Nullable Integer moderation;

  @Option(
      names = {"-t", "--tx-depth"},
      paramLabel = "COUNT",
      description =
          "the number of outstanding requests of a queue pair (default: ${DEFAULT-VALUE})")
  int sendDepth = 128;

  @Option(
      names = {"-N", "--noPeak"},
      description = "do not compute the peak (default: compute it for up to 20000 messages)")
  boolean noPeak;

  @Option(
      names = "--report_gbits",
      description = "print bandwidths in Gb/s (1e9 bits) instead of MB/s, which are 2^20 bytes")
  boolean gigabits;

  @Option(names = "--report-both", description = "with -b, also print the result of each side")
  boolean bothSides;

  @Option(
      names = "--run_infinitely",
      description = "test until Ctrl-C, and print the result of every -D seconds (default: 5)")
  boolean infinitely;

  void fill(Settings.Draft draft, TestOptions test) {
    test.checkRange("-l", postList, 1, 15_000);
    test.checkRange("-q", queuePairs, 1, 16_384);
    test.checkRange("-t", sendDepth, 1, 15_000);
    if (moderation != null) {
      test.checkRange("-Q", moderation, 1, 1024);
      draft.moderation = moderation;
    }
    draft.bothWays = bothWays;
    draft.postList = postList;
    draft.queuePairs = queuePairs;
    draft.sendDepth = sendDepth;
    draft.peak = !noPeak;
    draft.infinitely = infinitely;
  }

  Style style(TestOptions test) {
    return new Style(
        test.output(true), test.jsonFile(), gigabits, false, false, bothSides, test.progress);
  }
}
