package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Clients of an echo server that keep to the protocol, on a node of their own. */
final class GoodClients implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Messages of up to this length are echoed; longer than a buffer, so some are fetched. */
  private static final int MAX_BYTES = 6000;

  private final RdmaNode node = RdmaNode.open();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<RdmaConnection> clients = new ArrayList<>();

  /** Connects so many clients. */
  GoodClients(InetSocketAddress server, int count) throws InterruptedException, TimeoutException {
    for (int i = 0; i < count; i++) {
      clients.add(node.connect(server, PATIENCE));
    }
  }

  /** Serves peers: sends each message back, and answers each request with itself. */
  static void serve(RdmaServer server) {
    server.onAccept(
        peer -> {
          peer.onMessage(message -> peer.sendAsync(message, 0, (token, failure) -> {}));
          peer.onRequest(request -> request.answer(request.message()));
          var unused = peer.ended().whenComplete((ended, broken) -> peer.close());
        });
  }

  /** Lets each client get so many messages back, all clients at the same time; returns how long. */
  Duration echo(int messages) throws Exception {
    long began = System.nanoTime();
    List<Future<Boolean>> echoes = new ArrayList<>();
    for (RdmaConnection each : clients) {
      echoes.add(threads.submit(() -> echo(each, messages)));
    }
    for (Future<Boolean> each : echoes) {
      assertThat(each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
    return Duration.ofNanos(System.nanoTime() - began);
  }

  private static boolean echo(RdmaConnection client, int messages) throws Exception {
    for (int i = 1; i <= messages; i++) {
      int bytes = 1 + i * 997 % MAX_BYTES;
      client.send(ByteBuffer.allocate(bytes).put(0, (byte) i), PATIENCE);
      try (MessageBuffer back = client.receive(PATIENCE).orElseThrow()) {
        assertThat(back.length()).isEqualTo(bytes);
        assertThat(back.byteBuffer().get(0)).isEqualTo((byte) i);
      }
    }
    return true;
  }

  @Override
  public void close() {
    node.close();
    threads.close();
  }
}
