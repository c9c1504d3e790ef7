package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairState;

@Tag("device")
final class EventChannelTest {
  private final List<CmLoopback.Side> sides = new ArrayList<>();

  @AfterEach
  void closeSides() {
    sides.forEach(CmLoopback.Side::close);
  }

  private static <E extends CmEvent> E next(EventChannel channel, Class<E> type)
      throws InterruptedException {
    CmEvent event = channel.awaitEvent(PATIENCE).orElseThrow();
    assertThat(event).isInstanceOf(type);
    return type.cast(event);
  }

  private static CmId listener(EventChannel channel) {
    CmId listener = channel.createId(PortSpace.TCP);
    listener.bind(CmLoopback.address(0));
    listener.listen(8);
    return listener;
  }

  private static CmId resolved(EventChannel channel, CmId listener) throws InterruptedException {
    CmId client = channel.createId(PortSpace.TCP);
    client.resolveAddress(CmLoopback.address(listener.localAddress().getPort()), PATIENCE);
    next(channel, CmEvent.AddressResolved.class);
    client.resolveRoute(PATIENCE);
    next(channel, CmEvent.RouteResolved.class);
    return client;
  }

  /** Connects a client to a listener on the same channel, and returns the request. */
  private CmEvent.ConnectRequest request(EventChannel channel) throws InterruptedException {
    CmId listener = listener(channel);
    CmId client = resolved(channel, listener);
    sides.add(new CmLoopback.Side(client));
    client.connect(ConnectionConfig.DEFAULT);
    return next(channel, CmEvent.ConnectRequest.class);
  }

  @Test
  void oneChannelCarriesBothSidesOfAConnection() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmEvent.ConnectRequest request = request(channel);
      try (var side = new CmLoopback.Side(request.id())) {
        request.id().accept(ConnectionConfig.DEFAULT);
        CmEvent.Established first = next(channel, CmEvent.Established.class);
        CmEvent.Established second = next(channel, CmEvent.Established.class);
        assertThat(first.id()).isNotSameAs(second.id());
        side.receive(1, 0, 8);
        first.id().disconnect();
        next(channel, CmEvent.Disconnected.class);
      }
    }
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void bothSidesAreToldWhenTheQueuePairsMayBeUsedAgain() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmEvent.ConnectRequest request = request(channel);
      try (var side = new CmLoopback.Side(request.id())) {
        request.id().accept(ConnectionConfig.DEFAULT);
        CmId one = next(channel, CmEvent.Established.class).id();
        CmId other = next(channel, CmEvent.Established.class).id();
        side.receive(1, 0, 8);
        one.disconnect();
        Set<CmId> over = new HashSet<>();
        while (over.size() < 2) {
          CmEvent event = channel.awaitEvent(PATIENCE).orElseThrow();
          if (event instanceof CmEvent.TimeWaitExited) {
            over.add(event.id());
          } else if (event.equals(new CmEvent.Disconnected(other))) {
            other.disconnect();
          }
        }
        assertThat(over).containsExactlyInAnyOrder(one, other);
      }
    }
  }

  @Test
  void anEventNamesItsIdentifierEvenIfTheProgramDroppedIt() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmEvent.ConnectRequest request = request(channel);
      assertThat(request.id().channel()).isSameAs(channel);
      assertThat(request.listener()).isNotSameAs(request.id());
      request.id().reject(ByteBuffer.allocate(0));
      System.gc();
      CmEvent.Rejected rejected = next(channel, CmEvent.Rejected.class);
      assertThat(rejected.id().peerAddress().getPort())
          .isEqualTo(request.listener().localAddress().getPort());
    }
  }

  @Tag("needs-connecting-by-address")
  @Test
  void anExternalQueuePairIsConnected() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId listener = listener(channel);
      CmId client = resolved(channel, listener);
      try (var a = ownSide(client)) {
        client.connect(ConnectionConfig.DEFAULT.queuePairNumber(a.queuePair().number()));
        CmId server = next(channel, CmEvent.ConnectRequest.class).id();
        try (var b = ownSide(server)) {
          toReadyToSend(server, b.queuePair());
          server.accept(ConnectionConfig.DEFAULT.queuePairNumber(b.queuePair().number()));
          next(channel, CmEvent.ConnectResponse.class);
          toReadyToSend(client, a.queuePair());
          client.externalQueuePair().establish();
          assertThat(next(channel, CmEvent.Established.class).id()).isSameAs(server);
          assertThat(a.queuePair().query().remoteQueuePairNumber())
              .isEqualTo(b.queuePair().number());
          assertThat(sendsTo(a, b)).isEqualTo(CompletionOpcode.RECEIVE);
        }
      }
    }
  }

  private record Own(CompletionQueue queue, MemoryRegion region, QueuePair queuePair)
      implements AutoCloseable {
    @Override
    public void close() {
      queue.close();
      region.domain().close();
    }
  }

  private static Own ownSide(CmId id) {
    var queue = id.device().createCompletionQueue(4 * CmLoopback.DEPTH);
    var domain = id.device().allocateProtectionDomain();
    var queuePair = domain.createQueuePair(CmLoopback.Side.config(id, queue));
    queuePair.modify(id.externalQueuePair().changeTo(QueuePairState.INIT));
    return new Own(queue, domain.register(4096, AccessFlag.LOCAL_WRITE), queuePair);
  }

  private static void toReadyToSend(CmId id, QueuePair queuePair) {
    queuePair.modify(id.externalQueuePair().changeTo(QueuePairState.READY_TO_RECEIVE));
    queuePair.modify(id.externalQueuePair().changeTo(QueuePairState.READY_TO_SEND));
  }

  private static CompletionOpcode sendsTo(Own from, Own to) {
    var receives = to.queuePair().receiveRequests(1);
    receives.add(1).into(to.region(), 0, 16);
    receives.post();
    var sends = from.queuePair().sendRequests(1);
    sends.add(2).send().from(from.region(), 0, 16);
    sends.post();
    var completions = to.queue().completions(1);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (completions.poll() == 0) {
      assertThat(System.nanoTime() - deadline).isNegative();
    }
    completions.requireSuccess(0);
    return completions.opcode(0);
  }

  @Test
  void anIdentifierClosesWithItsEventsUnread() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId listener = listener(channel);
      CmId client = channel.createId(PortSpace.TCP);
      client.resolveAddress(CmLoopback.address(listener.localAddress().getPort()), PATIENCE);
      Thread.sleep(200);
      FutureTask<Boolean> close =
          CmLoopback.start(
              () -> {
                client.close();
                return true;
              });
      assertThat(CmLoopback.get(close)).isTrue();
      assertThat(channel.awaitEvent(Duration.ofMillis(200))).isEmpty();
    }
  }

  @Test
  void anIdentifierClosesInTheThreadThatHandlesItsEventsWhileAnotherWaits() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmEvent.ConnectRequest request = request(channel);
      FutureTask<Optional<CmEvent>> waiting = CmLoopback.start(() -> channel.awaitEvent(PATIENCE));
      request.id().close();
      request.listener().close();
      // Closing the identifier of a request rejects the client.
      assertThat(CmLoopback.get(waiting)).containsInstanceOf(CmEvent.Rejected.class);
    }
  }

  @Test
  void aRequestThatNobodyTakesIsClosedWithTheChannel() throws Exception {
    EventChannel channel = EventChannel.open();
    CmId taken = request(channel).id();
    channel.close();
    assertThatThrownBy(taken::port).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRequestToAListenerThatWasClosedIsDropped() throws Exception {
    try (EventChannel channel = EventChannel.open();
        EventChannel other = EventChannel.open()) {
      CmId listener = listener(channel);
      CmId client = resolved(other, listener);
      sides.add(new CmLoopback.Side(client));
      client.connect(ConnectionConfig.DEFAULT);
      Thread.sleep(200);
      listener.close();
      assertThat(channel.pollEvent()).isEmpty();
      assertThat(next(other, CmEvent.Rejected.class).id()).isSameAs(client);
    }
  }

  /**
   * Takes an event while another thread closes the identifier: it has marked it as closed, and
   * waits for the channel to destroy it.
   */
  private static Optional<CmEvent> pollWhileClosing(CmId id, EventChannel channel)
      throws Exception {
    FutureTask<Boolean> close =
        new FutureTask<>(
            () -> {
              id.close();
              return true;
            });
    channel.channel().lock();
    try {
      Thread.ofPlatform().daemon().start(close);
      while (id.isOpen()) {
        Thread.onSpinWait();
      }
      return channel.pollEvent();
    } finally {
      channel.channel().unlock();
      assertThat(CmLoopback.get(close)).isTrue();
    }
  }

  @Test
  void anEventOfAnIdentifierThatIsBeingClosedIsDiscarded() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId client = channel.createId(PortSpace.TCP);
      client.resolveAddress(CmLoopback.address(7471), PATIENCE);
      Thread.sleep(200);
      assertThat(pollWhileClosing(client, channel)).isEmpty();
    }
  }

  @Test
  void aRequestToAListenerThatIsBeingClosedIsRejected() throws Exception {
    try (EventChannel channel = EventChannel.open();
        EventChannel other = EventChannel.open()) {
      CmId listener = listener(channel);
      CmId client = resolved(other, listener);
      sides.add(new CmLoopback.Side(client));
      client.connect(ConnectionConfig.DEFAULT);
      Thread.sleep(200);
      assertThat(pollWhileClosing(listener, channel)).isEmpty();
      assertThat(next(other, CmEvent.Rejected.class).id()).isSameAs(client);
    }
  }

  @Test
  void aCloseEndsAWait() throws Exception {
    EventChannel channel = EventChannel.open();
    FutureTask<Optional<CmEvent>> waiting = CmLoopback.start(() -> channel.awaitEvent(PATIENCE));
    Thread.sleep(100);
    long start = System.nanoTime();
    channel.close();
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .as("duration of the close")
        .isLessThan(PATIENCE.dividedBy(2));
    assertThatThrownBy(() -> CmLoopback.get(waiting))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void aVirtualThreadWaitsForAnEvent() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId listener = listener(channel);
      FutureTask<Optional<CmEvent>> waiting = new FutureTask<>(() -> channel.awaitEvent(PATIENCE));
      Thread.ofVirtual().start(waiting);
      CmId client = channel.createId(PortSpace.TCP);
      client.resolveAddress(CmLoopback.address(listener.localAddress().getPort()), PATIENCE);
      assertThat(CmLoopback.get(waiting)).containsInstanceOf(CmEvent.AddressResolved.class);
    }
  }

  @Test
  void aWaitEndsWhenItsTimeIsUp() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      assertThat(channel.awaitEvent(Duration.ofMillis(50))).isEmpty();
    }
  }

  @Test
  void anIdentifierMovesToAnotherChannelWithItsEvents() throws Exception {
    EventChannel from = EventChannel.open();
    try (EventChannel to = EventChannel.open()) {
      CmId listener = listener(from);
      CmId client = from.createId(PortSpace.TCP);
      client.resolveAddress(CmLoopback.address(listener.localAddress().getPort()), PATIENCE);
      client.migrate(to);
      assertThat(next(to, CmEvent.AddressResolved.class).id()).isSameAs(client);
      assertThat(client.channel()).isSameAs(to);
      from.close();
      client.resolveRoute(PATIENCE);
      next(to, CmEvent.RouteResolved.class);
    }
  }

  @Test
  void allIdentifiersOfADeviceShareOneObject() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId listener = listener(channel);
      CmId client = resolved(channel, listener);
      assertThat(client.device()).isSameAs(listener.device()).isIn(CmDevices.list());
    }
  }

  @Test
  void aClosedDeviceIsReplacedForTheNextIdentifier() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId listener = listener(channel);
      var closed = listener.device();
      closed.close();
      assertThat(listener.device()).isNotSameAs(closed);
      assertThat(listener.device().allocateProtectionDomain()).isNotNull();
    }
  }

  @Test
  void closingTheDeviceClosesTheQueuePairButNotTheIdentifier() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId client = resolved(channel, listener(channel));
      var side = new CmLoopback.Side(client);
      client.device().close();
      assertThatThrownBy(side.queuePair::number).isInstanceOf(IllegalStateException.class);
      assertThat(client.queuePair()).isEmpty();
    }
  }

  @Test
  void anAddressThatNoDeviceLeadsToIsNotResolved() throws Exception {
    try (var client = SynchronousCmId.open(PortSpace.TCP)) {
      var nowhere = new InetSocketAddress("198.51.100.1", 7471);
      assertThatThrownBy(() -> client.resolveAddress(nowhere, Duration.ofSeconds(2)))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("198.51.100.1:7471");
    }
  }
}
