package org.rdma4j.docs.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.docs.guide.ReadmeCommands.Command;
import org.rdma4j.docs.guide.ReadmeCommands.Run;

class ReadmeCommandsTest {
  private static final String TOOL = "java -jar tools/target/rdma4j-tools.jar ";
  private static final String SAMPLE = "java -jar samples/target/rdma4j-samples.jar ";

  @Test
  void everyCommandInReadmeIsKnown() throws Exception {
    assertThat(ReadmeCommands.ofReadme()).isNotEmpty();
  }

  @Test
  void clientFollowsItsServer() {
    assertThat(
            ReadmeCommands.runs(
                List.of(
                    "    " + TOOL + "devices",
                    "Text with rdma4j-tools.jar in it.",
                    TOOL + "rping -s      # and on the other machine",
                    TOOL + "rping -c -a 192.0.2.1",
                    SAMPLE + "rcopy",
                    SAMPLE + "rcopy FILE SERVER")))
        .containsExactly(
            Run.of(Command.of("tools", "devices")),
            Run.of(
                Command.of("tools", "rping", "-s"),
                Command.of("tools", "rping", "-c", "-a", "192.0.2.1")),
            Run.of(
                Command.of("samples", "rcopy"), Command.of("samples", "rcopy", "FILE", "SERVER")));
  }

  @Test
  void textWithoutCommandsIsRefused() {
    assertThatRefused("has no command", "dev/demo");
  }

  @Test
  void unknownProgramIsRefused() {
    assertThatRefused("unknown program: pong -x", TOOL + "pong -x");
  }

  @Test
  void serverWithoutClientIsRefused() {
    assertThatRefused("no client after: rping -s", TOOL + "rping -s");
    assertThatRefused("no client after: rping -s", TOOL + "rping -s", TOOL + "rc-pingpong");
  }

  @Test
  void commandInAnotherFormIsRefused() {
    assertThatRefused("not a command that can be tested", "java -jar rdma4j-tools.jar devices");
  }

  private static void assertThatRefused(String message, String... lines) {
    assertThatThrownBy(() -> ReadmeCommands.runs(List.of(lines)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(message);
  }
}
