package org.rdma4j.bench;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where C2 leaves a call in a loop, each round costs twice as much. */
final class InliningTest {
  private static final List<String> POLLING =
      List.of(
          "verbs.Completions::poll",
          "verbs.HotCall::poll",
          "verbs.HotCall::own",
          "bindings.inlines.DataPath::ibv_poll_cq$critical");
  private static final List<String> POSTING =
      List.of(
          "verbs.SendRequests::add",
          "verbs.RequestChain::add",
          "verbs.SendRequests::from",
          "verbs.RequestChain::addPiece",
          "verbs.MemoryRegion::addressOf",
          "verbs.SendRequests::signaled",
          "verbs.SendRequests::post",
          "verbs.RequestChain::post",
          "verbs.HotCall::post",
          "verbs.HotCall::own",
          "verbs.HotCall::check",
          "bindings.inlines.DataPath::ibv_post$critical",
          "verbs.Completions::requireSuccess",
          "verbs.Completions::workRequestId",
          "verbs.Completions::byteLength");

  /** Reasons of C2 that a change of the code could meet, not those of what is seldom called. */
  private static final String REFUSED =
      ".* org\\.rdma4j\\..*(too big|too large|big method|Cutoff|too deep|size >).*";

  /** How many requests there are in a chain, where there are chains. */
  private static final String CHAIN = "16";

  @ParameterizedTest
  @CsvSource({
    "PostAndPoll, postAndPoll",
    "SelectiveSignaling, post",
    "RemoteRead, read",
    "RemoteWrite, write"
  })
  void theLoopHasNoCallButThoseIntoC(String benchmark, String method)
      throws IOException, InterruptedException {
    String inlining = inlining(benchmark, method);

    assertThat(inlining).containsSubsequence("SendRequests::add", "linkToNative", "linkToNative");
    assertInlined(inlining, POSTING);
    assertInlined(inlining, POLLING);
  }

  @ParameterizedTest
  @CsvSource({"EmptyPoll, emptyPoll"})
  void theLoopOfPollsHasNoCallButThatIntoC(String benchmark, String method)
      throws IOException, InterruptedException {
    String inlining = inlining(benchmark, method);

    assertThat(inlining).contains("linkToNative");
    assertInlined(inlining, POLLING);
  }

  /** The poll is so seldom beside them that C2 takes it for small code only. */
  @Test
  void theLoopOfChainsHasNoCallButThoseIntoCAndThePoll() throws IOException, InterruptedException {
    String inlining =
        inlining("PostChain", "postChain")
            .lines()
            .filter(line -> !line.contains(" org.rdma4j.datapath.HotCall::poll "))
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
        .as("no refusal among%n%s", inlining)
        .noneMatch(line -> line.matches(REFUSED));
  }

  /** What the second compiler said of the last time that it compiled the loop. */
  private static String inlining(String benchmark, String method)
      throws IOException, InterruptedException {
    String loop = RepeatLoop.class.getPackageName() + "." + benchmark + "::" + method;
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
