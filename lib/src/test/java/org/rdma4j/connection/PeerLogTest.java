package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PeerLogTest {
  private static final long SECOND = 1_000_000_000;

  private final List<String> lines = new ArrayList<>();
  private final PeerLog log = new PeerLog(lines::add);

  @Test
  void eachEventHasOneLine() {
    log.warn("rejected a peer", "a: it is another program");
    log.warn("a connection broke", "b");
    log.finish();
    assertThat(lines)
        .containsExactly("rejected a peer: a: it is another program", "a connection broke: b");
  }

  @Test
  void theSameEventIsCountedForASecond() {
    for (int i = 0; i < 32; i++) {
      log.warn("a connection broke", "connection " + i);
    }
    log.tick(System.nanoTime());
    assertThat(lines).containsExactly("a connection broke: connection 0");
    log.tick(System.nanoTime() + SECOND);
    assertThat(lines)
        .containsExactly(
            "a connection broke: connection 0",
            "a connection broke: and 31 more, the last: connection 31");
    log.warn("a connection broke", "another one");
    assertThat(lines).hasSize(3);
  }

  @Test
  void whatWasCountedIsReportedAtTheEnd() {
    log.warn("a connection broke", "a");
    log.warn("a connection broke", "b");
    log.finish();
    assertThat(lines)
        .containsExactly("a connection broke: a", "a connection broke: and 1 more, the last: b");
  }
}
