package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;

/** A node goes on with further queues when the queues that it has are full. */
@Tag("mlx5")
final class FullQueuesTest {
  /** A shared receive queue has room for 9 connections. */
  private static final String RECEIVES = "MLX5SIM_SHARED_RECEIVES=64";

  private static final int CONNECTIONS = 100;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @ParameterizedTest
  @ValueSource(strings = {"threads", "driven"})
  void aNodeTakesAsManyQueuesAsItsConnectionsNeed(String kind) throws Exception {
    List<String> command = new ArrayList<>(List.of("env", RECEIVES));
    command.addAll(JavaCommand.of(FullQueuesTest.class, kind));
    try (ChildProcess program = ChildProcess.start(command)) {
      Outcome outcome = program.await();
      assertThat(outcome.status()).as("%s", outcome).isZero();
      assertThat(outcome.out()).contains("echoed over 100 connections");
    }
  }

  /** Connects a node to itself, and sends over all connections. */
  public static void main(String[] arguments) throws Exception {
    NodeConfig config = NodeConfig.DEFAULT.pollers(1);
    if (arguments[0].equals("threads")) {
      try (RdmaNode node = RdmaNode.open(config)) {
        echoOverAll(node);
      }
      return;
    }
    try (DrivenNode driven = DrivenNode.open(config)) {
      var echoing = CompletableFuture.runAsync(() -> echoOverAll(driven.node()));
      while (!echoing.isDone()) {
        driven.drive(Duration.ofMillis(10));
      }
      echoing.get();
    }
  }

  private static void echoOverAll(RdmaNode node) {
    try (RdmaServer server = node.bind(RdmaConnectionTest.local())) {
      GoodClients.serve(server);
      List<RdmaConnection> clients = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        clients.add(
            node.connectAsync(server.localAddress(), PATIENCE)
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
      }
      List<CompletableFuture<MessageBuffer>> answers = new ArrayList<>();
      for (RdmaConnection client : clients) {
        for (int i = 0; i < 10; i++) {
          answers.add(client.request(ByteBuffer.allocate(100)));
        }
      }
      for (CompletableFuture<MessageBuffer> answer : answers) {
        answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
      }
      System.out.println("echoed over " + clients.size() + " connections");
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }
}
