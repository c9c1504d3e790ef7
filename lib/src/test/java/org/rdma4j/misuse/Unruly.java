package org.rdma4j.misuse;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.rdma4j.LoggedFaults;
import org.rdma4j.Resources;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;

/**
 * A program whose threads make random calls of connections, nodes and servers, and so does all the
 * code that it gives to the library. It exits with status 0 if each call ended in time, and with
 * nothing but a documented exception; if an open node still serves new connections; and if nothing
 * is left when all is closed.
 */
final class Unruly {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String THREADS = "rdma4j-(poller|connection-manager|close|blocking).*";

  private final Failures failures = new Failures();

  @SuppressWarnings("UnusedVariable") // It is not collected while this refers to it.
  private final LoggedFaults logged;

  private final BoundedCalls bounded;
  private final long seed;
  private final boolean careless;
  private final int calls;

  private Unruly(long seed, boolean careless, int calls, Duration slack) {
    this.seed = seed;
    this.careless = careless;
    this.calls = calls;
    this.bounded = new BoundedCalls(failures, slack);
    this.logged = new LoggedFaults(!careless, failures::add);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, thrown) -> failures.add(thread + " has ended", thrown));
  }

  /**
   * Arguments: the seed, whether users drop messages, the number of calls, the number of threads,
   * the slack in seconds.
   */
  public static void main(String[] arguments) {
    int status = 1;
    try {
      long seed = Long.parseLong(arguments[0]);
      boolean careless = Boolean.parseBoolean(arguments[1]);
      int calls = Integer.parseInt(arguments[2]);
      Duration slack = Duration.ofSeconds(Integer.parseInt(arguments[4]));
      Unruly unruly = new Unruly(seed, careless, calls, slack);
      unruly.run(Integer.parseInt(arguments[3]));
      status = unruly.failures.count() == 0 ? 0 : 1;
    } catch (Throwable failure) {
      failure.printStackTrace(System.out);
    }
    // Ends the program even if other threads hang.
    Runtime.getRuntime().halt(status);
  }

  private void run(int threads) throws Exception {
    System.out.printf("seed %d, %d calls, %d threads%n", seed, calls, threads);
    serveOneAnother();
    try (RdmaDevice device = RdmaDevice.open(RdmaDevice.list().getFirst().name());
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      Resources before = Resources.now();
      long begun = System.nanoTime();
      unruly(threads);
      System.out.printf("%d ms%n", (System.nanoTime() - begun) / 1_000_000);
      awaitNothingLeft(before, domain);
      serveOneAnother();
      awaitNothingLeft(before, domain);
    }
  }

  private void unruly(int threads) throws Exception {
    UnrulyObjects objects = new UnrulyObjects();
    UnrulyCalls all = new UnrulyCalls(seed, careless, calls, objects, bounded, failures);
    List<Thread> drivers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Random random = new Random(seed + i);
      Thread.Builder builder = i % 3 == 2 ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
      drivers.add(
          builder
              .name("driver-" + i)
              .start(
                  () -> {
                    while (all.make(random)) {
                      Thread.interrupted();
                    }
                  }));
    }
    long deadline = System.nanoTime() + Misuse.limit(calls).toNanos();
    for (Thread driver : drivers) {
      if (!driver.join(Duration.ofNanos(deadline - System.nanoTime()))) {
        BoundedCalls.printStacks();
        throw new AssertionError(driver + " hangs");
      }
    }
    // By code that ran in this thread.
    Thread.interrupted();
    System.out.println("succeeded: " + all.succeeded());
    System.out.println("refused: " + all.refused());
    System.out.println("user code ran: " + all.code().ran());
    checkReach(all);
    checkServes(objects.kept.node);
    bounded.make(
        "closing everything",
        UnrulyObjects.CLOSE_TIMEOUT.plusSeconds(5).multipliedBy(16),
        () -> {
          objects.closeAll();
          return true;
        });
    long end = System.nanoTime() + PATIENCE.toNanos();
    for (RdmaNode node : objects.everOpened) {
      while (node.statistics().connections() > 0 && System.nanoTime() - end < 0) {
        Thread.sleep(10);
      }
      if (node.statistics().connections() > 0) {
        failures.add("a closed node has " + node.statistics());
      }
    }
  }

  private void checkReach(UnrulyCalls all) {
    Set<String> never = new LinkedHashSet<>(all.places());
    never.removeAll(all.code().ran().keySet());
    if (!never.isEmpty()) {
      failures.add("the code of users never ran that was given to " + never);
    }
    Set<String> neverSucceeded = all.names();
    neverSucceeded.removeAll(all.succeeded().keySet());
    System.out.println("never succeeded: " + neverSucceeded);
    if (neverSucceeded.size() > all.names().size() / 10) {
      failures.add("too little succeeded");
    }
  }

  /** Checks that a node connects, accepts and delivers, with each of its pollers. */
  private static void checkServes(RdmaNode node) throws Exception {
    try (RdmaNode other = RdmaNode.open()) {
      for (int i = 0; i < UnrulyObjects.KEPT_POLLERS; i++) {
        serve(node, other);
        serve(other, node);
      }
    }
  }

  private static void serveOneAnother() throws Exception {
    try (RdmaNode one = RdmaNode.open();
        RdmaNode other = RdmaNode.open()) {
      serve(one, other);
    }
  }

  /** Has a message sent back by a handler, and a request answered. */
  private static void serve(RdmaNode servers, RdmaNode clients) throws Exception {
    try (RdmaServer server = servers.bind(new InetSocketAddress(DeviceAddress.ipv4(), 0));
        RdmaConnection client = clients.connect(server.localAddress(), PATIENCE);
        RdmaConnection accepted = server.accept(PATIENCE)) {
      accepted.onMessage(
          message -> {
            var unused = accepted.sendAsync(message);
          });
      accepted.onRequest(request -> request.answer(request.message()));
      client.send(ByteBuffer.allocate(8).putLong(0, 42), PATIENCE);
      Optional<MessageBuffer> echo = client.receive(PATIENCE);
      check(echo.orElseThrow());
      check(
          client
              .request(ByteBuffer.allocate(8).putLong(0, 42))
              .get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    }
  }

  private static void check(MessageBuffer answer) {
    try (answer) {
      if (answer.byteBuffer().getLong() != 42) {
        throw new AssertionError("another answer");
      }
    }
  }

  private static void awaitNothingLeft(Resources before, ProtectionDomain domain) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Resources now = Resources.now();
      List<String> threads = threadsOfNodes();
      if (now.equals(before) && threads.isEmpty()) {
        return;
      }
      if (System.nanoTime() - end > 0) {
        BoundedCalls.printStacks();
        throw new AssertionError(
            "%s holds %s, not %s, and there are %s".formatted(domain, now, before, threads));
      }
      Thread.sleep(50);
    }
  }

  private static List<String> threadsOfNodes() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.matches(THREADS))
        .toList();
  }
}
