package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** A server of ZooKeeper in one JVM, and its client in another. */
final class ZooKeeperTest {
  private static final int NODES = 1000;

  @TempDir private Path folder;
  private int port;

  private ChildProcess startServer() throws Exception {
    return Program.startServer(
        port,
        Program.command(
            List.of("-Dzookeeper.admin.enableServer=false", "-Dzookeeper.forceSync=no"),
            ZooKeeperServerMain.class,
            String.valueOf(port),
            folder.toString(),
            // The time of a tick: a session has at most 20.
            String.valueOf(ZooKeeperNodes.SESSION_MILLIS / 20)));
  }

  @Test
  void nodesSurviveTheEndOfTheServer() throws Exception {
    port = FreePort.find();
    ChildProcess server = startServer();
    try (ChildProcess client =
        ChildProcess.start(
            Program.command(ZooKeeperNodes.class, "127.0.0.1:" + port, String.valueOf(NODES)))) {
      client.awaitOutput(ZooKeeperNodes.CREATED + NODES / 10 * 4);
      server.kill();
      server.close();
      server = startServer();
      Outcome outcome = client.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      assertThat(outcome.out()).contains("read " + NODES);
      Way.check(outcome.out(), (long) NODES * ZooKeeperNodes.BYTES);
    } finally {
      server.close();
    }
  }
}
