package org.rdma4j.tools.cm;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.IbAddress;
import org.rdma4j.cm.JoinFlag;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.tools.command.GidText;
import org.rdma4j.tools.command.Version;
import org.rdma4j.verbs.QueuePairFlag;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GlobalRoute;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Does what mckey does, and works with it. */
@Command(
    description = {
      "Joins a multicast group and receives messages or, with -s, sends them to the group, as mckey"
          + " does.",
      "The peers are this program or mckey. Start the receivers first, with the -C and -S of the"
          + " sender. Lost datagrams are not sent again: if one is lost, a receiver fails after"
          + " its --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Mckey implements Callable<Integer> {
  /** How long C waits until the switches know about the members. */
  private static final Duration PAUSE = Duration.ofSeconds(3);

  @ArgGroup(multiplicity = "1")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Group group;

  /** The group, by address or by GID. */
  static final class Group {
    @Option(names = "-m", paramLabel = "ADDRESS", description = "the name or address of the group")
    @Nullable String address;

    @Option(
        names = "-M",
        paramLabel = "GID",
        description = "the GID of the group; requires -b, whose device joins it")
    @Nullable String gid;
  }

  @Option(names = "-s", description = "send to the group (default: receive)")
  boolean sender;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description =
          "the number of queue pairs of this program that join the group, each of which sends or"
              + " receives -C messages (default: ${DEFAULT-VALUE})")
  int members = 1;

  @Mixin final NodeOptions nodes = new NodeOptions("mckey");

  @Option(
      names = "-p",
      paramLabel = "SPACE",
      converter = DatagramSpace.Converter.class,
      description = "the port space: udp or ipoib, or its number (default: udp)")
  DatagramSpace space = DatagramSpace.UDP;

  @Option(names = "-o", description = "join the group only to send")
  boolean sendOnly;

  @Option(names = "-l", description = "do not receive messages that the same queue pair sent")
  boolean withoutLoopback;

  private final Map<CmId, Datagrams> datagrams = new LinkedHashMap<>();
  private int joined;

  @Override
  public Integer call() throws InterruptedException, TimeoutException {
    nodes.check();
    nodes.common.checkRange("-c", members, 1, 1 << 16);
    if (group.gid != null && nodes.source == null) {
      throw nodes.common.misuse("-M requires -b: an address of the device that joins the group");
    }
    return nodes.run(
        () -> {
          try (EventChannel channel = EventChannel.open()) {
            joinAndTransfer(channel);
          } finally {
            datagrams.values().forEach(Datagrams::close);
          }
        });
  }

  private void joinAndTransfer(EventChannel channel) throws InterruptedException {
    nodes.say("starting " + (sender ? "client" : "server"));
    SocketAddress local = nodes.source == null ? null : CommonOptions.address(nodes.source, 0);
    SocketAddress address = address();
    nodes.say("joining");
    for (int i = 0; i < members; i++) {
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
    while (joined < members) {
      handle(
          channel
              .awaitEvent(nodes.common.timeout())
              .orElseThrow(() -> nodes.common.late("the join")),
          address);
    }
    pause(channel, address);
    if (nodes.messages() > 0) {
      transfer(NodeOptions.watch(channel, event -> handle(event, address)));
    }
    datagrams.keySet().forEach(id -> id.multicast().leave(address));
  }

  private SocketAddress address() {
    return group.gid == null
        ? CommonOptions.address(group.address, 0)
        : new IbAddress(GidText.parse(group.gid), 0, 0, 0, 0, 0);
  }

  private void pause(EventChannel channel, SocketAddress address) throws InterruptedException {
    long end = System.nanoTime() + PAUSE.toNanos();
    for (long left = PAUSE.toNanos(); left > 0; left = end - System.nanoTime()) {
      channel.awaitEvent(Duration.ofNanos(left)).ifPresent(event -> handle(event, address));
    }
  }

  private void transfer(CommonOptions.Wait watch) throws InterruptedException {
    if (sender) {
      nodes.out().println("initiating data transfers");
      datagrams.values().forEach(each -> each.send(true));
    } else {
      nodes.out().println("receiving data transfers");
    }
    // The sender in C does not wait, and loses what its queue pair has not sent when it exits.
    for (Datagrams each : datagrams.values()) {
      each.await(sender ? "the send" : "the receive", watch);
    }
    nodes.out().println("data transfers complete");
  }

  /** Takes the next step for the identifier of an event. */
  private void handle(CmEvent event, SocketAddress address) {
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
      nodes.requireNoFailure(event, false);
    }
  }

  private void join(CmId id, SocketAddress address) {
    Datagrams created =
        withoutLoopback
            ? new Datagrams(nodes, id, QueuePairFlag.BLOCK_OWN_MULTICAST)
            : new Datagrams(nodes, id);
    datagrams.put(id, created);
    if (!sender) {
      created.postReceives();
    }
    id.multicast().join(address, sendOnly ? JoinFlag.SEND_ONLY_FULL_MEMBER : JoinFlag.FULL_MEMBER);
  }

  private void say(AddressVector vector) {
    GlobalRoute route = vector.globalRoute();
    nodes.say(
        "joined dgid: %s mlid 0x%x sl %d"
            .formatted(
                route == null ? Gid.ZERO : route.destination(),
                vector.lid(),
                vector.serviceLevel()));
  }
}
