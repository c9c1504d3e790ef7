package org.rdma4j.tools.perftest;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.cm.DatagramDestination;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/** Creates queue pairs, and connects them with the connection manager. */
final class CmLinks implements AutoCloseable {
  private static final int MINIMUM_RNR_TIMER = 12;

  /** The server may listen a moment later than it says. */
  private static final Duration MAX_DELAY = Duration.ofSeconds(10);

  private static final Duration RETRY_INTERVAL = Duration.ofMillis(100);

  /** The first datagram of a client shows the server where to send. It carries four bytes. */
  private static final int FIRST_DATAGRAM_BYTES = GlobalRoutingHeader.BYTES + Integer.BYTES;

  private final Resources resources;
  private final Settings settings;
  private final ConnectionConfig parameters;
  private final List<SynchronousCmId> ids = new ArrayList<>();
  private final List<TestLink> links = new ArrayList<>();

  CmLinks(Resources resources, Settings settings) {
    this.resources = resources;
    this.settings = settings;
    int reads = settings.program().verb().fetches() ? resources.reads() : 0;
    parameters = CmControl.PARAMETERS.remoteReads(reads).reads(reads);
  }

  List<TestLink> links() {
    return links;
  }

  private PortSpace space() {
    return settings.transport() == Transport.UD ? PortSpace.UDP : PortSpace.TCP;
  }

  /** Listens, which must be so before the client is allowed to connect. */
  SynchronousCmId listen(int port) {
    return CmControl.listen(space(), port, settings.queuePairs());
  }

  /** Waits for all queue pairs of the client. */
  void accept(SynchronousCmId listener) throws InterruptedException, TimeoutException {
    for (int i = 0; i < settings.queuePairs(); i++) {
      SynchronousCmId id = listener.awaitRequest(settings.timeout()).orElseThrow(this::missing);
      ids.add(id);
      TestLink link = create(id);
      if (learnsDestination()) {
        Completions received = awaitDestination(link, id);
        learnDestination(link, id, received);
      } else {
        id.accept(parameters, settings.timeout());
      }
      hastenRetries(link);
    }
  }

  private Failure missing() {
    return new Failure(
        "the peer has %d queue pairs, this side has %d; give both the same -q"
            .formatted(ids.size(), settings.queuePairs()));
  }

  /** Connects all queue pairs to a server. */
  void connect(InetSocketAddress server) throws InterruptedException, TimeoutException {
    for (int i = 0; i < settings.queuePairs(); i++) {
      connectOne(server);
    }
  }

  private void connectOne(InetSocketAddress server) throws InterruptedException, TimeoutException {
    long began = System.nanoTime();
    while (true) {
      SynchronousCmId id = SynchronousCmId.open(space());
      try {
        id.resolveAddress(server, settings.timeout());
        id.resolveRoute(settings.timeout());
        TestLink link = create(id);
        CmEvent.Established established = id.connect(parameters, settings.timeout());
        ids.add(id);
        hastenRetries(link);
        if (settings.transport() == Transport.UD) {
          tellDestination(link, Objects.requireNonNull(established.destination()));
        }
        return;
      } catch (ConnectionRejectedException early) {
        links.removeLast();
        id.close();
        if (System.nanoTime() - began > MAX_DELAY.toNanos()) {
          throw new Failure(
              "the server took %d of %d queue pairs; give both sides the same -q and -c"
                  .formatted(ids.size(), settings.queuePairs()),
              early);
        }
        Thread.sleep(RETRY_INTERVAL);
      } catch (RuntimeException | InterruptedException | TimeoutException failed) {
        id.close();
        throw failed;
      }
    }
  }

  private TestLink create(SynchronousCmId id) {
    QueuePair queuePair = id.id().createQueuePair(resources.domain(), resources.queuePairConfig());
    TestLink link = new TestLink(links.size(), queuePair);
    links.add(link);
    return link;
  }

  /** Otherwise a sender whose message found no receive would wait for 655 ms. */
  private void hastenRetries(TestLink link) {
    if (settings.transport() == Transport.RC) {
      link.queuePair().modify(QueuePairChange.none().minimumRnrTimer(MINIMUM_RNR_TIMER));
    }
  }

  /** Returns whether the server sends datagrams, and so needs to know where to. */
  private boolean learnsDestination() {
    return settings.transport() == Transport.UD && settings.sends();
  }

  private void tellDestination(TestLink link, DatagramDestination destination) {
    link.sendTo(
        resources.domain().createAddressHandle(destination.addressVector()),
        destination.queuePairNumber(),
        destination.queueKey());
    boolean serverSends = !settings.program().isBandwidth() || settings.bothWays();
    if (serverSends) {
      MemoryRegion memory = resources.memory();
      link.sendRequests(settings.postList())
          .add(link.index())
          .sendWithImmediate(link.queuePair().number())
          .to(Objects.requireNonNull(link.handle()), link.remoteNumber(), link.remoteQueueKey())
          .from(memory, resources.layout().outgoing(link.index()), Integer.BYTES)
          .signaled()
          .post();
      await(resources.sendCompletions(1), "the first datagram was not sent");
    }
  }

  private Completions awaitDestination(TestLink link, SynchronousCmId id)
      throws InterruptedException, TimeoutException {
    long offset = resources.layout().incoming(link.index());
    link.receiveRequests(settings.receivePostList())
        .add(link.index())
        .into(resources.memory(), offset, FIRST_DATAGRAM_BYTES)
        .post();
    id.accept(parameters, settings.timeout());
    Completions received = resources.receiveCompletions(1);
    await(received, "the peer's first datagram did not arrive");
    return received;
  }

  private void learnDestination(TestLink link, SynchronousCmId id, Completions received) {
    link.sendTo(
        resources
            .domain()
            .createAddressHandle(
                received,
                0,
                resources
                    .memory()
                    .segment()
                    .asSlice(resources.layout().incoming(link.index()), GlobalRoutingHeader.BYTES),
                id.id().port()),
        received.immediate(0),
        SimpleMessages.UDP_QUEUE_KEY);
  }

  private void await(Completions completions, String otherwise) {
    long began = System.nanoTime();
    while (completions.poll() == 0) {
      if (System.nanoTime() - began > settings.timeout().toNanos()) {
        throw new Failure(otherwise + "; check that both sides have the same -c");
      }
      Thread.onSpinWait();
    }
    completions.requireSuccess(0);
  }

  @Override
  public void close() {
    ids.forEach(SynchronousCmId::close);
  }
}
