package org.rdma4j.tools.doctor;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.rdma4j.RdmaException;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.TransportType;

/** Sends messages from each active port to itself and back. */
final class RoundTrips {
  private static final int COUNT = 100;
  private static final int MESSAGE_BYTES = 4096;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** 6 rather than the maximum of 7, which soft-RoCE treats as "retry forever". */
  private static final int RETRIES = 6;

  private final Machine machine;
  private final NetworkInterfaces interfaces;

  private RoundTrips(Machine machine) {
    this.machine = machine;
    this.interfaces = new NetworkInterfaces(machine);
  }

  /** Returns the findings for all devices of this process, which has the libraries. */
  static List<Finding> check(Machine machine, List<KernelDevice> devices) {
    RoundTrips roundTrips = new RoundTrips(machine);
    List<Finding> findings = new ArrayList<>();
    List<DeviceInfo> listed = RdmaDevice.list();
    for (KernelDevice device : devices) {
      listed.stream()
          .filter(info -> info.name().equals(device.name()))
          .findFirst()
          .ifPresentOrElse(
              info -> findings.addAll(roundTrips.of(info, device)),
              () -> findings.add(unlisted(device)));
    }
    return findings;
  }

  private static Finding unlisted(KernelDevice device) {
    return Finding.problem(
        device.name(),
        "libibverbs does not list it: its file in /dev/infiniband or its provider is missing",
        "what the lines \"permissions\" and \"providers\" say");
  }

  private List<Finding> of(DeviceInfo info, KernelDevice device) {
    if (info.transport() != TransportType.INFINIBAND) {
      // Its queue pairs are connected by the connection manager only.
      return List.of();
    }
    List<Finding> findings = new ArrayList<>();
    for (KernelDevice.Port port : device.ports()) {
      Optional<Integer> gid = gidIndex(port);
      if (port.isActive() && gid.isPresent()) {
        findings.add(of(port, gid.get()));
      }
    }
    return findings;
  }

  private Optional<Integer> gidIndex(KernelDevice.Port port) {
    return port.ethernet()
        ? GidChoice.of(port.gids(), interfaces).map(choice -> choice.gid().index())
        : Optional.of(0);
  }

  private Finding of(KernelDevice.Port port, int gid) {
    try {
      long nanos = run(port, gid);
      return Finding.ok(
          port.title(),
          "%d messages went through the device and back in %d ms"
              .formatted(COUNT, TimeUnit.NANOSECONDS.toMillis(nanos)));
    } catch (RdmaException | Failure failed) {
      return Finding.problem(
          port.title(),
          "sending messages to itself failed: " + Failure.describe(failed),
          fix(failed, port, gid));
    }
  }

  private String fix(RuntimeException failed, KernelDevice.Port port, int gid) {
    String function = failed instanceof RdmaException refused ? refused.function() : "";
    if (function.equals("ibv_open_device")) {
      return "what the line \"permissions\" says";
    }
    if (function.equals("ibv_reg_mr")) {
      return MemoryLimit.raise(machine);
    }
    String pingPong = "ibv_rc_pingpong -d %s -g %d".formatted(port.device(), gid);
    return "see whether C can: %s & sleep 1; %s localhost".formatted(pingPong, pingPong);
  }

  private static long run(KernelDevice.Port port, int gid) {
    try (RdmaDevice device = RdmaDevice.open(port.device());
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion memory = domain.register(2 * MESSAGE_BYTES, AccessFlag.LOCAL_WRITE);
        CompletionQueue queue = device.createCompletionQueue(4);
        QueuePair left = domain.createQueuePair(QueuePairConfig.reliable(queue));
        QueuePair right = domain.createQueuePair(QueuePairConfig.reliable(queue))) {
      connect(left, right, port.number(), gid);
      connect(right, left, port.number(), gid);
      Completions completions = queue.completions(1);
      long start = System.nanoTime();
      for (int i = 0; i < COUNT; i++) {
        memory.segment().set(JAVA_INT, 0, i);
        send(left, right, memory, completions);
        send(right, left, memory, completions);
        int arrived = memory.segment().get(JAVA_INT, MESSAGE_BYTES);
        if (arrived != i) {
          throw new Failure("message %d arrived with the content of %d".formatted(i, arrived));
        }
      }
      return System.nanoTime() - start;
    }
  }

  private static void connect(QueuePair queuePair, QueuePair peer, int port, int gid) {
    queuePair.connect(
        PathConfig.to(peer.address(port, gid)).port(port).gidIndex(gid).retries(RETRIES));
  }

  /** Sends the first half of the memory to the second half, and waits for both completions. */
  private static void send(
      QueuePair from, QueuePair to, MemoryRegion memory, Completions completions) {
    to.receiveRequests(1).add(1).into(memory, MESSAGE_BYTES, MESSAGE_BYTES).post();
    from.sendRequests(1).add(2).send().signaled().from(memory, 0, MESSAGE_BYTES).post();
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    for (int done = 0; done < 2; ) {
      if (completions.poll() == 1) {
        completions.requireSuccess(0);
        done++;
      } else if (System.nanoTime() - deadline > 0) {
        throw new Failure("no completion within " + TIMEOUT.toSeconds() + " s");
      } else {
        Thread.onSpinWait();
      }
    }
  }
}
