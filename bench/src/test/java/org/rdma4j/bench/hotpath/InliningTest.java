package org.rdma4j.bench.hotpath;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.bench.loops.AgainstC;
import org.rdma4j.bench.standin.ChildJvm;

/** A call that C2 does not inline makes each round of a loop cost twice as much. */
final class InliningTest {
  private static final List<String> POLLING =
      List.of(
          "verbs.Completions::poll",
          "datapath.HotCall::poll",
          "datapath.HotCall::own",
          "bindings.inlines.DataPath::ibv_poll_cq$critical");
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
          "datapath.HotCall::post",
          "datapath.HotCall::own",
          "datapath.HotCall::check",
          "bindings.inlines.DataPath::ibv_post$critical",
          "verbs.Completions::requireSuccess",
          "verbs.Completions::workRequestId",
          "verbs.Completions::byteLength");

  private static final List<String> POSTING_PREPARED =
      List.of(
          "verbs.PreparedRequests::id",
          "verbs.PreparedRequests::offset",
          "verbs.PreparedRequests::at",
          "verbs.PreparedRequests::post",
          "datapath.HotCall::post",
          "datapath.HotCall::own",
          "bindings.inlines.DataPath::ibv_post$critical");

  /**
   * C2's reasons that a change of the code can cause, unlike its reasons for rarely called code.
   */
  private static final String REFUSED =
      ".* org\\.rdma4j\\..*(too big|too large|big method|Cutoff|too deep|size >).*";

  /** The number of requests in a chain. Only chains use it. */
  private static final String CHAIN = "16";

  @ParameterizedTest
  @CsvSource({
    "PostAndPoll, postAndPoll",
    "SelectiveSignaling, post",
    "RemoteRead, read",
    "RemoteWrite, write"
  })
  void loopHasNoCallsExceptThoseIntoC(String benchmark, String method)
      throws IOException, InterruptedException {
    String inlining = inlining(benchmark, method);

    assertThat(inlining).containsSubsequence("SendRequests::add", "linkToNative", "linkToNative");
    assertInlined(inlining, POSTING);
    assertInlined(inlining, POLLING);
  }

  @Test
  void loopOfPreparedSendsHasNoCallsExceptThoseIntoC() throws IOException, InterruptedException {
    String inlining = inlining("PreparedPostAndPoll", "postAndPoll");

    assertThat(inlining)
        .containsSubsequence("PreparedRequests::id", "linkToNative", "linkToNative");
    assertInlined(inlining, POSTING_PREPARED);
    assertInlined(inlining, POLLING);
  }

  @ParameterizedTest
  @CsvSource({"EmptyPoll, emptyPoll"})
  void loopOfPollsHasNoCallsExceptThatIntoC(String benchmark, String method)
      throws IOException, InterruptedException {
    String inlining = inlining(benchmark, method);

    assertThat(inlining).contains("linkToNative");
    assertInlined(inlining, POLLING);
  }

  /**
   * A poll is so rare compared with the posts that C2 inlines it only if it is small, and does not
   * know that polls are never paused.
   */
  @Test
  void loopOfChainsHasNoCallsExceptThoseIntoCAndThePoll() throws IOException, InterruptedException {
    String inlining =
        inlining("PostChain", "postChain")
            .lines()
            .filter(line -> !line.contains(" org.rdma4j.datapath.HotCall::poll "))
            .filter(line -> !line.contains(" org.rdma4j.verbs.Completions::pollAfterPause "))
            .collect(joining("\n"));

    assertThat(inlining).containsSubsequence("SendRequests::add", "linkToNative");
    assertInlined(inlining, POSTING);
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
  private static String inlining(String benchmark, String method)
      throws IOException, InterruptedException {
    String loop = AgainstC.class.getPackageName() + "." + benchmark + "::" + method;
    String printed =
        ChildJvm.run(
            Duration.ofMinutes(2),
            List.of(
                "-Xbatch",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+PrintCompilation",
                "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=PrintInlining," + loop),
            RepeatLoop.class,
            benchmark,
            method,
            "CRITICAL",
            CHAIN);
    String[] compilations = printed.split(" 4 +\\Q" + loop + "\\E \\(", -1);
    assertThat(compilations).as("compilations by C2, in%n%s", printed).hasSizeGreaterThan(1);
    return compilations[compilations.length - 1];
  }
}
