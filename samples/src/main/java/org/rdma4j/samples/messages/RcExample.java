package org.rdma4j.samples.messages;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.samples.command.CommonOptions;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.PeerOptions;
import org.rdma4j.samples.command.PortOptions;
import org.rdma4j.samples.command.TcpPeer;
import org.rdma4j.samples.command.Version;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.WorkCompletionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Does a send, a remote read and a remote write, and creates every object itself. */
@Command(
    description = {
      "Sends a message, reads the peer's memory and writes to it, with every object created by the"
          + " program.",
      "The two sides exchange their addresses over TCP. The server sends a message, the client"
          + " reads the memory of the server and then writes to it with RDMA, and both check"
          + " the contents. Without a server name this program is the server, which must be"
          + " started first."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class RcExample implements Runnable {
  private static final int BYTES = 64;
  private static final String SENT = "SEND operation";
  private static final String READ = "RDMA read operation";
  private static final String WRITTEN = "RDMA write operation";
  private static final long PAUSE_NANOS = 50_000;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final PeerOptions peer = new PeerOptions(19875);

  @Mixin final PortOptions port = new PortOptions();

  @Override
  public void run() {
    port.check();
    peer.check();
    // Closed in the opposite order, also after a failure.
    try (RdmaDevice device = port.open();
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(2);
        MemoryRegion memory =
            domain.register(
                BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        // The protocol does not carry sequence numbers: both sides begin with 0.
        QueuePair queuePair =
            domain.createQueuePair(QueuePairConfig.reliable(queue).sequenceNumber(0))) {
      port.checkDevice(device);
      try (TcpPeer connected = connect()) {
        exchange(new RcExampleExchange(connected), queuePair, queue.completions(1), memory);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private TcpPeer connect() throws IOException {
    if (peer.server() != null) {
      return TcpPeer.connect(peer.server(), peer.tcpPort(), "rc-example", peer.timeout());
    }
    try (ServerSocket listening = TcpPeer.listen(peer.tcpPort())) {
      return TcpPeer.accept(listening, "rc-example", peer.timeout());
    }
  }

  private void exchange(
      RcExampleExchange exchange,
      QueuePair queuePair,
      Completions completions,
      MemoryRegion memory) {
    PrintWriter out = spec.commandLine().getOut();
    RcExampleExchange.Side remote =
        exchange.exchange(
            new RcExampleExchange.Side(
                memory.remoteAddress(),
                memory.remoteKey(),
                queuePair.address(port.number(), port.gidIndex())));
    queuePair.initialize(port.number(), 0, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    SendRequests sends = queuePair.sendRequests(1);
    if (!peer.isServer()) {
      ReceiveRequests receives = queuePair.receiveRequests(1);
      receives.add(1).into(memory, 0, BYTES).post();
    }
    queuePair.connect(
        PathConfig.to(remote.queuePair())
            .port(port.number())
            .gidIndex(port.gidIndex())
            .access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
    exchange.meet('Q');

    if (peer.isServer()) {
      memory.segment().setString(0, SENT);
      sends.add(2).send().from(memory, 0, BYTES).signaled().post();
      await(completions, "the send");
      memory.segment().setString(0, READ);
    } else {
      await(completions, "the receive");
      check(out, memory, SENT, "received");
    }
    exchange.meet('R');

    if (!peer.isServer()) {
      sends.add(3).read(remote.address(), remote.key()).into(memory, 0, BYTES).signaled().post();
      await(completions, "the RDMA read");
      check(out, memory, READ, "read from the server's memory");
      memory.segment().setString(0, WRITTEN);
      sends.add(4).write(remote.address(), remote.key()).from(memory, 0, BYTES).signaled().post();
      await(completions, "the RDMA write");
    }
    exchange.meet('W');
    if (peer.isServer()) {
      check(out, memory, WRITTEN, "found in the local memory");
    }
    out.println("test result is 0");
  }

  private static void check(PrintWriter out, MemoryRegion memory, String expected, String how) {
    String found = memory.segment().getString(0);
    if (!found.equals(expected)) {
      throw new Failure("\"%s\" was %s instead of \"%s\"".formatted(found, how, expected));
    }
    out.println("\"%s\" was %s".formatted(found, how));
  }

  private void await(Completions completions, String what) {
    long deadline = System.nanoTime() + peer.timeout().toNanos();
    while (completions.poll() == 0) {
      if (System.nanoTime() > deadline) {
        throw CommonOptions.late(what, peer.timeout());
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    try {
      completions.requireSuccess(0);
    } catch (WorkCompletionException failed) {
      throw new Failure(
          "%s failed with %s; check the peer's output".formatted(what, failed.status()), failed);
    }
  }
}
