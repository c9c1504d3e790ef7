package org.rdma4j.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReadmeCommandsTest {
  private static final String JAVA = "java -jar samples/target/rdma4j-samples.jar ";

  @Test
  void everyCommandInReadmeIsKnown() throws Exception {
    assertThat(ReadmeCommands.ofReadme()).isNotEmpty();
  }

  @Test
  void clientFollowsItsServer() {
    assertThat(
            ReadmeCommands.runs(
                List.of(
                    "    " + JAVA + "devices",
                    "Text with rdma4j-samples.jar in it.",
                    JAVA + "rping -s      # and on the other machine",
                    JAVA + "rping -c -a 192.0.2.1",
                    JAVA + "rdma-server",
                    JAVA + "rdma-client -s SERVER")))
        .containsExactly(
            new ReadmeCommands.Run(List.of("devices"), List.of()),
            new ReadmeCommands.Run(
                List.of("rping", "-s"), List.of("rping", "-c", "-a", "192.0.2.1")),
            new ReadmeCommands.Run(List.of("rdma-server"), List.of("rdma-client", "-s", "SERVER")));
  }

  @Test
  void textWithoutCommandsIsRefused() {
    assertThatRefused("has no command", "dev/demo");
  }

  @Test
  void unknownProgramIsRefused() {
    assertThatRefused("unknown program: pong -x", JAVA + "pong -x");
  }

  @Test
  void serverWithoutClientIsRefused() {
    assertThatRefused("no client after: rping -s", JAVA + "rping -s");
    assertThatRefused("no client after: rping -s", JAVA + "rping -s", JAVA + "ucmatose");
  }

  @Test
  void commandInAnotherFormIsRefused() {
    assertThatRefused("not a command that can be tested", "java -jar rdma4j-samples.jar devices");
  }

  private static void assertThatRefused(String message, String... lines) {
    assertThatThrownBy(() -> ReadmeCommands.runs(List.of(lines)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(message);
  }
}
