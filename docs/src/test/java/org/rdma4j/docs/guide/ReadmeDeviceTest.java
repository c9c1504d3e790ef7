package org.rdma4j.docs.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.docs.guide.ReadmeCommands.Command;
import org.rdma4j.docs.guide.ReadmeCommands.Run;
import org.rdma4j.samples.Samples;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.Main;
import org.rdma4j.verbs.RdmaDevice;

/** Runs the commands that README.md prints, with the device and the address of this machine. */
@Tag("device")
@Tag("c-programs")
@Timeout(200)
class ReadmeDeviceTest {
  @TempDir Path scratch;

  static List<Run> pingpongs() throws IOException {
    return ReadmeCommands.ofReadme().stream().filter(ReadmeDeviceTest::isPingpong).toList();
  }

  static List<Run> others() throws IOException {
    return ReadmeCommands.ofReadme().stream().filter(run -> !isPingpong(run)).toList();
  }

  private static boolean isPingpong(Run run) {
    return run.first().program().endsWith("-pingpong");
  }

  @Tag("needs-connecting-by-address")
  @ParameterizedTest
  @MethodSource("pingpongs")
  void pingpongSucceeds(Run run) throws Exception {
    succeeds(run);
  }

  @ParameterizedTest
  @MethodSource("others")
  void otherCommandSucceeds(Run run) throws Exception {
    succeeds(run);
  }

  private void succeeds(Run run) throws Exception {
    try (ChildProcess first = start(run.first())) {
      if (!run.isAlone()) {
        awaitReady(run.server());
        try (ChildProcess client = start(run.client())) {
          assertThatSucceeded(client.await());
        }
      }
      if (!run.isAlone() && run.isEndless()) {
        assertThat(first.isAlive()).isTrue();
      } else {
        assertThatSucceeded(first.await());
      }
    }
  }

  private ChildProcess start(Command command) throws Exception {
    Class<?> main = command.module().equals("tools") ? Main.class : Samples.class;
    return ChildProcess.start(JavaCommand.of(main, here(command.words())));
  }

  private static void awaitReady(ReadmeCommands.Server server) throws Exception {
    if (server.cm()) {
      ChildProcess.awaitListeningCm(server.port());
    } else {
      ChildProcess.awaitListening(server.port());
    }
  }

  private static void assertThatSucceeded(Outcome outcome) {
    assertThat(outcome.status()).as("exit status of %s", outcome).isZero();
  }

  /** Replaces device, GID, addresses and files by those of this machine. */
  private String[] here(List<String> words) throws IOException {
    List<String> here = new ArrayList<>();
    String previous = "";
    for (String word : words) {
      here.add(
          switch (previous) {
            case "-d" -> RdmaDevice.list().getFirst().name();
            case "-g" -> gid();
            default -> here(word);
          });
      previous = word;
    }
    return here.toArray(new String[0]);
  }

  private static String gid() {
    try (RdmaDevice device = RdmaDevice.open(RdmaDevice.list().getFirst().name())) {
      return String.valueOf(device.port(1).preferredGid().index());
    }
  }

  private String here(String word) throws IOException {
    if (word.equals("DIRECTORY")) {
      return Files.createDirectories(scratch.resolve("arrived")).toString();
    }
    if (word.equals("FILE")) {
      return Files.writeString(scratch.resolve("file"), "content").toString();
    }
    return word.equals("SERVER") || word.matches("192\\.0\\.2\\.\\d+") ? Peers.host() : word;
  }
}
