package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.connection.wire.Offered;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/** With memory windows, a key is worth nothing to any peer but the peer that it was given to. */
@Tag("mlx5")
@Timeout(180)
final class BoundToOneConnectionTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void anotherPeerDoesNotReadWhatAPeerIsOffered() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        HostilePeer first = HostilePeer.withShortBuffers(server);
        HostilePeer second = HostilePeer.withShortBuffers(server)) {
      CompletableFuture<Void> sent = first.accepted().sendAsync(ByteBuffer.allocate(300));
      Offered offer = first.awaitOffer();
      assertThat(second.isRefused(offer.address(), offer.key(), 300)).isTrue();
      assertThat(first.read(offer.address(), offer.key(), 300)).isZero();
      first.report();
      sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  @Test
  void anotherPeerDoesNotReadWhatIsExposedToAPeer() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        HostilePeer first = HostilePeer.withShortBuffers(server);
        HostilePeer second = HostilePeer.withShortBuffers(server)) {
      MemoryRegion region = first.accepted().register(4096, AccessFlag.LOCAL_WRITE);
      RemoteMemory name =
          first.accepted().expose(region.slice(64, 64), AccessFlag.REMOTE_READ).name();
      assertThat(second.isRefused(name.address(), name.key(), 64)).isTrue();
      assertThat(first.read(name.address(), name.key(), 64)).isZero();
    }
  }

  /** The windows of the first messages serve for the later ones. */
  @Test
  void windowsAreUsedAgain() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        HostilePeer first = HostilePeer.withShortBuffers(server);
        HostilePeer second = HostilePeer.withShortBuffers(server)) {
      int index = -1;
      for (int i = 0; i < 6; i++) {
        HostilePeer each = i < 3 ? first : second;
        CompletableFuture<Void> sent = each.accepted().sendAsync(ByteBuffer.allocate(300));
        Offered offer = each.awaitOffer();
        assertThat(index == -1 || index == offer.key() >>> 8).isTrue();
        index = offer.key() >>> 8;
        each.read(offer.address(), offer.key(), 300);
        each.report();
        sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        if (i == 2) {
          first.accepted().close();
        }
      }
    }
  }
}
