package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ConnectionException;
import org.rdma4j.RdmaException;
import org.rdma4j.Warnings;

/** When {@link RdmaConnection#ended} completes, and with what. */
@Tag("device")
final class EndedTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int MESSAGES = 200;
  private static final int CONNECTIONS = 32;

  private RdmaNode node;
  private RdmaNode peers;
  private RdmaConnection client;
  private RdmaConnection server;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open();
    peers = RdmaNode.open();
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local())) {
      client = peers.connect(listener.localAddress(), PATIENCE);
      server = listener.accept(PATIENCE);
    }
  }

  @AfterEach
  void close() {
    node.close();
    peers.close();
  }

  @Test
  void theEndComesAfterTheHandlerHasReturnedFromTheLastMessage() throws Exception {
    AtomicInteger handled = new AtomicInteger();
    server.onMessage(
        message -> {
          sleep();
          message.close();
          handled.incrementAndGet();
        });
    // Closes the connection, which drops what the handler has not seen.
    CompletableFuture<Integer> atTheEnd =
        server
            .ended()
            .thenApply(
                ended -> {
                  server.close();
                  return handled.get();
                });
    for (int i = 0; i < MESSAGES; i++) {
      client.send(ByteBuffer.allocate(64), PATIENCE);
    }
    // A long one, which has to be fetched.
    client.send(ByteBuffer.allocate(1 << 20), PATIENCE);
    client.close();
    assertThat(atTheEnd.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(MESSAGES + 1);
  }

  @Test
  void anAbortResetsThePeer() throws Exception {
    client.abort();
    client.abort();
    assertThat(server.ended())
        .failsWithin(PATIENCE)
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOfSatisfying(
            ConnectionException.class,
            reset -> assertThat(reset.reason()).isEqualTo(ConnectionException.Reason.RESET));
  }

  @Test
  void aConnectFromAnAddressDoesNotWait() throws Exception {
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local());
        RdmaConnection from =
            peers
                .connectAsync(local(), listener.localAddress(), PATIENCE)
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      assertThat(from.localAddress().getAddress()).isEqualTo(local().getAddress());
    }
  }

  private InetSocketAddress local() {
    return new InetSocketAddress(client.localAddress().getAddress(), 0);
  }

  @Test
  void theEndComesWithoutAHandlerToo() throws Exception {
    client.send(ByteBuffer.allocate(64), PATIENCE);
    client.close();
    server.ended().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
      assertThat(message.length()).isEqualTo(64);
    }
  }

  @Test
  void theReasonOfABrokenConnectionIsTheExceptionItself() throws Exception {
    CompletableFuture<Throwable> reason = new CompletableFuture<>();
    var unused = server.ended().whenComplete((ended, thrown) -> reason.complete(thrown));
    // Without a word to the peer.
    peers.close();
    assertThat(reason.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ECONNRESET");
  }

  @Test
  void aBreakAfterTheEndOfThePeersOutputIsNoRegularEnd() throws Exception {
    client.endOutput();
    assertThat(server.receive(PATIENCE)).isEmpty();
    // Without a goodbye.
    peers.close();
    assertThat(server.ended())
        .failsWithin(PATIENCE)
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOfSatisfying(
            ConnectionException.class,
            reset -> assertThat(reset.reason()).isEqualTo(ConnectionException.Reason.RESET));
    assertThat(server.inputEnded()).isCompleted();
  }

  @Test
  void theEndOfThePeersOutputComesAfterTheHandlerHasReturnedFromTheLastMessage() throws Exception {
    AtomicInteger handled = new AtomicInteger();
    server.onMessage(
        message -> {
          sleep();
          message.close();
          handled.incrementAndGet();
        });
    CompletableFuture<Integer> atTheEnd = server.inputEnded().thenApply(ended -> handled.get());
    for (int i = 0; i < MESSAGES; i++) {
      client.send(ByteBuffer.allocate(64), PATIENCE);
    }
    client.send(ByteBuffer.allocate(1 << 20), PATIENCE);
    client.endOutput();
    assertThat(atTheEnd.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(MESSAGES + 1);
    assertThat(server.ended()).isNotDone();
    server.send(ByteBuffer.allocate(64), PATIENCE);
    client.receive(PATIENCE).orElseThrow().close();
  }

  @Test
  void theInputEndsWithTheConnectionAndForItsReason() throws Exception {
    CompletableFuture<Void> ofClient = client.inputEnded();
    CompletableFuture<Void> ofServer = server.inputEnded();
    client.close();
    assertThat(ofServer).succeedsWithin(PATIENCE);
    assertThat(ofClient).succeedsWithin(PATIENCE);
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local())) {
      RdmaConnection other = peers.connect(listener.localAddress(), PATIENCE);
      CompletableFuture<Void> broken = listener.accept(PATIENCE).inputEnded();
      other.abort();
      assertThat(broken)
          .failsWithin(PATIENCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(ConnectionException.class);
    }
  }

  @Test
  void closesOfBothSidesWarnOfNothing() throws Exception {
    List<RdmaConnection> all = new ArrayList<>(List.of(client, server));
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local());
        Warnings warnings = new Warnings()) {
      for (int i = 0; i < CONNECTIONS; i++) {
        all.add(peers.connect(listener.localAddress(), PATIENCE));
        all.add(listener.accept(PATIENCE));
      }
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        all.forEach(each -> threads.execute(each::close));
      }
      assertThat(warnings.containing("")).isEmpty();
    }
  }

  @Test
  void aPeerThatEndsIsNoWarning() throws Exception {
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local());
        Warnings warnings = new Warnings()) {
      List<RdmaConnection> clients = new ArrayList<>();
      List<RdmaConnection> servers = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        clients.add(peers.connect(listener.localAddress(), PATIENCE));
        servers.add(listener.accept(PATIENCE));
      }
      peers.close();
      for (RdmaConnection each : servers) {
        assertThat(each.ended()).failsWithin(PATIENCE);
      }
      assertThat(clients).noneMatch(RdmaConnection::isOpen);
      assertThat(warnings.containing("")).isEmpty();
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(2);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
