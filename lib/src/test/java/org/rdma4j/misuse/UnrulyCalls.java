package org.rdma4j.misuse;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.PeerMemory;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.RemoteMemory;

/**
 * The calls of connections, nodes and servers that unruly users make, each with a weight. A call
 * that creates or sends something gives the library more {@link UnrulyCode} to run.
 */
final class UnrulyCalls implements UnrulyCode.AnyCall {
  private static final AccessFlag[] ALL = {
    AccessFlag.LOCAL_WRITE,
    AccessFlag.REMOTE_READ,
    AccessFlag.REMOTE_WRITE,
    AccessFlag.REMOTE_ATOMIC
  };

  /** The exceptions that the calls are documented to throw. */
  private static final List<Class<? extends Exception>> DOCUMENTED =
      List.of(
          IllegalArgumentException.class,
          IllegalStateException.class,
          RdmaException.class,
          IOException.class,
          InterruptedException.class,
          TimeoutException.class);

  /** User code that waits in a handler holds up others for that long, so it is short. */
  private static final Duration SHORT = Duration.ofMillis(20);

  private static final Duration CONNECT = Duration.ofSeconds(2);
  private static final Duration NONE = Duration.ZERO;

  /** What a close may wait for what was sent, and then for the close itself. */
  private static final Duration CLOSE = UnrulyObjects.CLOSE_TIMEOUT.plusSeconds(5);

  /** Makes a call with random arguments. */
  interface Call {
    void make(Random random) throws Exception;
  }

  private record Named(String name, Duration limit, Call call) {}

  private final UnrulyObjects objects;
  private final BoundedCalls bounded;
  private final Failures failures;
  private final UnrulyCode code;
  private final NavigableMap<Integer, Named> byWeight = new TreeMap<>();
  private final Set<String> places = new LinkedHashSet<>();
  private final int calls;
  private final AtomicInteger left;
  private final Map<String, AtomicInteger> succeeded = new ConcurrentSkipListMap<>();
  private final Map<String, AtomicInteger> refused = new ConcurrentSkipListMap<>();
  private int weights;

  UnrulyCalls(
      long seed,
      boolean careless,
      int calls,
      UnrulyObjects objects,
      BoundedCalls bounded,
      Failures failures) {
    this.objects = objects;
    this.bounded = bounded;
    this.failures = failures;
    this.calls = calls;
    this.left = new AtomicInteger(calls);
    this.code = new UnrulyCode(seed, careless, objects, bounded, this);
    nodesAndServers();
    nodesWithCode();
    loops();
    admissions();
    ends();
    messages();
    messagesWithCode();
    requests();
    memory();
    streams();
    withoutTimeout();
  }

  UnrulyCode code() {
    return code;
  }

  /** Returns what {@link #places} does, without objects to make calls of. */
  @SuppressWarnings("NullAway") // No call is made.
  static Set<String> placesOfApi() {
    return new UnrulyCalls(0, false, 0, null, null, null).places();
  }

  /** Returns the methods through which users give their code to the library. */
  Set<String> places() {
    return places;
  }

  Map<String, AtomicInteger> succeeded() {
    return succeeded;
  }

  Map<String, AtomicInteger> refused() {
    return refused;
  }

  Set<String> names() {
    Set<String> names = new LinkedHashSet<>();
    byWeight.values().forEach(each -> names.add(each.name()));
    return names;
  }

  @Override
  public boolean isOver() {
    // A run goes on, up to three times its length, until code has run wherever users can give it.
    return left.get() <= -2 * calls || (left.get() <= 0 && code.ran().keySet().containsAll(places));
  }

  @Override
  public boolean make(Random random) {
    if (isOver()) {
      return false;
    }
    left.decrementAndGet();
    make(random, byWeight.higherEntry(random.nextInt(weights)).getValue());
    return true;
  }

  @Override
  public void close(Random random) {
    List<Named> closes =
        byWeight.values().stream().filter(each -> each.limit().equals(CLOSE)).toList();
    make(random, closes.get(random.nextInt(closes.size())));
  }

  private void make(Random random, Named named) {
    try {
      bounded.make(
          named.name(),
          named.limit(),
          () -> {
            named.call().make(random);
            return true;
          });
      count(succeeded, named.name());
    } catch (Pool.NothingYet nothing) {
      // Others will create something.
      left.incrementAndGet();
    } catch (Throwable thrown) {
      if (DOCUMENTED.stream().noneMatch(each -> each.isInstance(thrown))) {
        failures.add(named.name() + " threw what is not documented", thrown);
      }
      count(refused, named.name() + " " + thrown.getClass().getSimpleName());
    }
  }

  private static void count(Map<String, AtomicInteger> counts, String name) {
    counts.computeIfAbsent(name, unused -> new AtomicInteger()).incrementAndGet();
  }

  private void add(int weight, String name, Duration wait, Call call) {
    weights += weight;
    byWeight.put(weights, new Named(name, wait, call));
  }

  /** Gives code to the library. */
  private interface Giving {
    void make(Random random, String place) throws Exception;
  }

  private void addPlace(int weight, String name, Giving giving) {
    places.add(name);
    add(weight, name, NONE, random -> giving.make(random, name));
  }

  private RdmaConnection connection(Random random) {
    return objects.connection(random).connection();
  }

  private static ByteBuffer bytes(Random random) {
    return ByteBuffer.allocate(
        switch (random.nextInt(32)) {
          case 0 -> 3 << 20;
          case 1, 2 -> 100_000;
          default -> random.nextInt(4000);
        });
  }

  /** Keeps an object for other calls, and closes the one whose place it takes. */
  private <T> void keep(Random random, Pool<T> pool, T object) throws Exception {
    bounded.make(
        "the close of one of " + object.getClass().getSimpleName(),
        CLOSE,
        () -> {
          pool.add(random, object);
          return true;
        });
  }

  private void nodesAndServers() {
    add(
        2,
        "RdmaNode.open",
        NONE,
        random -> keep(random, objects.members, objects.open(random, code)));
    add(
        8,
        "RdmaNode.bind",
        NONE,
        random -> {
          UnrulyObjects.Member member = objects.member(random);
          RdmaServer server = member.node.bind(objects.anyPort());
          keep(random, objects.servers, new UnrulyObjects.Server(member, server));
        });
    add(30, "RdmaNode.connect(InetSocketAddress, Duration)", CONNECT, this::connect);
    add(
        10,
        "RdmaServer.accept(Duration)",
        SHORT,
        random -> accept(random, objects.servers.any(random)));
  }

  private void nodesWithCode() {
    // A node that is opened has an executor at times.
    places.add(UnrulyObjects.EXECUTOR);
    addPlace(
        10,
        "RdmaNode.connectAsync(InetSocketAddress, Duration)",
        (random, place) ->
            connectAsync(random, place, (node, server) -> node.connectAsync(server, CONNECT)));
    addPlace(
        4,
        "RdmaNode.connectAsync(InetSocketAddress, InetSocketAddress, Duration)",
        (random, place) ->
            connectAsync(
                random,
                place,
                (node, server) -> node.connectAsync(objects.anyPort(), server, CONNECT)));
    addPlace(
        4,
        "RdmaNode.pollUntil(BooleanSupplier, Runnable)",
        (random, place) -> {
          LongConsumer asked = code.onNotice(place);
          LongConsumer sleeping = code.onNotice(place);
          try {
            objects
                .member(random)
                .node
                .pollUntil(
                    () -> {
                      asked.accept(0);
                      return false;
                    },
                    () -> sleeping.accept(0));
          } catch (IllegalStateException mustNotPoll) {
            throw mustNotPoll;
          } catch (Throwable thrown) {
            // The caller gets what its own code throws.
          }
        });
    addPlace(
        1,
        "RdmaServer.onAccept(Consumer)",
        (random, place) -> {
          UnrulyObjects.Server server = objects.servers.any(random);
          UnrulyObjects.Member peer = objects.member(random);
          server.server().onAccept(code.onAccept(place, server.member(), peer));
        });
  }

  private void loops() {
    addPlace(
        6,
        "DrivenNode.execute(Runnable)",
        (random, place) -> {
          LongConsumer task = code.onNotice(place);
          objects.drivenNode(random).execute(() -> task.accept(0));
        });
    addPlace(
        6,
        "DrivenNode.schedule(Duration, Runnable)",
        (random, place) -> {
          LongConsumer timer = code.onNotice(place);
          objects.drivenNode(random).schedule(SHORT, () -> timer.accept(0));
        });
    addPlace(
        4,
        "RdmaConnection.onWritability(WritabilityHandler)",
        (random, place) -> {
          RdmaConnection connection = connection(random);
          LongConsumer changed = code.onNotice(place);
          connection.watermarks(0, random.nextInt(1 << 16));
          connection.onWritability(writable -> changed.accept(0));
        });
  }

  /** What a program does with a peer that connects. */
  private interface Deciding {
    CompletableFuture<RdmaConnection> begin(IncomingConnection incoming);
  }

  private void admissions() {
    addPlace(
        2,
        "RdmaServer.onConnect(Consumer)",
        (random, place) -> {
          LongConsumer asked = code.onNotice(place);
          connectTo(random, incoming -> asked.accept(0));
        });
    addPlace(
        4,
        "IncomingConnection.accept()",
        (random, place) -> decide(random, place, IncomingConnection::accept));
    addPlace(
        4,
        "IncomingConnection.accept(RdmaNode)",
        (random, place) -> {
          RdmaNode other = objects.member(random).node;
          decide(random, place, incoming -> incoming.accept(other));
        });
    addPlace(
        4,
        "IncomingConnection.accept(DrivenNode)",
        (random, place) -> {
          DrivenNode other = objects.drivenNode(random);
          decide(random, place, incoming -> incoming.accept(other));
        });
  }

  private void decide(Random random, String place, Deciding deciding) throws Exception {
    UnrulyObjects.Member any = objects.member(random);
    connectTo(
        random,
        incoming -> {
          CompletableFuture<RdmaConnection> accepted = deciding.begin(incoming);
          keep(random, any, any, accepted);
          code.after(place, accepted);
        });
  }

  /** Connects to a new server that chooses its peers. */
  private void connectTo(Random random, Consumer<IncomingConnection> handler) throws Exception {
    UnrulyObjects.Member member = objects.member(random);
    RdmaServer server = member.node.bind(objects.anyPort());
    keep(random, objects.servers, new UnrulyObjects.Server(member, server));
    server.onConnect(handler);
    UnrulyObjects.Member from = objects.member(random);
    keep(random, from, member, from.node.connectAsync(server.localAddress(), CONNECT));
  }

  private void keep(
      Random random,
      UnrulyObjects.Member from,
      UnrulyObjects.Member to,
      CompletableFuture<RdmaConnection> connected) {
    var unused =
        connected.thenAccept(
            connection ->
                UnrulyCode.keep(
                    random, objects.connections, new UnrulyObjects.Held(from, to, connection)));
  }

  /** A connect that does not wait. */
  private interface Connecting {
    CompletableFuture<RdmaConnection> begin(RdmaNode node, InetSocketAddress server);
  }

  private void connectAsync(Random random, String place, Connecting connecting) {
    UnrulyObjects.Server server = objects.servers.any(random);
    UnrulyObjects.Member from = objects.member(random);
    var connected = connecting.begin(from.node, server.server().localAddress());
    keep(random, from, server.member(), connected);
    code.after(place, connected);
  }

  private void connect(Random random) throws Exception {
    UnrulyObjects.Server server = objects.servers.any(random);
    UnrulyObjects.Member from = objects.member(random);
    RdmaConnection connection = from.node.connect(server.server().localAddress(), CONNECT);
    begin(random, new UnrulyObjects.Held(from, server.member(), connection));
    accept(random, server);
  }

  private void accept(Random random, UnrulyObjects.Server server) throws Exception {
    // Who connects is not known, so this reads and writes memory of any node.
    UnrulyObjects.Member peer = objects.member(random);
    RdmaConnection accepted = server.server().accept(SHORT);
    begin(random, new UnrulyObjects.Held(server.member(), peer, accepted));
  }

  private void begin(Random random, UnrulyObjects.Held held) throws Exception {
    keep(random, objects.connections, held);
    RdmaConnection connection = held.connection();
    held.member().memory(connection, ALL);
    code.after("RdmaConnection.ended()", connection.ended());
    if (random.nextInt(4) > 0) {
      connection.onRequest(code.onRequest("RdmaConnection.onRequest(RequestHandler)"));
    }
    switch (random.nextInt(4)) {
      case 0 -> connection.onMessageBytes(code.onBytes("RdmaConnection.onMessageBytes(Consumer)"));
      case 1, 2 -> connection.onMessage(code.onMessage("RdmaConnection.onMessage(MessageHandler)"));
      default -> {}
    }
  }

  private void ends() {
    add(1, "RdmaNode.close", CLOSE, random -> objects.members.any(random).close());
    add(2, "RdmaServer.close", CLOSE, random -> objects.servers.any(random).close());
    add(6, "RdmaConnection.close", CLOSE, random -> connection(random).close());
    add(2, "RdmaConnection.endOutput", NONE, random -> connection(random).endOutput());
    addPlace(
        3,
        "RdmaConnection.closeAsync()",
        (random, place) -> code.after(place, connection(random).closeAsync()));
    addPlace(
        2,
        "RdmaConnection.ended()",
        (random, place) -> code.after(place, connection(random).ended()));
    addPlace(
        2,
        "RdmaConnection.inputEnded()",
        (random, place) -> code.after(place, connection(random).inputEnded()));
  }

  private void messages() {
    add(
        10,
        "RdmaConnection.buffer(Duration)",
        SHORT,
        random -> keep(random, connection(random).buffer(SHORT)));
    add(
        4,
        "RdmaConnection.buffer(long, Duration)",
        SHORT,
        random -> keep(random, connection(random).buffer(random.nextInt(20_000), SHORT)));
    add(
        4,
        "RdmaConnection.allocateBuffer",
        NONE,
        random -> keep(random, connection(random).allocateBuffer(random.nextInt(20_000))));
    add(20, "MessageBuffer.close", NONE, random -> objects.messages.any(random).close());
    add(
        10,
        "RdmaConnection.send(MessageBuffer, Duration)",
        SHORT,
        random -> connection(random).send(objects.messages.any(random), SHORT));
    add(
        20,
        "RdmaConnection.send(ByteBuffer, Duration)",
        SHORT,
        random -> connection(random).send(bytes(random), SHORT));
    add(
        10,
        "RdmaConnection.trySend(MessageBuffer)",
        NONE,
        random -> connection(random).trySend(objects.messages.any(random)));
    add(
        10,
        "RdmaConnection.trySend(ByteBuffer)",
        NONE,
        random -> connection(random).trySend(bytes(random)));
    add(
        15,
        "RdmaConnection.receive(Duration)",
        SHORT,
        random -> connection(random).receive(SHORT).ifPresent(message -> keep(random, message)));
    add(
        15,
        "RdmaConnection.receive(ByteBuffer, Duration)",
        SHORT,
        random -> connection(random).receive(ByteBuffer.allocate(200_000), SHORT));
  }

  private void keep(Random random, MessageBuffer message) {
    UnrulyCode.keep(random, objects.messages, message);
  }

  private void messagesWithCode() {
    addPlace(
        2,
        "RdmaConnection.onMessage(MessageHandler)",
        (random, place) -> connection(random).onMessage(code.onMessage(place)));
    addPlace(
        2,
        "RdmaConnection.onMessageBytes(Consumer)",
        (random, place) -> connection(random).onMessageBytes(code.onBytes(place)));
    addPlace(
        2,
        "RdmaConnection.onMessageBytes(Consumer, LongConsumer)",
        (random, place) ->
            connection(random).onMessageBytes(code.onBytes(place), code.onNotice(place)));
    addPlace(
        10,
        "RdmaConnection.sendAsync(MessageBuffer)",
        (random, place) ->
            code.after(place, connection(random).sendAsync(objects.messages.any(random))));
    addPlace(
        10,
        "RdmaConnection.sendAsync(MessageBuffer, long, OperationHandler)",
        (random, place) ->
            connection(random).sendAsync(objects.messages.any(random), 1, code.onOperation(place)));
    addPlace(
        20,
        "RdmaConnection.sendAsync(ByteBuffer)",
        (random, place) -> code.after(place, connection(random).sendAsync(bytes(random))));
    addPlace(
        20,
        "RdmaConnection.sendAsync(ByteBuffer, long, OperationHandler)",
        (random, place) -> connection(random).sendAsync(bytes(random), 1, code.onOperation(place)));
    addPlace(
        4,
        "RdmaConnection.sendAsync(MemorySlice)",
        (random, place) -> {
          UnrulyObjects.Held held = objects.connection(random);
          code.after(place, held.connection().sendAsync(held.member().memory().slice(0, 3000)));
        });
  }

  private void requests() {
    addPlace(
        15,
        "RdmaConnection.request(ByteBuffer)",
        (random, place) -> code.after(place, connection(random).request(bytes(random))));
    addPlace(
        10,
        "RdmaConnection.request(MessageBuffer)",
        (random, place) ->
            code.after(place, connection(random).request(objects.messages.any(random))));
    addPlace(
        3,
        "RdmaConnection.onRequest(RequestHandler)",
        (random, place) -> connection(random).onRequest(code.onRequest(place)));
    add(
        15,
        "IncomingRequest.answer(ByteBuffer)",
        NONE,
        random -> objects.requests.any(random).request().answer(bytes(random)));
    add(
        10,
        "IncomingRequest.answer(MessageBuffer)",
        NONE,
        random -> {
          IncomingRequest request = objects.requests.any(random).request();
          request.answer(random.nextBoolean() ? request.message() : objects.messages.any(random));
        });
    add(
        10,
        "IncomingRequest.refuse",
        NONE,
        random -> objects.requests.any(random).request().refuse("mischief"));
  }

  /** Uses memory of the peer, and as much of this side. */
  private interface Use<T> {
    T make(PeerMemory memory, MemorySlice local, RemoteMemory remote) throws Exception;
  }

  private <T> T use(Random random, int bytes, Use<T> use) throws Exception {
    UnrulyObjects.Held held = objects.connection(random);
    MemoryRegion local = held.member().memory();
    RemoteMemory remote = RemoteMemory.of(held.peer().memory());
    return use.make(held.connection().memory(), local.slice(0, bytes), remote.slice(0, bytes));
  }

  private void addUse(String method, int bytes, Use<?> use) {
    add(4, "PeerMemory." + method, SHORT, random -> use(random, bytes, use));
  }

  private void addFuture(String method, int bytes, Use<CompletableFuture<?>> use) {
    addPlace(
        4, "PeerMemory." + method, (random, place) -> code.after(place, use(random, bytes, use)));
  }

  /** Uses memory of the peer, and gives a handler of that. */
  private interface HandledUse {
    void make(PeerMemory memory, MemorySlice local, RemoteMemory remote, OperationHandler handler);
  }

  private void addHandled(String method, int bytes, HandledUse handled) {
    addPlace(
        4,
        "PeerMemory." + method,
        (random, place) -> {
          OperationHandler handler = code.onOperation(place);
          use(
              random,
              bytes,
              (memory, local, remote) -> {
                handled.make(memory, local, remote, handler);
                return true;
              });
        });
  }

  private void memory() {
    addUse(
        "read",
        64,
        (m, l, r) -> {
          m.read(r, l, SHORT);
          return true;
        });
    addUse(
        "write",
        4096,
        (m, l, r) -> {
          m.write(l, r, SHORT);
          return true;
        });
    addUse(
        "writeAndNotify",
        64,
        (m, l, r) -> {
          m.writeAndNotify(l, r, 7, SHORT);
          return true;
        });
    addUse("compareAndSwap", 8, (m, l, r) -> m.compareAndSwap(r, 0, 1, l, SHORT));
    addUse("fetchAndAdd", 8, (m, l, r) -> m.fetchAndAdd(r, 1, l, SHORT));
    addFuture("readAsync(RemoteMemory, MemorySlice)", 4096, (m, l, r) -> m.readAsync(r, l));
    addFuture("writeAsync(MemorySlice, RemoteMemory)", 64, (m, l, r) -> m.writeAsync(l, r));
    addFuture(
        "writeAndNotifyAsync(MemorySlice, RemoteMemory, long)",
        64,
        (m, l, r) -> m.writeAndNotifyAsync(l, r, 7));
    addFuture(
        "compareAndSwapAsync(RemoteMemory, long, long, MemorySlice)",
        8,
        (m, l, r) -> m.compareAndSwapAsync(r, 0, 1, l));
    addFuture(
        "fetchAndAddAsync(RemoteMemory, long, MemorySlice)",
        8,
        (m, l, r) -> m.fetchAndAddAsync(r, 1, l));
    addHandled(
        "readAsync(RemoteMemory, MemorySlice, long, OperationHandler)",
        64,
        (m, l, r, handler) -> m.readAsync(r, l, 1, handler));
    addHandled(
        "writeAsync(MemorySlice, RemoteMemory, long, OperationHandler)",
        64,
        (m, l, r, handler) -> m.writeAsync(l, r, 1, handler));
    addHandled(
        "writeAndNotifyAsync(MemorySlice, RemoteMemory, long, long, OperationHandler)",
        64,
        (m, l, r, handler) -> m.writeAndNotifyAsync(l, r, 7, 1, handler));
    addHandled(
        "compareAndSwapAsync(RemoteMemory, long, long, MemorySlice, long, OperationHandler)",
        8,
        (m, l, r, handler) -> m.compareAndSwapAsync(r, 0, 1, l, 1, handler));
    addHandled(
        "fetchAndAddAsync(RemoteMemory, long, MemorySlice, long, OperationHandler)",
        8,
        (m, l, r, handler) -> m.fetchAndAddAsync(r, 1, l, 1, handler));
    add(
        1,
        "RdmaConnection.expose",
        NONE,
        random -> {
          UnrulyObjects.Held held = objects.connection(random);
          MemorySlice memory = held.member().memory().slice(0, 64);
          held.connection().expose(memory, AccessFlag.REMOTE_READ).close();
        });
  }

  private void streams() {
    add(
        2,
        "RdmaConnection.asByteChannel",
        SHORT,
        random -> soon(() -> connection(random).asByteChannel().write(bytes(random))));
    add(
        2,
        "RdmaConnection.inputStream",
        SHORT,
        random -> soon(() -> connection(random).inputStream().read(new byte[4 << 20])));
    add(
        2,
        "RdmaConnection.outputStream",
        SHORT,
        random ->
            soon(
                () -> {
                  connection(random).outputStream().write(new byte[random.nextInt(3000)]);
                  return true;
                }));
  }

  /** Interrupts a call that waits as long as it takes. */
  private static <T> T soon(java.util.concurrent.Callable<T> call) throws Exception {
    return Impatience.limit((int) SHORT.toMillis(), call);
  }

  private void withoutTimeout() {
    add(
        2,
        "RdmaConnection.receive()",
        SHORT,
        random -> soon(() -> connection(random).receive()).ifPresent(each -> keep(random, each)));
    add(
        2,
        "RdmaConnection.send(ByteBuffer)",
        SHORT,
        random ->
            soon(
                () -> {
                  connection(random).send(bytes(random));
                  return true;
                }));
    add(
        2,
        "RdmaServer.accept()",
        SHORT,
        random -> {
          UnrulyObjects.Server server = objects.servers.any(random);
          UnrulyObjects.Member peer = objects.member(random);
          RdmaConnection accepted = soon(() -> server.server().accept());
          begin(random, new UnrulyObjects.Held(server.member(), peer, accepted));
        });
    add(
        2,
        "RdmaNode.connect(InetSocketAddress)",
        SHORT,
        random -> {
          UnrulyObjects.Server server = objects.servers.any(random);
          UnrulyObjects.Member from = objects.member(random);
          RdmaConnection connection = soon(() -> from.node.connect(server.server().localAddress()));
          begin(random, new UnrulyObjects.Held(from, server.member(), connection));
        });
    add(
        5,
        "what reports",
        NONE,
        random -> {
          RdmaConnection connection = connection(random);
          var unused =
              List.of(
                  connection.statistics(),
                  connection.localAddress(),
                  connection.peerAddress(),
                  connection.isOpen(),
                  connection.toString(),
                  objects.member(random).node.statistics());
        });
    add(
        3,
        "a call with the lock of the users",
        NONE,
        random -> bounded.user(() -> code.callWithLock(random)));
  }
}
