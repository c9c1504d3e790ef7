package org.rdma4j.samples;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.concurrent.locks.LockSupport;
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

/** The tutorial's program: a send, a read and a write, each resource by itself. */
@Command(
    description = {
      "Connects to its peer over TCP; the server sends a message, the client reads the server's memory"
          + " and then writes to it by RDMA, and both check what they find. Without a server name it"
          + " is the server, which is to be started first."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class RcExample implements Runnable {
  private static final int BYTES = 64;
  private static final String SENT = "SEND operation";
  private static final String READ = "RDMA read operation";
  private static final String WRITTEN = "RDMA write operation";
  private static final long PAUSE_NANOS = 50_000;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final PeerOptions peer = new PeerOptions(19875);

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  PortOptions port;

  @Override
  public void run() {
    port.check();
    peer.check();
    // Freed in the opposite order, whatever happens.
    try (RdmaDevice device = port.open();
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(2);
        MemoryRegion memory =
            domain.register(
                BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue))) {
      port.checkDevice(device);
      try (TcpPeer connected = connect()) {
        play(new RcExampleExchange(connected), queuePair, queue.completions(1), memory);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private TcpPeer connect() throws IOException {
    if (peer.server != null) {
      return TcpPeer.connect(peer.server, peer.tcpPort, "rc-example", peer.timeout());
    }
    try (ServerSocket listening = TcpPeer.listen(peer.tcpPort)) {
      return TcpPeer.accept(listening, "rc-example", peer.timeout());
    }
  }

  private void play(
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
                queuePair.address(port.number, port.gidIndex())));
    queuePair.initialize(port.number, 0, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    SendRequests sends = queuePair.sendRequests(1);
    if (peer.server != null) {
      ReceiveRequests receives = queuePair.receiveRequests(1);
      receives.add(1).into(memory, 0, BYTES).post();
    }
    queuePair.connect(
        PathConfig.to(remote.queuePair())
            .port(port.number)
            .gidIndex(port.gidIndex())
            .access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
    exchange.meet('Q');

    if (peer.server == null) {
      memory.segment().setString(0, SENT);
      sends.add(2).send().from(memory, 0, BYTES).signaled().post();
      await(completions, "the send");
      memory.segment().setString(0, READ);
    } else {
      await(completions, "the receive");
      check(out, memory, SENT, "received");
    }
    exchange.meet('R');

    if (peer.server != null) {
      sends.add(3).read(remote.address(), remote.key()).into(memory, 0, BYTES).signaled().post();
      await(completions, "the RDMA read");
      check(out, memory, READ, "read from the server's memory");
      memory.segment().setString(0, WRITTEN);
      sends.add(4).write(remote.address(), remote.key()).from(memory, 0, BYTES).signaled().post();
      await(completions, "the RDMA write");
    }
    exchange.meet('W');
    if (peer.server == null) {
      check(out, memory, WRITTEN, "found in the own memory");
    }
    out.println("test result is 0");
  }

  private static void check(PrintWriter out, MemoryRegion memory, String expected, String how) {
    String found = memory.segment().getString(0);
    if (!found.equals(expected)) {
      throw new Failure("\"%s\" was %s, not \"%s\"".formatted(found, how, expected));
    }
    out.println("\"%s\" was %s".formatted(found, how));
  }

  private void await(Completions completions, String what) {
    long deadline = System.nanoTime() + peer.timeout().toNanos();
    while (completions.poll() == 0) {
      if (System.nanoTime() > deadline) {
        throw new Failure(
            "%s is not done within %d s: what does the peer print?"
                .formatted(what, peer.patience.seconds));
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    try {
      completions.requireSuccess(0);
    } catch (WorkCompletionException failed) {
      throw new Failure(
          "%s ended in %s: what does the peer print?".formatted(what, failed.status()), failed);
    }
  }
}
