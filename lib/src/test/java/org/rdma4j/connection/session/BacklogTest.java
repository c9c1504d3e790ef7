package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BacklogTest {
  private final Backlog backlog = new Backlog();

  BacklogTest() {
    backlog.watermarks(10, 20);
  }

  @Test
  void itIsWritableUntilThereIsMoreThanTheUpperMarkAndAgainFromTheLowerOneOn() {
    backlog.add(20);
    assertThat(backlog.isWritable()).isTrue();
    backlog.add(1);
    assertThat(backlog.isWritable()).isFalse();
    backlog.remove(10);
    assertThat(backlog.isWritable()).isFalse();
    backlog.remove(1);
    assertThat(backlog.isWritable()).isTrue();
    assertThat(backlog.bytes()).isEqualTo(10);
  }

  @Test
  void aChangeThatWasTakenBackIsNewsBecauseItsUserMayHaveSeenIt() {
    backlog.add(21);
    backlog.remove(21);
    assertThat(backlog.hasNews()).isTrue();
    assertThat(backlog.tell()).isTrue();
    assertThat(backlog.hasNews()).isFalse();
  }

  @Test
  void newMarksCountForWhatIsThere() {
    backlog.add(15);
    backlog.watermarks(1, 14);
    assertThat(backlog.isWritable()).isFalse();
    backlog.watermarks(15, 20);
    assertThat(backlog.isWritable()).isTrue();
  }
}
