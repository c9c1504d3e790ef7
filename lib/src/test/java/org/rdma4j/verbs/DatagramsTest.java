package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GlobalRoutingHeader;
import org.rdma4j.verbs.attribute.LinkLayer;

/** Unreliable datagrams: address handles, the header before the payload, multicast. */
@Tag("device")
@Tag("needs-datagrams")
@Tag("data-path")
@Tag("in-place")
final class DatagramsTest {
  private static final int QUEUE_KEY = 0x1234_5678;
  private static final int HEADER = GlobalRoutingHeader.BYTES;

  private Loopback loopback;
  private Gid gid;
  private AddressHandle handle;

  @BeforeEach
  void start() {
    loopback =
        Loopback.unconnected(
            config ->
                QueuePairConfig.datagram(Objects.requireNonNull(config.sendCompletions()))
                    .sendDepth(Loopback.DEPTH)
                    .receiveDepth(Loopback.DEPTH)
                    .inlineBytes(64));
    loopback.a.queuePair.startDatagrams(1, 0, QUEUE_KEY);
    loopback.b.queuePair.startDatagrams(1, 0, QUEUE_KEY);
    int index = Loopback.gidIndex(loopback.device);
    gid = loopback.device.port(1).gid(index);
    handle = loopback.domain.createAddressHandle(AddressVector.to(gid, 1, index));
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private void send(String text) {
    loopback
        .a
        .sends
        .add(1)
        .inline(MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII)), 0, text.length())
        .to(handle, loopback.b.queuePair.number(), QUEUE_KEY)
        .signaled();
    loopback.a.sends.post();
  }

  @Test
  void aDatagramArrivesBehindItsHeader() {
    loopback.b.receive(7, 0, 256);
    send("datagram");

    Loopback.Done received = loopback.b.await(1).getFirst();
    assertThat(received.id()).isEqualTo(7);
    assertThat(received.length()).isEqualTo(HEADER + 8);
    assertThat(loopback.b.region.segment().asSlice(HEADER, 8).toArray(JAVA_BYTE))
        .isEqualTo("datagram".getBytes(StandardCharsets.US_ASCII));
    assertThat(loopback.b.completions.sourceQueuePairNumber(0))
        .isEqualTo(loopback.a.queuePair.number());
    assertThat(loopback.b.completions.hasGlobalRoutingHeader(0)).isTrue();
    assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void theHeaderNamesTheSender() {
    loopback.b.receive(7, 0, 256);
    send("x");
    loopback.b.await(1);

    MemorySegment memory = loopback.b.region.segment();
    GlobalRoutingHeader header =
        GlobalRoutingHeader.isIpv4(memory)
            ? GlobalRoutingHeader.ofIpv4(memory)
            : GlobalRoutingHeader.of(memory);
    assertThat(header.source()).isEqualTo(gid);
    assertThat(header.destination()).isEqualTo(gid);
    assertThat(header.nextHeader()).isEqualTo(17);
    assertThat(header.hopLimit()).isEqualTo(64);
  }

  @Test
  void anAddressHandleOfACompletionReachesTheSender() {
    loopback.b.receive(7, 0, 256);
    send("question");
    loopback.b.await(1);
    loopback.a.receive(8, 0, 256);

    AddressHandle back =
        loopback.domain.createAddressHandle(
            loopback.b.completions, 0, loopback.b.region.segment(), 1);
    loopback
        .b
        .sends
        .add(9)
        .sendWithImmediate(42)
        .to(back, loopback.b.completions.sourceQueuePairNumber(0), QUEUE_KEY);
    loopback.b.sends.post();

    assertThat(loopback.a.await(2))
        .filteredOn(done -> done.id() == 8)
        .singleElement()
        .extracting(Loopback.Done::immediate, Loopback.Done::length)
        .containsExactly(42, (long) HEADER);
  }

  @Test
  void aDatagramWithAnotherQueueKeyIsDropped() throws InterruptedException {
    loopback.b.receive(7, 0, 256);
    loopback.a.sends.add(1).to(handle, loopback.b.queuePair.number(), QUEUE_KEY + 1).signaled();
    loopback.a.sends.post();
    loopback.a.await(1);
    Thread.sleep(100);
    assertThat(loopback.b.completions.poll()).isZero();
  }

  @Test
  void aDatagramWithoutADestinationIsNotPosted() {
    loopback.a.sends.add(1).to(handle, 1, QUEUE_KEY);
    loopback.a.sends.clear();
    loopback.a.sends.add(2);
    assertThatThrownBy(() -> loopback.a.sends.post())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("destination");
    assertThat(loopback.a.sends.size()).isEqualTo(1);
  }

  @Test
  void aHandleWithoutAGidIsRefusedOnEthernet() {
    assertThat(loopback.device.port(1).attributes().linkLayer()).isEqualTo(LinkLayer.ETHERNET);
    assertThatThrownBy(() -> loopback.domain.createAddressHandle(AddressVector.to(0, 1)))
        .isInstanceOfSatisfying(
            RdmaException.class, thrown -> assertThat(thrown.errnoName()).isEqualTo("EINVAL"))
        .hasMessageContaining("ibv_create_ah");
  }

  @Test
  void aDatagramRaisesAnEvent() throws InterruptedException {
    loopback.b.receive(7, 0, 256);
    loopback.b.queue.requestNotification(false);
    send("x");
    assertThat(loopback.b.channel.awaitEvent(Loopback.PATIENCE)).contains(loopback.b.queue);
  }

  @Test
  void aDatagramArrivesInARegionOfRelaxedOrdering() {
    MemoryRegion region =
        loopback.domain.register(256, AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
    region.segment().set(JAVA_BYTE, 200, (byte) 42);
    loopback.b.receives.add(1).into(region, 0, 64).post();
    loopback.a.sends.add(2).from(region, 200, 1);
    loopback.a.sends.to(handle, loopback.b.queuePair.number(), QUEUE_KEY).post();
    loopback.b.await(1);
    assertThat(region.segment().get(JAVA_BYTE, HEADER)).isEqualTo((byte) 42);
  }

  @Test
  void aDatagramWhoseHandleWasClosedIsNotPosted() {
    loopback.a.sends.add(1).to(handle, loopback.b.queuePair.number(), QUEUE_KEY);
    handle.close();
    assertThatThrownBy(() -> loopback.a.sends.post())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("address handle")
        .hasMessageContaining("closed");
    loopback.a.sends.clear();
    loopback.a.sends.add(2);
    assertThatThrownBy(() -> loopback.a.sends.to(handle, 1, QUEUE_KEY))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void closingAHandleWhileAnotherThreadPostsToItMakesThePostThrow() throws Exception {
    for (int round = 0; round < 20; round++) {
      AddressHandle closing = loopback.domain.createAddressHandle(handle.vector());
      SendRequests sends = loopback.a.queuePair.sendRequests(1);
      FutureTask<Integer> poster =
          new FutureTask<>(
              () -> {
                Completions polled = loopback.a.queue.completions(Loopback.DEPTH);
                int outstanding = 0;
                while (true) {
                  // On soft-RoCE, sends overrun a completion queue that is not polled.
                  outstanding -= polled.poll();
                  try {
                    sends.add(1).to(closing, loopback.b.queuePair.number(), QUEUE_KEY).signaled();
                    sends.post();
                    outstanding++;
                  } catch (PostException full) {
                    sends.clear();
                    Thread.onSpinWait();
                  } catch (IllegalStateException closed) {
                    return outstanding;
                  }
                }
              });
      Thread.ofPlatform().start(poster);
      Thread.sleep(2);
      closing.close();
      loopback.a.await(poster.get(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void preparedDatagramsArrive() {
    PreparedSends send =
        loopback
            .a
            .sends
            .add(1)
            .from(loopback.a.region, 0, 64)
            .to(handle, loopback.b.queuePair.number(), QUEUE_KEY)
            .signaled()
            .prepare();
    for (int i = 1; i <= 3; i++) {
      loopback.b.receive(i, 0, HEADER + 64);
      send.length(0, i).post();
      loopback.a.await(1);
      assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(HEADER + i);
    }
  }

  @Test
  void aDatagramWithoutADestinationCannotBePrepared() {
    loopback.a.sends.add(1).from(loopback.a.region, 0, 64);
    assertThatThrownBy(loopback.a.sends::prepare)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no destination");
  }

  @Test
  void closingAHandleWhileAnotherThreadPostsAPreparedDatagramMakesThePostThrow() throws Exception {
    for (int round = 0; round < 20; round++) {
      AddressHandle closing = loopback.domain.createAddressHandle(handle.vector());
      PreparedSends send =
          loopback
              .a
              .queuePair
              .sendRequests(1)
              .add(1)
              .to(closing, loopback.b.queuePair.number(), QUEUE_KEY)
              .signaled()
              .prepare();
      FutureTask<Integer> poster =
          new FutureTask<>(
              () -> {
                Completions polled = loopback.a.queue.completions(Loopback.DEPTH);
                int outstanding = 0;
                while (true) {
                  outstanding -= polled.poll();
                  try {
                    send.post();
                    outstanding++;
                  } catch (PostException full) {
                    Thread.onSpinWait();
                  } catch (IllegalStateException closed) {
                    return outstanding;
                  }
                }
              });
      Thread.ofPlatform().start(poster);
      Thread.sleep(2);
      closing.close();
      loopback.a.await(poster.get(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void aHandleOfAnotherDomainIsRefused() {
    try (ProtectionDomain other = loopback.device.allocateProtectionDomain()) {
      AddressHandle stranger = other.createAddressHandle(handle.vector());
      loopback.a.sends.add(1);
      assertThatThrownBy(() -> loopback.a.sends.to(stranger, 1, QUEUE_KEY))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another protection domain");
    }
  }

  /**
   * The kernel delivers packets to a group to the device itself if it has joined the group, as an
   * IP host does.
   */
  @Test
  void aDatagramToAMulticastGroupReachesAllThatAreAttached() throws IOException {
    InetAddress address = InetAddress.getByName("239.0.2.7");
    Gid group = new Gid(0, 0xffff_ef00_0207L);
    try (MulticastSocket member = new MulticastSocket()) {
      member.joinGroup(new InetSocketAddress(address, 0), networkOf(gid));
      loopback.a.queuePair.attachMulticast(group, 0);
      loopback.b.queuePair.attachMulticast(group, 0);
      loopback.a.receive(1, 0, 256);
      loopback.b.receive(2, 0, 256);
      AddressHandle all =
          loopback.domain.createAddressHandle(
              AddressVector.to(group, 1, Loopback.gidIndex(loopback.device)));
      loopback.a.sends.add(3).to(all, 0xff_ffff, QUEUE_KEY);
      loopback.a.sends.post();
      assertThat(loopback.a.await(1).getFirst().id()).isEqualTo(1);
      assertThat(loopback.b.await(1).getFirst().id()).isEqualTo(2);
    }
  }

  @Test
  void aQueuePairThatWasDetachedFromAMulticastGroupReceivesNoMore() throws Exception {
    InetAddress address = InetAddress.getByName("239.0.2.8");
    Gid group = new Gid(0, 0xffff_ef00_0208L);
    try (MulticastSocket member = new MulticastSocket()) {
      member.joinGroup(new InetSocketAddress(address, 0), networkOf(gid));
      AddressHandle all =
          loopback.domain.createAddressHandle(
              AddressVector.to(group, 1, Loopback.gidIndex(loopback.device)));
      loopback.a.queuePair.attachMulticast(group, 0);
      loopback.b.queuePair.attachMulticast(group, 0);
      loopback.b.receive(1, 0, 256);
      loopback.a.receive(2, 0, 256);
      loopback.a.sends.add(3).to(all, 0xff_ffff, QUEUE_KEY);
      loopback.a.sends.post();
      assertThat(loopback.b.await(1).getFirst().id()).isEqualTo(1);
      loopback.a.await(1);

      loopback.b.queuePair.detachMulticast(group, 0);
      loopback.b.receive(4, 0, 256);
      loopback.a.receive(5, 0, 256);
      loopback.a.sends.add(6).to(all, 0xff_ffff, QUEUE_KEY);
      loopback.a.sends.post();
      assertThat(loopback.a.await(1).getFirst().id()).isEqualTo(5);
      Thread.sleep(200);
      assertThat(loopback.b.completions.poll()).as("datagrams after it was detached").isZero();
    }
    assertThatThrownBy(() -> loopback.b.queuePair.detachMulticast(group, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not attached");
  }

  private static NetworkInterface networkOf(Gid gid) throws IOException {
    byte[] address = ByteBuffer.allocate(Integer.BYTES).putInt((int) gid.interfaceId()).array();
    return NetworkInterface.getByInetAddress(InetAddress.getByAddress(address));
  }

  @Test
  void aQueuePairThatIsAttachedCanBeClosed() {
    loopback.a.queuePair.attachMulticast(new Gid(0, 0xffff_ef00_0207L), 0);
    loopback.a.queuePair.close();
  }

  /** Soft-RoCE ignores the identifier, and the kernel would keep the queue pair forever. */
  @Test
  void aQueuePairIsNotAttachedToAGroupWithTwoLocalIdentifiers() {
    Gid group = new Gid(0, 0xffff_ef00_0207L);
    loopback.a.queuePair.attachMulticast(group, 0);
    assertThatThrownBy(() -> loopback.a.queuePair.attachMulticast(group, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("with LID 0: detach it before it is attached with LID 1");
    loopback.a.queuePair.detachMulticast(group, 0);
    loopback.a.queuePair.attachMulticast(group, 1);
    loopback.a.queuePair.close();
  }

  @Test
  void aQueuePairOfDatagramsIsNotConnected() {
    assertThatThrownBy(() -> loopback.a.queuePair.connect(loopback.path(loopback.b.address())))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("startDatagrams");
  }

  @Test
  void aQueriedQueueKeyIsTheOneThatWasSet() {
    assertThat(loopback.a.queuePair.query().queueKey()).isEqualTo(QUEUE_KEY);
  }
}
