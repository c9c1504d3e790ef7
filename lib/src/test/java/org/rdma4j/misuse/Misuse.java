package org.rdma4j.misuse;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ReadOnlyBufferException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.rdma4j.RdmaException;
import org.rdma4j.Resources;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.testing.OwnJvm;
import org.rdma4j.testing.SimulatedAdapter;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * A program that makes random calls, valid and invalid ones, on objects in any state, in several
 * threads. It exits with status 0 if each failed call threw a documented exception, and no resource
 * is left.
 */
final class Misuse {
  /** The exceptions that invalid calls are documented to throw. */
  private static final List<Class<? extends Exception>> DOCUMENTED =
      List.of(
          IllegalArgumentException.class,
          IllegalStateException.class,
          IndexOutOfBoundsException.class,
          UnsupportedOperationException.class,
          RdmaException.class,
          IOException.class,
          InterruptedException.class,
          BufferUnderflowException.class,
          BufferOverflowException.class,
          ReadOnlyBufferException.class,
          TimeoutException.class);

  /** Whether the device is a simulated EFA, which the connection manager does not have. */
  static final boolean EFA = Boolean.getBoolean("org.rdma4j.misuse.efa");

  /** A run with at least this number of calls calls each method. */
  private static final int ENOUGH = 100_000;

  private final long seed;
  private final int calls;
  private final Draw.Objects objects;
  private final Operations operations = new Operations();
  private final AtomicInteger made = new AtomicInteger();
  private final Map<String, AtomicInteger> succeeded = new ConcurrentSkipListMap<>();
  private final Map<String, AtomicInteger> refused = new ConcurrentSkipListMap<>();
  private final Map<Thread, String> current = new ConcurrentHashMap<>();

  /** Makes calls from another thread. */
  private final ExecutorService elsewhere = Executors.newSingleThreadExecutor();

  /** Whether to call each method. */
  private final boolean all;

  private Misuse(long seed, int calls, RdmaDevice device) {
    this.seed = seed;
    this.calls = calls;
    this.objects = new Draw.Objects(device);
    this.all = calls >= ENOUGH && canCallAll(device);
  }

  /** Arguments: the seed, the number of calls, the number of threads. */
  public static void main(String[] arguments) {
    int status = 1;
    try {
      run(
          Long.parseLong(arguments[0]),
          Integer.parseInt(arguments[1]),
          Integer.parseInt(arguments[2]));
      status = 0;
    } catch (Throwable failure) {
      failure.printStackTrace(System.out);
    }
    // Ends the program even if other threads hang.
    Runtime.getRuntime().halt(status);
  }

  private static void run(long seed, int calls, int threads) throws Exception {
    System.out.printf("seed %d, %d calls, %d threads%n", seed, calls, threads);
    if (EFA) {
      SimulatedAdapter.efa(true);
    }
    try (RdmaDevice device = RdmaDevice.open(RdmaDevice.list().getFirst().name());
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      // The JDK keeps a file descriptor open from the first socket on.
      new ServerSocket(0).close();
      openConnectionManager();
      Resources before = Resources.now();
      long begun = System.nanoTime();
      new Misuse(seed, calls, device).run(threads);
      System.out.printf("%d ms%n", (System.nanoTime() - begun) / 1_000_000);
      Resources after = Resources.now();
      if (!after.equals(before)) {
        throw new AssertionError("%s holds %s, not %s".formatted(domain, after, before));
      }
    }
  }

  /** The connection manager opens each device when it is first used, and keeps it open. */
  private static void openConnectionManager() throws Exception {
    if (EFA) {
      openWithoutConnections();
      return;
    }
    try (RdmaNode node = RdmaNode.open();
        RdmaServer server = node.bind(new InetSocketAddress(DeviceAddress.ipv4(), 0))) {
      System.out.println("connections are tried at " + server.localAddress());
    }
  }

  private static void openWithoutConnections() throws Exception {
    // The JDK reads a file for the first line of the log, which another thread may write later.
    System.getLogger(Misuse.class.getName()).log(System.Logger.Level.INFO, "misuse of EFA");
    InetAddress host = InetAddress.getLoopbackAddress();
    try (RdmaNode node = RdmaNode.open()) {
      node.connect(new InetSocketAddress(host, 1), Duration.ofSeconds(30)).close();
    } catch (RdmaException | IllegalArgumentException failed) {
      System.out.println("no connections: " + failed.getMessage());
    }
  }

  /** Makes so many random calls in another JVM, and reports the seed first. */
  static void inItsOwnJvm(int calls, int threads, String... options) throws Exception {
    long seed = Long.getLong("org.rdma4j.misuse.seed", System.nanoTime());
    System.out.printf("seed %d for %d threads%n", seed, threads);
    OwnJvm.run(
        Misuse.class,
        limit(calls).plusMinutes(1),
        List.of(options),
        Map.of(),
        Long.toString(seed),
        Integer.toString(calls),
        Integer.toString(threads));
  }

  /** Returns the time after which the calls must have hung, even in a guest. */
  static Duration limit(int calls) {
    return Duration.ofMinutes(2).plusMillis(10L * calls);
  }

  private void run(int threads) throws Exception {
    ExecutorService workers = Executors.newFixedThreadPool(threads);
    List<Future<?>> work = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Draw draw = new Draw(objects, new Random(seed + i));
      work.add(workers.submit(() -> work(draw)));
    }
    long deadline = System.nanoTime() + limit(calls).toNanos();
    try {
      for (Future<?> each : work) {
        each.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
      objects.connections.closeAll();
      objects.channelSets.closeAll();
      objects.devices.closeAll();
    } catch (TimeoutException hangs) {
      Thread.getAllStackTraces()
          .forEach(
              (thread, stack) ->
                  System.out.println(thread + " in " + current.get(thread) + List.of(stack)));
      throw hangs;
    }
    System.out.println(made + " calls");
    System.out.println("succeeded: " + succeeded);
    System.out.println("refused: " + refused);
    List<String> never = new ArrayList<>(operations.names());
    never.removeAll(succeeded.keySet());
    System.out.println("never succeeded: " + never);
    // A device does not support some operations. If more fail, this run tested nothing.
    if (never.size() > operations.names().size() * (EFA ? 3 : 2) / 4) {
      throw new AssertionError("too little succeeded");
    }
    Set<String> notCalled = operations.notCalled(objects.called);
    if (all && !notCalled.isEmpty()) {
      throw new AssertionError("not called: " + notCalled);
    }
  }

  /** Over iWARP there are no address handles or memory windows to call methods of. */
  private static boolean canCallAll(RdmaDevice device) {
    return device.info().transport() == TransportType.INFINIBAND;
  }

  private Void work(Draw draw) throws Exception {
    while (!isEnough()) {
      Operations.Operation operation = operations.any(draw.random);
      boolean away = draw.oneIn(100);
      draw.gaveNull = false;
      draw.alsoMade = 0;
      current.put(Thread.currentThread(), operation.name());
      try {
        if (away) {
          away(operation, draw);
        } else {
          operation.call().make(draw);
        }
        count(succeeded, operation.name());
      } catch (Pool.NothingYet nothing) {
        continue;
      } catch (Exception thrown) {
        if (!isDocumented(thrown, draw)) {
          throw new AssertionError(operation.name() + ", seed " + seed, thrown);
        }
        count(refused, thrown.getClass().getSimpleName());
      }
      made.addAndGet(1 + draw.alsoMade);
    }
    return null;
  }

  /**
   * Returns whether to stop: a long run continues, up to twice its length, until it has called each
   * method.
   */
  private boolean isEnough() {
    int now = made.get();
    return now >= calls
        && (!all || now >= 2 * calls || operations.notCalled(objects.called).isEmpty());
  }

  private static boolean isDocumented(Exception thrown, Draw draw) {
    return DOCUMENTED.stream().anyMatch(each -> each.isInstance(thrown))
        || (draw.gaveNull && thrown instanceof NullPointerException);
  }

  private void away(Operations.Operation operation, Draw draw) throws Exception {
    try {
      elsewhere
          .submit(
              () -> {
                operation.call().make(draw);
                return null;
              })
          .get();
    } catch (ExecutionException thrown) {
      if (thrown.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw thrown;
    }
  }

  private static void count(Map<String, AtomicInteger> counts, String name) {
    counts.computeIfAbsent(name, unused -> new AtomicInteger()).incrementAndGet();
  }
}
