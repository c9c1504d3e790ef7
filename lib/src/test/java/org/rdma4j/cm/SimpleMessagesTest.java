package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

@Tag("device")
final class SimpleMessagesTest {
  private static final int DEPTH = 4;
  private static final byte MARK = 0x21;

  private record Pair(
      SynchronousCmId listener,
      SynchronousCmId client,
      SynchronousCmId server,
      SimpleMessages a,
      SimpleMessages b,
      CmEvent.Established established)
      implements AutoCloseable {
    @Override
    public void close() {
      a.close();
      b.close();
      client.close();
      server.close();
      listener.close();
    }
  }

  /** Connects as rdma_client and rdma_server do. */
  private static Pair connected(PortSpace space) throws Exception {
    AddressHints hints = AddressHints.DEFAULT.space(space).numericHost(true);
    String host = CmLoopback.host().getHostAddress();
    SynchronousCmId listener =
        SynchronousCmId.open(
            AddressInfo.resolve(host, "0", hints.passive(true), PATIENCE).getFirst(), PATIENCE);
    listener.id().listen(1);
    String port = Integer.toString(listener.id().localAddress().getPort());
    SynchronousCmId client =
        SynchronousCmId.open(AddressInfo.resolve(host, port, hints, PATIENCE).getFirst(), PATIENCE);
    SimpleMessages a = SimpleMessages.create(client.id(), DEPTH, DEPTH);
    FutureTask<CmEvent.Established> connect =
        CmLoopback.start(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE));
    SynchronousCmId server = listener.awaitRequest(PATIENCE).orElseThrow();
    SimpleMessages b = SimpleMessages.create(server.id(), DEPTH, DEPTH);
    server.accept(ConnectionConfig.DEFAULT, PATIENCE);
    return new Pair(listener, client, server, a, b, CmLoopback.get(connect));
  }

  private static void mark(MemoryRegion region) {
    region.segment().set(ValueLayout.JAVA_BYTE, 5, MARK);
  }

  private static void assertMarked(MemoryRegion region, long offset) {
    assertThat(region.segment().get(ValueLayout.JAVA_BYTE, offset + 5)).isEqualTo(MARK);
  }

  @Test
  void aMessageOfPiecesArrives() throws Exception {
    try (var pair = connected(PortSpace.TCP)) {
      MemoryRegion from = pair.a().registerMessages(64);
      MemoryRegion to = pair.b().registerMessages(64);
      mark(from);
      pair.b().postReceive(7, to.slice(0, 4), to.slice(4, 60));
      pair.a().postSend(8, from.slice(0, 8), from.slice(8, 8));
      assertThat(pair.a().awaitSend(PATIENCE).orElseThrow().id()).isEqualTo(8);
      var received = pair.b().awaitReceive(PATIENCE).orElseThrow();
      assertThat(List.of(received.id(), received.bytes())).containsExactly(7L, 16L);
      assertMarked(to, 0);
    }
  }

  @Test
  void aReadFetchesThePeersMemory() throws Exception {
    try (var pair = connected(PortSpace.TCP)) {
      MemoryRegion to = pair.a().registerMessages(64);
      MemoryRegion from = pair.b().registerRead(64);
      mark(from);
      pair.a().postRead(1, from.remoteAddress(), from.remoteKey(), to.slice(0, 64));
      assertThat(pair.a().awaitSend(PATIENCE).orElseThrow().opcode())
          .isEqualTo(CompletionOpcode.RDMA_READ);
      assertMarked(to, 0);
    }
  }

  @Test
  void aWriteFillsThePeersMemory() throws Exception {
    try (var pair = connected(PortSpace.TCP)) {
      MemoryRegion from = pair.a().registerMessages(64);
      MemoryRegion to = pair.b().registerWrite(64);
      mark(from);
      pair.a().postWrite(1, to.remoteAddress(), to.remoteKey(), from.slice(0, 64));
      assertThat(pair.a().awaitSend(PATIENCE).orElseThrow().opcode())
          .isEqualTo(CompletionOpcode.RDMA_WRITE);
      assertMarked(to, 0);
    }
  }

  @Tag("needs-datagrams")
  @Test
  void aDatagramArrivesBehindItsHeader() throws Exception {
    try (var pair = connected(PortSpace.UDP)) {
      MemoryRegion from = pair.a().registerMessages(64);
      MemoryRegion to = pair.b().registerMessages(128);
      DatagramDestination peer = Objects.requireNonNull(pair.established().destination());
      assertThat(peer.queueKey()).isEqualTo(SimpleMessages.UDP_QUEUE_KEY);
      mark(from);
      pair.b().postReceive(1, to.slice(0, 128));
      try (var handle = pair.a().domain().createAddressHandle(peer.addressVector())) {
        pair.a().postDatagram(2, handle, peer.queuePairNumber(), from.slice(0, 64));
        assertThat(pair.a().awaitSend(PATIENCE)).isPresent();
      }
      var received = pair.b().awaitReceive(PATIENCE).orElseThrow();
      assertThat(received.bytes()).isEqualTo(64 + GlobalRoutingHeader.BYTES);
      assertThat(received.sourceQueuePairNumber()).isEqualTo(pair.a().queuePair().number());
      assertMarked(to, GlobalRoutingHeader.BYTES);
    }
  }

  @Test
  void aWaitForNothingEndsWhenItsTimeIsUp() throws Exception {
    try (var pair = connected(PortSpace.TCP)) {
      assertThat(pair.a().awaitReceive(Duration.ofMillis(50))).isEmpty();
    }
  }

  @Test
  void aPostAfterTheIdentifierWasClosedIsRefused() throws Exception {
    try (var pair = connected(PortSpace.TCP)) {
      pair.client().close();
      assertThatThrownBy(() -> pair.a().postSend(1)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> pair.a().postSend(1)).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aSecondWaitForReceivesEndsWhenItsOwnTimeIsUp() throws Exception {
    try (var pair = connected(PortSpace.TCP)) {
      var first = CmLoopback.start(() -> pair.a.awaitReceive(PATIENCE));
      assertThatThrownBy(() -> first.get(100, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      var second = CmLoopback.start(() -> pair.a.awaitReceive(Duration.ofMillis(50)));
      assertThat(CmLoopback.get(second)).isEmpty();
      assertThat(first.isDone()).isFalse();
    }
  }
}
