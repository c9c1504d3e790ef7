package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class SettingsTest {
  @Test
  void defaultsAreThoseOfPerftest() {
    Settings latency = settings(Program.SEND_LAT, draft -> {});
    assertThat(latency.size()).isEqualTo(2);
    assertThat(latency.iterations()).isEqualTo(1000);
    assertThat(latency.sendDepth()).isEqualTo(1);
    assertThat(latency.receiveDepth()).isEqualTo(512);
    Settings bandwidth = settings(Program.WRITE_BW, draft -> {});
    assertThat(bandwidth.size()).isEqualTo(65536);
    assertThat(bandwidth.iterations()).isEqualTo(5000);
    assertThat(bandwidth.sendDepth()).isEqualTo(128);
    assertThat(bandwidth.peak()).isTrue();
  }

  @Test
  void longMessagesAreAllSignaled() {
    assertThat(settings(Program.WRITE_BW, draft -> {}).moderation()).isEqualTo(1);
    assertThat(settings(Program.WRITE_BW, draft -> draft.size = 8192).moderation()).isEqualTo(100);
    assertThat(settings(Program.WRITE_BW, draft -> draft.moderation = 7).moderation()).isEqualTo(7);
  }

  @Test
  void lastRequestOfEachListIsSignaled() {
    Settings settings =
        settings(
            Program.WRITE_BW,
            draft -> {
              draft.size = 64;
              draft.postList = 16;
              draft.iterations = 160;
            });
    assertThat(settings.moderation()).isEqualTo(16);
  }

  @Test
  void datagramsFindAReceiveForEach() {
    Settings settings = settings(Program.SEND_BW, draft -> draft.transport = Transport.UD);
    assertThat(settings.receiveDepth()).isEqualTo(1000);
  }

  @Test
  void depthsAreNotMoreThanTheMessages() {
    Settings settings = settings(Program.SEND_BW, draft -> draft.iterations = 9);
    assertThat(settings.sendDepth()).isEqualTo(9);
    assertThat(settings.receiveDepth()).isEqualTo(10);
  }

  @Test
  void manyMessagesHaveNoPeak() {
    assertThat(settings(Program.WRITE_BW, draft -> draft.iterations = 20_001).peak()).isFalse();
    assertThat(settings(Program.WRITE_BW, draft -> draft.seconds = 10).peak()).isFalse();
  }

  @Test
  void timedTestMeasuresHalfOfItsTime() {
    Settings settings = settings(Program.READ_LAT, draft -> draft.seconds = 8);
    assertThat(settings.margin()).isEqualTo(2);
    assertThat(settings.iterations()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void senselessCombinationsAreRefused() {
    assertRefused("-c UD", Program.WRITE_BW, draft -> draft.transport = Transport.UD);
    assertRefused("-c UC", Program.READ_LAT, draft -> draft.transport = Transport.UC);
    assertRefused("must be a multiple of -l (16)", Program.WRITE_BW, draft -> draft.postList = 16);
    assertRefused(
        "-l is 8, must be a multiple of -Q (3)",
        Program.WRITE_BW,
        draft -> {
          draft.postList = 8;
          draft.moderation = 3;
        });
    assertRefused("--warmup is 1000", Program.SEND_LAT, draft -> draft.warmup = 1000);
    assertRefused(
        "more than twice -f (4)",
        Program.SEND_LAT,
        draft -> {
          draft.seconds = 8;
          draft.margin = 4;
        });
  }

  private static void assertRefused(
      String message, Program program, Consumer<Settings.Draft> change) {
    assertThatIllegalStateException()
        .isThrownBy(() -> settings(program, change))
        .withMessageContaining(message);
  }

  private static Settings settings(Program program, Consumer<Settings.Draft> change) {
    Settings.Draft draft = new Settings.Draft(program, IllegalStateException::new);
    change.accept(draft);
    return draft.settings();
  }
}
