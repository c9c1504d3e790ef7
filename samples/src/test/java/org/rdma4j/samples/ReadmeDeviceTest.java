package org.rdma4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.samples.testing.ChildProcess;
import org.rdma4j.samples.testing.Outcome;
import org.rdma4j.samples.testing.SamplesJvm;
import org.rdma4j.samples.testing.TestDevice;

/** Runs the commands that README.md prints, with the device and the address of this machine. */
@Tag("device")
@Timeout(200)
class ReadmeDeviceTest {
  private static final long TIMEOUT_SECONDS = 90;

  @TempDir Path scratch;

  static List<ReadmeCommands.Run> pingpongs() throws IOException {
    return ReadmeCommands.ofReadme().stream().filter(ReadmeDeviceTest::isPingpong).toList();
  }

  static List<ReadmeCommands.Run> others() throws IOException {
    return ReadmeCommands.ofReadme().stream().filter(run -> !isPingpong(run)).toList();
  }

  private static boolean isPingpong(ReadmeCommands.Run run) {
    return run.first().getFirst().endsWith("-pingpong");
  }

  @Tag("needs-connecting-by-address")
  @ParameterizedTest
  @MethodSource("pingpongs")
  void pingpongSucceeds(ReadmeCommands.Run run) throws Exception {
    succeeds(run);
  }

  @ParameterizedTest
  @MethodSource("others")
  void otherCommandSucceeds(ReadmeCommands.Run run) throws Exception {
    succeeds(run);
  }

  private void succeeds(ReadmeCommands.Run run) throws Exception {
    String[] first = here(run.first());
    if (run.isAlone()) {
      assertThatSucceeded(Outcome.of(first));
    } else if (run.isEndless()) {
      try (ChildProcess server = ChildProcess.start(SamplesJvm.command(first))) {
        awaitReady(run, first);
        assertThatSucceeded(Outcome.of(here(run.client())));
        assertThat(server.isAlive()).isTrue();
      }
    } else {
      CompletableFuture<Outcome> server = Outcome.begin(first);
      awaitReady(run, first);
      assertThatSucceeded(Outcome.of(here(run.client())));
      assertThatSucceeded(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }
  }

  private static void assertThatSucceeded(Outcome outcome) {
    assertThat(outcome.status()).as("exit status of %s", outcome).isZero();
  }

  private static void awaitReady(ReadmeCommands.Run run, String[] server) throws Exception {
    int port = run.server().port();
    switch (run.server().readiness()) {
      case TCP -> ChildProcess.awaitListening(Integer.parseInt(valueOf("-p", port, server)));
      case CM ->
          ChildProcess.awaitListeningCm(
              // To udaddy -p is no port, as in C.
              server[0].equals("udaddy") ? port : Integer.parseInt(valueOf("-p", port, server)));
      case GROUP -> ChildProcess.awaitMember(valueOf("-m", 0, server));
    }
  }

  private static String valueOf(String option, int otherwise, String[] words) {
    int index = List.of(words).indexOf(option);
    return index < 0 ? String.valueOf(otherwise) : words[index + 1];
  }

  /** Replaces device, GID, addresses and files by those of this machine. */
  private String[] here(List<String> command) throws IOException {
    List<String> words = new ArrayList<>();
    String previous = "";
    for (String word : command) {
      words.add(
          switch (previous) {
            case "-d" -> TestDevice.NAME;
            case "-g" -> TestDevice.GID;
            case "--directory" -> Files.createDirectories(scratch.resolve(word)).toString();
            default -> here(word);
          });
      previous = word;
    }
    return words.toArray(new String[0]);
  }

  private String here(String word) throws IOException {
    if (word.equals("FILE")) {
      return Files.writeString(scratch.resolve("file"), "content").toString();
    }
    return word.equals("SERVER") || word.matches("192\\.0\\.2\\.\\d+") ? TestDevice.host() : word;
  }
}
