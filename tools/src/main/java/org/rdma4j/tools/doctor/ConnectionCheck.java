package org.rdma4j.tools.doctor;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.tools.command.CmAddress;
import org.rdma4j.tools.command.Failure;

/** Connects each device to itself with the connection manager, and sends messages to and fro. */
final class ConnectionCheck {
  private static final int COUNT = 100;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private ConnectionCheck() {}

  /** Returns the findings for all devices with an active port and an address. */
  static List<Finding> check(List<KernelDevice> devices) {
    List<Finding> findings = new ArrayList<>();
    for (KernelDevice device : devices) {
      if (device.ports().stream().anyMatch(KernelDevice.Port::isActive)) {
        findings.add(of(device));
      }
    }
    return findings;
  }

  private static Finding of(KernelDevice device) {
    Optional<InetAddress> address;
    try {
      address = CmAddress.of(device.name());
    } catch (RdmaException failed) {
      return Finding.problem(
          device.name(),
          "its IP address cannot be found: " + Failure.describe(failed),
          "what the line \"permissions\" says");
    }
    return address
        .map(found -> of(device, found))
        .orElseGet(
            () ->
                Finding.note(
                    device.name(),
                    "no IP address of this machine leads to it, so the connection manager does not"
                        + " use it"));
  }

  private static Finding of(KernelDevice device, InetAddress address) {
    String host = address.getHostAddress();
    try {
      long nanos = run(address);
      return Finding.ok(
          device.name(),
          "%d messages went through a connection to %s and back in %d ms"
              .formatted(COUNT, host, TimeUnit.NANOSECONDS.toMillis(nanos)));
    } catch (RdmaException | Failure failed) {
      return Finding.problem(
          device.name(),
          "a connection to itself at " + host + " failed: " + Failure.describe(failed),
          "see whether C can: rping -s -a %s -C 10 & sleep 1; rping -c -a %s -C 10"
              .formatted(host, host));
    }
  }

  private static long run(InetAddress address) {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer server = node.bind(new InetSocketAddress(address, 0));
        RdmaConnection client = node.connect(server.localAddress(), TIMEOUT);
        RdmaConnection peer = server.accept(TIMEOUT)) {
      ByteBuffer message = ByteBuffer.allocate(Integer.BYTES);
      long start = System.nanoTime();
      for (int i = 0; i < COUNT; i++) {
        client.send(message.clear().putInt(i).flip(), TIMEOUT);
        peer.send(peer.receive(TIMEOUT).orElseThrow(ConnectionCheck::ended), TIMEOUT);
        if (!client.receive(message.clear(), TIMEOUT)) {
          throw ended();
        }
        int arrived = message.flip().getInt();
        if (arrived != i) {
          throw new Failure("message %d came back with the content of %d".formatted(i, arrived));
        }
      }
      return System.nanoTime() - start;
    } catch (TimeoutException late) {
      throw new Failure(Failure.oneLine(late.getMessage()), late);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted", interrupted);
    }
  }

  private static Failure ended() {
    return new Failure("the connection ended before all messages were back");
  }
}
