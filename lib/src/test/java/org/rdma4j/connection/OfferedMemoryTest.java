package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ConnectionException;
import org.rdma4j.connection.wire.Offered;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/**
 * What a peer can read of a process: the range that it is offered, until it reports that it has
 * fetched it, and nothing else. Whatever it tries breaks its connection alone.
 */
@Tag("device")
@Tag("protocol")
@Tag("needs-remote-errors")
@Timeout(180)
final class OfferedMemoryTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int LENGTH = 300;

  private RdmaNode node;
  private RdmaServer server;
  private RdmaConnection good;
  private RdmaConnection goodServer;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open();
    server = node.bind(RdmaConnectionTest.local());
    good = node.connect(server.localAddress(), PATIENCE);
    goodServer = server.accept(PATIENCE);
  }

  @AfterEach
  void close() throws Exception {
    try {
      good.send(StandardCharsets.US_ASCII.encode("still there"), PATIENCE);
      try (MessageBuffer message = goodServer.receive(PATIENCE).orElseThrow()) {
        assertThat(StandardCharsets.US_ASCII.decode(message.byteBuffer()).toString())
            .isEqualTo("still there");
      }
    } finally {
      node.close();
    }
  }

  /** Sends a long message: as a copy, or from memory of the user. */
  private static CompletableFuture<Void> send(RdmaConnection connection, boolean fromUser) {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, (byte) 7);
    if (!fromUser) {
      return connection.sendAsync(ByteBuffer.wrap(bytes));
    }
    MemoryRegion region = connection.register(3 * LENGTH, AccessFlag.LOCAL_WRITE);
    region.byteBuffer().put(LENGTH, bytes);
    return connection.sendAsync(region.slice(LENGTH, LENGTH));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeerReadsWhatItIsOffered(boolean fromUser) throws Exception {
    try (HostilePeer stranger = HostilePeer.withShortBuffers(server)) {
      CompletableFuture<Void> sent = send(stranger.accepted(), fromUser);
      Offered offer = stranger.awaitOffer();
      assertThat(stranger.read(offer.address(), offer.key(), LENGTH)).isEqualTo((byte) 7);
      stranger.report();
      sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(stranger.accepted().isOpen()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeerDoesNotReadWhatIsBeforeAnOffer(boolean fromUser) throws Exception {
    try (HostilePeer stranger = HostilePeer.withShortBuffers(server)) {
      CompletableFuture<Void> sent = send(stranger.accepted(), fromUser);
      Offered offer = stranger.awaitOffer();
      assertThat(stranger.isRefused(offer.address() - 1, offer.key(), LENGTH)).isTrue();
      // Its own device ends the connection.
      stranger.vanish();
      assertFails(sent);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeerDoesNotReadWhatIsBehindAnOffer(boolean fromUser) throws Exception {
    try (HostilePeer stranger = HostilePeer.withShortBuffers(server)) {
      CompletableFuture<Void> sent = send(stranger.accepted(), fromUser);
      Offered offer = stranger.awaitOffer();
      assertThat(stranger.isRefused(offer.address(), offer.key(), LENGTH + 1)).isTrue();
      // Its own device ends the connection.
      stranger.vanish();
      assertFails(sent);
    }
  }

  private static void assertFails(CompletableFuture<Void> sent) {
    assertThatThrownBy(() -> sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .hasCauseInstanceOf(ConnectionException.class);
  }

  /** Also if it has not fetched it: the memory is used for something else as soon as it reports. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeerDoesNotReadWhatItReportedAsFetched(boolean fromUser) throws Exception {
    try (HostilePeer stranger = HostilePeer.withShortBuffers(server)) {
      CompletableFuture<Void> sent = send(stranger.accepted(), fromUser);
      Offered offer = stranger.awaitOffer();
      stranger.report();
      sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(stranger.isRefused(offer.address(), offer.key(), LENGTH)).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aKeyIsWorthNothingAfterTheEndOfItsConnection(boolean fromUser) throws Exception {
    try (HostilePeer first = HostilePeer.withShortBuffers(server);
        HostilePeer second = HostilePeer.withShortBuffers(server)) {
      CompletableFuture<Void> sent = send(first.accepted(), fromUser);
      Offered offer = first.awaitOffer();
      first.vanish();
      assertFails(sent);
      assertThat(second.isRefused(offer.address(), offer.key(), LENGTH)).isTrue();
    }
  }

  @Test
  void noPeerReadsTheBuffersThatAllConnectionsShare() throws Exception {
    try (HostilePeer stranger = HostilePeer.withShortBuffers(server);
        MessageBuffer buffer = goodServer.buffer(PATIENCE);
        MessageBuffer large = goodServer.buffer(100_000, PATIENCE)) {
      MemoryRegion buffers = buffer.memory().region();
      assertThat(buffers.access()).doesNotContain(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
      assertThat(large.memory().region().access())
          .doesNotContain(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
      assertThat(stranger.isRefused(buffer.memory().remoteAddress(), buffers.remoteKey(), 16))
          .isTrue();
    }
  }

  @Test
  void exposedMemoryIsRevokedByTheEndOfItsConnection() throws Exception {
    try (HostilePeer first = HostilePeer.withShortBuffers(server);
        HostilePeer second = HostilePeer.withShortBuffers(server)) {
      MemoryRegion region = good.register(4096, AccessFlag.LOCAL_WRITE);
      RemoteMemory name =
          first.accepted().expose(region.slice(64, 64), AccessFlag.REMOTE_READ).name();
      first.read(name.address(), name.key(), 64);
      first.accepted().close();
      assertThat(second.isRefused(name.address(), name.key(), 64)).isTrue();
    }
  }

  @Test
  void exposedMemoryIsRevokedBeforeItsCloseReturns() throws Exception {
    try (HostilePeer stranger = HostilePeer.withShortBuffers(server)) {
      MemoryRegion region = good.register(4096, AccessFlag.LOCAL_WRITE);
      ExposedMemory exposed =
          stranger.accepted().expose(region.slice(64, 64), AccessFlag.REMOTE_READ);
      RemoteMemory name = exposed.name();
      stranger.read(name.address(), name.key(), 64);
      exposed.close();
      assertThat(stranger.isRefused(name.address(), name.key(), 64)).isTrue();
    }
  }
}
