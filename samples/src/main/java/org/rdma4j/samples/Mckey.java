package org.rdma4j.samples;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.IbAddress;
import org.rdma4j.cm.JoinFlag;
import org.rdma4j.verbs.QueuePairFlag;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GlobalRoute;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What mckey does, with which it can play. */
@Command(
    description = {
      "Joins a multicast group and receives messages, or with -s sends them to the group, as mckey"
          + " does and with it or itself as the peers. Receivers are to be started first, and take"
          + " the sender's -C and -S. Datagrams may be lost: then a receiver gives up after"
          + " --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Mckey implements Callable<Integer> {
  /** As long as C gives switches, until they know of the members. */
  private static final Duration PAUSE = Duration.ofSeconds(3);

  @ArgGroup(multiplicity = "1")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Group group;

  /** How the group is named. */
  static final class Group {
    @Option(names = "-m", paramLabel = "ADDRESS", description = "the group's name or address")
    @Nullable String address;

    @Option(
        names = "-M",
        paramLabel = "GID",
        description = "the group's GID, to join by the device that has the address of -b")
    @Nullable String gid;
  }

  @Option(names = "-s", description = "send to the group (default: receive)")
  boolean sender;

  @Mixin final NodeOptions nodes = new NodeOptions("mckey");

  @Option(
      names = "-p",
      paramLabel = "SPACE",
      converter = DatagramSpace.Converter.class,
      description = "the port space: udp or ipoib, or its number (default: udp)")
  DatagramSpace space = DatagramSpace.UDP;

  @Option(names = "-o", description = "join to send alone")
  boolean sendOnly;

  @Option(names = "-l", description = "do not receive what is sent by the same queue pair")
  boolean withoutLoopback;

  private final Map<CmId, Datagrams> datagrams = new LinkedHashMap<>();
  private int joined;

  @Override
  public Integer call() throws InterruptedException {
    nodes.check();
    if (group.gid != null && nodes.source == null) {
      throw new ParameterException(
          nodes.common.spec.commandLine(), "-M takes a -b: the address of the device to join by");
    }
    return nodes.play(
        () -> {
          try (EventChannel channel = EventChannel.open()) {
            play(channel);
          } finally {
            datagrams.values().forEach(Datagrams::close);
          }
        });
  }

  private void play(EventChannel channel) throws InterruptedException {
    nodes.say("starting " + (sender ? "client" : "server"));
    SocketAddress local = nodes.source == null ? null : CmOptions.address(nodes.source, 0);
    SocketAddress address = address();
    nodes.say("joining");
    for (int i = 0; i < nodes.connections; i++) {
      CmId id = channel.createId(space.space());
      if (local != null) {
        id.bind(local);
      }
      if (group.gid == null) {
        id.resolveAddress(local, address, nodes.common.timeout());
      } else {
        join(id, address);
      }
    }
    while (joined < nodes.connections) {
      step(
          channel
              .awaitEvent(nodes.common.timeout())
              .orElseThrow(() -> nodes.common.late("the join")),
          address);
    }
    pause(channel, address);
    if (nodes.messages() > 0) {
      transfer(NodeOptions.watch(channel, event -> step(event, address)));
    }
    datagrams.keySet().forEach(id -> id.multicast().leave(address));
  }

  private SocketAddress address() {
    return group.gid == null
        ? CmOptions.address(group.address, 0)
        : new IbAddress(GidText.parse(group.gid), 0, 0, 0, 0, 0);
  }

  private void pause(EventChannel channel, SocketAddress address) throws InterruptedException {
    long end = System.nanoTime() + PAUSE.toNanos();
    for (long left = PAUSE.toNanos(); left > 0; left = end - System.nanoTime()) {
      channel.awaitEvent(Duration.ofNanos(left)).ifPresent(event -> step(event, address));
    }
  }

  private void transfer(CmOptions.Wait watch) throws InterruptedException {
    if (sender) {
      nodes.out().println("initiating data transfers");
      datagrams.values().forEach(each -> each.send(true));
    } else {
      nodes.out().println("receiving data transfers");
    }
    // C's sender does not wait; what its queue pair has not sent by its end is lost.
    for (Datagrams each : datagrams.values()) {
      each.await(sender ? "the send" : "the receive", watch);
    }
    nodes.out().println("data transfers complete");
  }

  /** Steps the identifier of an event on. */
  private void step(CmEvent event, SocketAddress address) {
    CmId id = event.id();
    if (event instanceof CmEvent.AddressResolved) {
      join(id, address);
    } else if (event instanceof CmEvent.MulticastJoined done) {
      say(done.destination().addressVector());
      Objects.requireNonNull(datagrams.get(id)).sendTo(done.destination());
      joined++;
    } else if (event instanceof CmEvent.AddressChanged) {
      nodes.say("event: RDMA_CM_EVENT_ADDR_CHANGE, status: 0");
    } else {
      nodes.requireNoFailure(event);
    }
  }

  private void join(CmId id, SocketAddress address) {
    Datagrams made =
        withoutLoopback
            ? new Datagrams(nodes, id, QueuePairFlag.BLOCK_OWN_MULTICAST)
            : new Datagrams(nodes, id);
    datagrams.put(id, made);
    if (!sender) {
      made.postReceives();
    }
    id.multicast().join(address, sendOnly ? JoinFlag.SEND_ONLY_FULL_MEMBER : JoinFlag.FULL_MEMBER);
  }

  private void say(AddressVector vector) {
    GlobalRoute route = vector.globalRoute();
    nodes.say(
        "joined dgid: %s mlid 0x%x sl %d"
            .formatted(
                GidText.address(route == null ? Gid.ZERO : route.destination()),
                vector.lid(),
                vector.serviceLevel()));
  }
}
