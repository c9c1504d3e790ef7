package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** Three members of a group of Ratis, over gRPC, and a client, in a JVM each. */
final class RatisTest {
  private static final int MEMBERS = 3;
  private static final int ENTRIES = 2_000;

  /** Ratis would take Netty's epoll transport otherwise, which knows no provider. */
  private static final List<String> OPTIONS =
      List.of("-Xmx256m", "-Dorg.apache.ratis.thirdparty.io.netty.transport.noNative=true");

  @TempDir private Path folder;
  private String ports;

  private ChildProcess start(int member) {
    return ChildProcess.start(
        Program.command(
            OPTIONS,
            RatisMember.class,
            folder.resolve("member-" + member).toString(),
            String.valueOf(member),
            ports));
  }

  private static String freePort(int member) {
    try {
      return String.valueOf(FreePort.find());
    } catch (IOException failed) {
      throw new AssertionError("no port for member " + member, failed);
    }
  }

  @Test
  void aGroupGoesOnWithoutItsLeader() throws Exception {
    ports =
        IntStream.range(0, MEMBERS).mapToObj(RatisTest::freePort).collect(Collectors.joining(","));
    ChildProcess[] members = {start(0), start(1), start(2)};
    try (ChildProcess client =
        ChildProcess.start(
            Program.command(OPTIONS, RatisEntries.class, ports, String.valueOf(ENTRIES)))) {
      String printed = client.awaitOutput(RatisEntries.APPENDED + ENTRIES / 10 * 4);
      int leader =
          printed.charAt(printed.lastIndexOf(RatisEntries.LEADER) + RatisEntries.LEADER.length())
              - '0';
      members[leader].kill();
      client.awaitOutput(RatisEntries.APPENDED + ENTRIES / 10 * 7);
      members[leader].close();
      members[leader] = start(leader);
      Outcome outcome = client.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      // It has seen that each member has all entries, also the member that was started again.
      outcome.out().stream()
          .filter(line -> line.startsWith(RatisEntries.LONGEST))
          .forEach(System.out::println);
      Way.check(outcome.out(), ENTRIES / 10 * 4 * RatisEntries.BYTES);
      for (int i = 0; i < MEMBERS; i++) {
        if (i != leader) {
          members[i].interrupt();
          Way.check(members[i].await().out(), ENTRIES / 10 * RatisEntries.BYTES);
        }
      }
    } finally {
      for (ChildProcess member : members) {
        member.close();
      }
    }
  }
}
