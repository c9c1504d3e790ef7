package org.rdma4j.connection.simulation;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * Two nodes over the simulated adapter, whose programs, threads, network and kernel do what {@link
 * NodeStep steps} say. The nodes, librdmacm and libmlx5 are the real ones. The thread of the test
 * drives both nodes, so it decides what they have seen when the next step comes.
 */
final class NodeSimulation {
  static final int BUFFER = 256;

  private static final int MAX_CONNECTS = 6;
  private static final long LIMIT = Duration.ofSeconds(10).toNanos();
  private static final long PAUSE = 50_000;

  /** If nothing fails, no timeout is over, or it would hide that somebody waits for nothing. */
  private static final Duration LONG = Duration.ofMinutes(1);

  private static final Duration SHORT = Duration.ofMillis(500);

  /** What the two ends of a connection send. */
  private static final class Couple {
    final NumberedMessages toServer;
    final NumberedMessages toClient;
    @Nullable End client;
    @Nullable End server;

    Couple(int number) {
      toServer = new NumberedMessages("connection " + number + " to the server");
      toClient = new NumberedMessages("connection " + number + " to the client");
    }
  }

  private record Promise(String what, CompletableFuture<?> future) {}

  private final List<DrivenNode> nodes = new ArrayList<>();
  private final List<RdmaServer> servers = new ArrayList<>();
  private final List<InetSocketAddress> addresses = new ArrayList<>();
  private final Map<InetSocketAddress, Couple> couples = new HashMap<>();
  private final List<End> ends = new ArrayList<>();
  private final List<IncomingConnection> undecided = new ArrayList<>();
  private final List<Promise> promises = new ArrayList<>();
  private final List<String> disturbances = new ArrayList<>();
  private final List<Throwable> faults = new ArrayList<>();
  private final int seed;
  private final Duration timeout;
  private int connects;
  private boolean ending;
  private int incoming;

  /** Whether programs may have refused peers. */
  private boolean choosy;

  /**
   * Opens two nodes, each with a server.
   *
   * @param choosy whether programs refuse peers, and handlers have whims
   * @param failing whether network or kernel may fail
   */
  NodeSimulation(int seed, boolean choosy, boolean failing) {
    this.seed = seed;
    this.choosy = choosy;
    this.timeout = failing ? SHORT : LONG;
    NodeConfig config =
        NodeConfig.DEFAULT
            .bufferBytes(BUFFER)
            .receives(6)
            .sends(4)
            .maxBuffers(128)
            .maxMessageBytes(1 << 16)
            .maxLargeBytes(1 << 20)
            .handshakeTimeout(timeout)
            .closeTimeout(timeout)
            .keepAlive(Duration.ZERO);
    for (int i = 0; i < 2; i++) {
      DrivenNode node = DrivenNode.open(config);
      nodes.add(node);
      RdmaServer server = node.node().bind(new InetSocketAddress(DeviceAddress.ipv4(), 0));
      server.onConnect(this::arrived);
      servers.add(server);
      addresses.add(server.localAddress());
    }
  }

  /** Records that connections may fail from now on. */
  void disturbed(String how) {
    disturbances.add(how);
  }

  private boolean isDisturbed() {
    return !disturbances.isEmpty();
  }

  /**
   * Returns whether neither a program nor anything below the nodes has ended or refused anything.
   */
  private boolean isPeaceful() {
    return !choosy && !isDisturbed();
  }

  /** Keeps an error if a call or a message has failed without a cause. */
  void failed(String what, Throwable failure) {
    if (isPeaceful() && !ending) {
      faults.add(new AssertionError(what + " failed without a cause", failure));
    }
  }

  /** Records what a future is for, which must complete in the end. */
  void promised(String what, CompletableFuture<?> future) {
    promises.add(new Promise(what, future));
  }

  /** Keeps an error, which the library would take for one of the program's. */
  boolean checked(BooleanSupplier check) {
    try {
      return check.getAsBoolean();
    } catch (RuntimeException | AssertionError wrong) {
      faults.add(wrong);
      return false;
    }
  }

  static void pause() {
    LockSupport.parkNanos(PAUSE);
  }

  int poll(int node, int most) {
    return nodes.get(node % 2).poll(most);
  }

  Optional<End> end(int n) {
    return ends.isEmpty() ? Optional.empty() : Optional.of(ends.get(n % ends.size()));
  }

  void task(int n) {
    DrivenNode node = nodes.get(n % 2);
    Runnable task =
        n % 3 == 0
            ? () -> {
              throw new End.Thrown();
            }
            : this::connectAgain;
    if (n % 5 == 0) {
      node.execute(task);
    } else {
      var unused = node.schedule(Duration.ofNanos(n % 7 * PAUSE), task);
    }
  }

  void connectAgain() {
    connect(connects, connects / 2);
  }

  void connect(int from, int to) {
    if (connects >= MAX_CONNECTS || ending) {
      return;
    }
    connects++;
    CompletableFuture<RdmaConnection> connecting;
    try {
      connecting = nodes.get(from % 2).node().connectAsync(addresses.get(to % 2), timeout);
    } catch (RdmaException failed) {
      checked(() -> mayFail(failed));
      return;
    }
    promised("a connect", connecting);
    var unused =
        connecting.whenComplete(
            (connection, failure) -> {
              if (failure == null) {
                Couple couple = couple(connection.localAddress());
                couple.client = join(connection, couple.toServer, couple.toClient);
              } else {
                checked(() -> mayFail(failure));
              }
            });
  }

  private boolean mayFail(Throwable failure) {
    // The server's program may also have ended it before the client learnt that it was accepted.
    if (isDisturbed() || (choosy && failure instanceof ConnectionException)) {
      return true;
    }
    throw new AssertionError("a connect failed without a cause: " + failure, failure);
  }

  /** Accepts or rejects a peer, or leaves that for later. */
  private void arrived(IncomingConnection peer) {
    int number = incoming++;
    if (!choosy || number % 4 == 0) {
      accept(peer, number);
    } else if (number % 4 == 1) {
      undecided.add(peer);
    } else if ((number + seed) % 4 == 0) {
      throw new End.Thrown();
    } else if ((number + seed) % 4 == 1) {
      peer.reject("no");
    } else {
      accept(peer, number);
    }
  }

  private void accept(IncomingConnection peer, int number) {
    CompletableFuture<RdmaConnection> accepting = peer.accept(nodes.get((number + seed) % 2));
    promised("an accept", accepting);
    var unused =
        accepting.thenAccept(
            connection -> {
              Couple couple = couple(connection.peerAddress());
              couple.server = join(connection, couple.toClient, couple.toServer);
            });
  }

  void decide(int n) {
    if (undecided.isEmpty()) {
      return;
    }
    IncomingConnection peer = undecided.remove(n % undecided.size());
    try {
      accept(peer, n);
    } catch (IllegalStateException late) {
      // The server was closed, or the time is over.
      disturbed("a late decision");
    }
  }

  private Couple couple(InetSocketAddress client) {
    return couples.computeIfAbsent(client, each -> new Couple(couples.size()));
  }

  private End join(RdmaConnection connection, NumberedMessages sent, NumberedMessages received) {
    End.Whim whim = choosy ? whim(ends.size()) : End.Whim.NONE;
    End end = new End(this, connection, whim, sent, received);
    ends.add(end);
    end.begin();
    return end;
  }

  private End.Whim whim(int number) {
    End.Whim[] all = End.Whim.values();
    return all[Math.floorMod(seed / 4 + 3 * number, all.length)];
  }

  void closeServer(int n) {
    choosy = true;
    servers.get(n % 2).close();
  }

  void refuse(int oneIn, int randomSeed) {
    disturbed("refused calls");
    SimulatedAdapter.refuseSome(oneIn, randomSeed, ErrorNumber.ENOMEM.value());
  }

  /**
   * Lets the network and the kernel work again, and then everything end: what had to arrive has
   * arrived, all futures are done, and nothing has gone wrong.
   */
  void finish() {
    SimulatedAdapter.refuseNone();
    SimulatedAdapter.pinLimit(-1);
    SimulatedAdapter.port(true);
    SimulatedAdapter.keepMessages(false);
    if (timeout.equals(SHORT)) {
      // A lost message is not sent again.
      SimulatedAdapter.expire();
    }
    drive("what was sent arrives, and connects end", this::isSettled);
    for (Couple couple : couples.values()) {
      checked(() -> isOpenIfUndisturbed(couple));
    }
    ending = true;
    for (End each : List.copyOf(ends)) {
      each.close();
    }
    drive("all is closed", this::allDone);
    for (DrivenNode node : nodes) {
      node.close();
    }
    SimulatedAdapter.breakDown(false);
    for (Promise each : promises) {
      checked(() -> isDone(each));
    }
    if (!faults.isEmpty()) {
      throw failed(faults + ", disturbed by " + disturbances, faults);
    }
  }

  /** Returns an error that has all faults with it. */
  static AssertionError failed(String what, List<Throwable> faults) {
    AssertionError failed = new AssertionError(what);
    faults.forEach(failed::addSuppressed);
    return failed;
  }

  private void drive(String what, BooleanSupplier over) {
    long end = System.nanoTime() + LIMIT;
    while (!over.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        faults.add(new AssertionError("not within 10 s: " + what + ": " + this));
        return;
      }
      List.copyOf(ends).forEach(End::resume);
      List.copyOf(ends).forEach(End::release);
      decide(0);
      if (poll(0, Integer.MAX_VALUE) + poll(1, Integer.MAX_VALUE) == 0) {
        pause();
      }
    }
  }

  private boolean allDone() {
    return promises.stream().allMatch(each -> each.future().isDone());
  }

  private boolean isSettled() {
    return undecided.isEmpty()
        && promises.stream()
            .filter(
                each ->
                    isPeaceful()
                        ? !each.what().startsWith("the end of")
                        : each.what().equals("a connect") || each.what().equals("an accept"))
            .allMatch(each -> each.future().isDone())
        && couples.values().stream().allMatch(this::hasArrived);
  }

  private boolean hasArrived(Couple couple) {
    return hasArrived(couple.client, couple.server) && hasArrived(couple.server, couple.client);
  }

  /** Returns whether everything that one end has sent has reached the other, if it has to. */
  private boolean hasArrived(@Nullable End from, @Nullable End to) {
    if (from == null || to == null) {
      // The other has given up, or its program has refused it.
      return isDisturbed() || choosy || (from == null && to == null);
    }
    boolean mayLose = from.broken || to.broken || to.closed || isDisturbed();
    return mayLose || from.sent().isComplete();
  }

  private boolean isOpenIfUndisturbed(Couple couple) {
    End client = couple.client;
    End server = couple.server;
    boolean ended =
        client == null
            || server == null
            || isDisturbed()
            || client.closed
            || client.broken
            || server.closed
            || server.broken;
    if (!ended && (client.hasEnded() || server.hasEnded())) {
      throw new AssertionError("ended without a cause: " + client + ", " + server);
    }
    return true;
  }

  /** Waits for it, because a closed node completes the rest in another thread. */
  private static boolean isDone(Promise promise) {
    long end = System.nanoTime() + LIMIT;
    while (!promise.future().isDone() && System.nanoTime() - end < 0) {
      pause();
    }
    if (!promise.future().isDone()) {
      throw new AssertionError("never done: " + promise.what());
    }
    Throwable failure =
        promise.future().isCompletedExceptionally() ? promise.future().exceptionNow() : null;
    Throwable reason = failure instanceof CompletionException ? failure.getCause() : failure;
    if (reason != null
        && !(reason instanceof RdmaException)
        && !(reason instanceof IllegalStateException)) {
      throw new AssertionError(promise.what() + " failed with " + reason, reason);
    }
    return true;
  }

  @Override
  public String toString() {
    StringBuilder all = new StringBuilder();
    for (Couple each : couples.values()) {
      all.append("\n  ").append(each.client).append(" and ").append(each.server);
      all.append("\n    ").append(each.toServer).append("\n    ").append(each.toClient);
    }
    for (Promise each : promises) {
      if (!each.future().isDone()) {
        all.append("\n  not done: ").append(each.what());
      }
    }
    return all.toString();
  }
}
