package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * Two members of a group of JGroups. Its failure detectors must not take a failure of RDMA for that
 * of a member, and must find a killed one as soon as over TCP.
 */
final class JGroupsTest {
  /** Of its configuration, which has no property for it. The second member takes the next one. */
  private static final int PORT = 7800;

  private static final int MESSAGES = 100_000;

  /** FD_SOCK2 finds the end of a connection, and VERIFY_SUSPECT2 waits for 1.5 s. */
  private static final Duration MOST = Duration.ofSeconds(10);

  private static ChildProcess start(boolean breaks) {
    String hosts = "127.0.0.1[%d],127.0.0.1[%d]".formatted(PORT, PORT + 1);
    return ChildProcess.start(
        Program.command(
            List.of(
                "-Xmx256m",
                "-Djava.net.preferIPv4Stack=true",
                "-Djgroups.bind_addr=127.0.0.1",
                "-Djgroups.tcpping.initial_hosts=" + hosts),
            JGroupsMember.class,
            String.valueOf(MESSAGES),
            String.valueOf(breaks)));
  }

  @Test
  void aBrokenAdapterIsNoFailureOfAMemberAndAKilledOneIsFoundSoon() throws Exception {
    try (ChildProcess stays = start(true);
        ChildProcess dies = start(false)) {
      dies.awaitLine(JGroupsMember.RESUMED);
      long resumed = Long.parseLong(stays.awaitLine(JGroupsMember.RESUMED));
      String printed = stays.awaitOutput(JGroupsMember.RECEIVED + MESSAGES);
      System.out.printf("%d connections have resumed%n", resumed);
      assertThat(dies.awaitOutput(JGroupsMember.RECEIVED)).doesNotContain("wrong");
      // The first member sees itself alone at first.
      assertThat(printed.split(JGroupsMember.VIEW + 2, -1)).hasSize(2);
      Way.check(printed.lines().toList(), 0);
      if (SimulatedAdapter.isLoaded()) {
        assertThat(resumed).isPositive();
      }
      int alone = count(printed);
      long killed = System.nanoTime();
      dies.kill();
      while (count(stays.awaitOutput(JGroupsMember.VIEW + 1)) == alone) {
        assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(MOST);
        Thread.sleep(10);
      }
      System.out.printf(
          "the killed member was found after %d ms%n",
          Duration.ofNanos(System.nanoTime() - killed).toMillis());
    }
  }

  private static int count(String printed) {
    return printed.split(JGroupsMember.VIEW + 1, -1).length;
  }
}
