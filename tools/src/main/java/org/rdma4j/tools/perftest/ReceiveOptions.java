package org.rdma4j.tools.perftest;

import picocli.CommandLine.Option;

/** The options of the tests whose messages arrive in receives. */
final class ReceiveOptions {
  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "COUNT",
      description = "the number of posted receives of a queue pair (default: ${DEFAULT-VALUE})")
  int depth = Settings.DEFAULT_RECEIVE_DEPTH;

  @Option(
      names = "--recv_post_list",
      paramLabel = "COUNT",
      description = "post so many receives per call (default: ${DEFAULT-VALUE})")
  int postList = 1;

  void fill(Settings.Draft draft, TestOptions test) {
    test.checkRange("-r", depth, 1, 16_384);
    test.checkRange("--recv_post_list", postList, 1, depth);
    draft.receiveDepth = depth;
    draft.receivePostList = postList;
  }
}
