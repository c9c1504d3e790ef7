package org.rdma4j.bench.posts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A call that C2 does not inline makes each round of a loop cost twice as much. */
@Tag("slow")
final class InliningTest {
  private static final List<String> CALL_OF_POST =
      List.of(
          "datapath.HotCall::post",
          "datapath.HotCall::own",
          "bindings.inlines.DataPath::ibv_post$critical");
  private static final List<String> POSTING =
      List.of(
          "verbs.SendRequests::add",
          "datapath.RequestChain::begin",
          "verbs.SendRequests::from",
          "datapath.RequestChain::addPiece",
          "verbs.MemoryRegion::addressOf",
          "verbs.SendRequests::signaled",
          "verbs.SendRequests::post",
          "datapath.RequestChain::postAll",
          "datapath.HotCall::check");
  private static final List<String> POSTING_PREPARED =
      List.of(
          "verbs.PreparedRequests::id",
          "verbs.PreparedRequests::at",
          "verbs.PreparedRequests::post");
  private static final List<String> POLLING =
      List.of(
          "verbs.Completions::poll",
          "datapath.HotCall::poll",
          "datapath.HotCall::own",
          "bindings.inlines.DataPath::ibv_poll_cq$critical");
  private static final List<String> READING =
      List.of(
          "verbs.Completions::requireSuccess",
          "verbs.Completions::workRequestId",
          "verbs.Completions::byteLength");

  /**
   * C2's reasons that a change of the code can cause, unlike its reasons for rarely called code.
   * The paths that a call leaves the loop by need not be inlined.
   */
  private static final String REFUSED =
      ".* org\\.rdma4j\\.(?!datapath\\.\\w+::(adopt|postOtherwise|pollOtherwise|postUnusual) ).*"
          + "(too big|too large|big method|Cutoff|too deep|size >).*";

  @ParameterizedTest
  @ValueSource(strings = {"post", "postChains"})
  void loopOfPostsHasNoCallExceptThatIntoC(String loop) throws IOException, InterruptedException {
    String inlining = inlining(loop);

    assertThat(inlining).containsSubsequence("SendRequests::add", "linkToNative");
    assertInlined(inlining, POSTING);
    assertInlined(inlining, CALL_OF_POST);
  }

  @Test
  void loopOfPreparedPostsHasNoCallExceptThatIntoC() throws IOException, InterruptedException {
    String inlining = inlining("postPrepared");

    assertThat(inlining).containsSubsequence("PreparedRequests::id", "linkToNative");
    assertInlined(inlining, POSTING_PREPARED);
    assertInlined(inlining, CALL_OF_POST);
  }

  @ParameterizedTest
  @ValueSource(strings = {"poll", "pollBatches"})
  void loopOfPollsHasNoCallExceptThatIntoC(String loop) throws IOException, InterruptedException {
    String inlining = inlining(loop);

    assertThat(inlining).contains("linkToNative");
    assertInlined(inlining, POLLING);
    assertInlined(inlining, READING);
  }

  @Test
  void loopOfEmptyPollsHasNoCallExceptThatIntoC() throws IOException, InterruptedException {
    String inlining = inlining("pollEmpty");

    assertThat(inlining).contains("linkToNative");
    assertInlined(inlining, POLLING);
  }

  private static void assertInlined(String inlining, List<String> methods) {
    for (String method : methods) {
      assertThat(inlining)
          .containsPattern(
              " org\\.rdma4j\\.\\Q" + method + "\\E \\([0-9]+ bytes\\) +(inline|access)");
    }
    assertThat(inlining.split("\n", -1))
        .as("no refusal to inline in%n%s", inlining)
        .noneMatch(line -> line.matches(REFUSED));
  }

  /** Returns what C2 printed about inlining when it compiled the loop for the last time. */
  private static String inlining(String method) throws IOException, InterruptedException {
    String loop = HalvesInJava.class.getName() + "::" + method;
    String printed =
        ChildJvm.run(
            RepeatLoops.class,
            Duration.ofMinutes(1),
            List.of(
                "-Xbatch",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+PrintCompilation",
                "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=PrintInlining," + loop),
            ChildJvm.STEPPED_SINK);
    String[] compilations = printed.split(" 4 +\\Q" + loop + "\\E \\(", -1);
    assertThat(compilations).as("compilations by C2, in%n%s", printed).hasSizeGreaterThan(1);
    return compilations[compilations.length - 1];
  }
}
