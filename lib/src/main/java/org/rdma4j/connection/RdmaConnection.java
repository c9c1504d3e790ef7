package org.rdma4j.connection;

import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * A connection that carries messages, and lets each side read and write memory that the other names
 * to it. {@link #connect} and {@link RdmaServer#accept} make it, with a domain, queues and
 * registered buffers of its own.
 *
 * <p>Messages arrive whole, in order, and where the sender's device has an acknowledgement, they
 * have arrived. A sender waits where the receiver has no room: no message ever meets a side that
 * has no receive posted.
 *
 * <p>What is not acknowledged is sent again, six times, each after the time that the connection
 * manager set: over Ethernet 2.1 s with Linux 6.1. So a connection outlives an interruption of some
 * seconds, in which its calls wait; after seven times that it breaks, where something is on its
 * way. A side that only receives hears nothing of that, and waits as long as it says. That the
 * peer's process ended, in whatever way, is told at once: ECONNRESET. So is that the device of this
 * side was removed: ENODEV. A connection that waits outlives that the link of its own machine is
 * down. One that sends meanwhile soft-RoCE of Linux 6.1 breaks; where something was on its way
 * before, it may forget all of it, and the calls wait as long as they say.
 *
 * <p>All methods may be called from any thread, virtual ones included. Of the threads that wait,
 * one sleeps on the completion channel and delivers for all; a virtual one holds no carrier
 * meanwhile. A platform thread polls for a moment before it sleeps, as {@link Completions#await}
 * says.
 */
public final class RdmaConnection implements AutoCloseable {
  /** How many receives there are for messages of this class's own: credits twice, and the end. */
  private static final int CONTROLS = 4;

  /** Not the 7 that there may be, which soft-RoCE takes for no end. */
  private static final int RETRIES = 6;

  private static final int MAX_OPERATIONS = 16;
  private static final int MAX_AT_ONCE = 16;

  /** What a message is: the first four bits of its immediate value. */
  private static final int MESSAGE = 0;

  private static final int CREDITS = 1;
  private static final int END = 2;
  private static final int KIND_SHIFT = 28;
  private static final int CREDITS_MASK = (1 << KIND_SHIFT) - 1;

  /** What a request was: the first half of its id. The other is the slot, or a number. */
  private static final long RECEIVED = 0;

  private static final long SENT = 1;
  private static final long CONTROL = 2;
  private static final long OPERATION = 3;

  private static final Duration FOREVER = Duration.ofDays(36_500);

  private final SynchronousCmId id;
  private final ConnectionConfig config;
  private final ProtectionDomain domain;
  private final QueuePair queuePair;
  private final MemoryRegion region;
  private final SendRequests sends;
  private final ReceiveRequests receives;
  private final Completions completions;
  private final Lifetime lifetime;

  /** Told by the thread that watches the connection, which must not keep this reachable. */
  private final AtomicReference<@Nullable RdmaException> loss = new AtomicReference<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrival = lock.newCondition();
  private final Condition credit = lock.newCondition();
  private final Condition slot = lock.newCondition();
  private final Condition place = lock.newCondition();
  private final Condition settling = lock.newCondition();

  /* All below is guarded by the lock. */
  private final Deque<MessageBuffer> arrived = new ArrayDeque<>();
  private final Deque<Integer> freeSlots = new ArrayDeque<>();
  private final Map<Long, Operation> operations = new HashMap<>();
  private Hello peer = new Hello(0, 0);
  private int credits;
  private int owedCredits;
  private int sending;
  private int controls;
  private long operationNumber;
  private boolean fetching;
  private boolean ended;
  private boolean closing;
  private boolean settled;
  private @Nullable RdmaException failure;

  /** A read or a write that a thread waits for. */
  private final class Operation {
    final Condition changed = lock.newCondition();
    boolean done;
    @Nullable WorkCompletionException failed;
  }

  private RdmaConnection(SynchronousCmId id, ConnectionConfig config) {
    this.id = id;
    this.config = config;
    String name = "connection " + id.id().localAddress() + " to " + id.id().peerAddress();
    RdmaDevice device = id.id().device();
    ProtectionDomain ownDomain = device.allocateProtectionDomain();
    CompletionChannel channel = channel(ownDomain);
    domain = ownDomain;
    lifetime =
        new Lifetime(
            name,
            () -> {
              id.close();
              channel.close();
              ownDomain.close();
            });
    try {
      int sendDepth = config.receives() + config.sends() + CONTROLS + MAX_OPERATIONS;
      CompletionQueue queue = device.createCompletionQueue(sendDepth + receiveSlots(), channel);
      completions = queue.completions(Math.min(MAX_AT_ONCE, queue.capacity()));
      region =
          domain.register(
              (long) (receiveSlots() + config.sends()) * config.messageBytes(),
              AccessFlag.LOCAL_WRITE);
      queuePair =
          id.id()
              .createQueuePair(
                  domain,
                  QueuePairConfig.reliable(queue)
                      .sendDepth(sendDepth)
                      .receiveDepth(receiveSlots()));
      sends = queuePair.sendRequests(1);
      receives = queuePair.receiveRequests(1);
      for (int i = 0; i < receiveSlots(); i++) {
        postReceive(i);
      }
      for (int i = 0; i < config.sends(); i++) {
        freeSlots.add(receiveSlots() + i);
      }
    } catch (RuntimeException failed) {
      lifetime.close();
      throw failed;
    }
    Leaks.watch(this, lifetime);
  }

  private static CompletionChannel channel(ProtectionDomain domain) {
    try {
      return domain.device().createCompletionChannel();
    } catch (RuntimeException failed) {
      domain.close();
      throw failed;
    }
  }

  private int receiveSlots() {
    return config.receives() + CONTROLS;
  }

  /**
   * Connects, with everything else at its default.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @param timeout how long that may take together, to 24 days
   * @return the connection, which may send at once
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws RdmaException as {@link #connect(InetSocketAddress, ConnectionConfig, Duration)} says
   */
  public static RdmaConnection connect(InetSocketAddress server, Duration timeout)
      throws InterruptedException {
    return connect(server, ConnectionConfig.DEFAULT, timeout);
  }

  /**
   * Connects.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @param config what this side is made with
   * @param timeout how long that may take together, to 24 days
   * @return the connection, which may send at once
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the address is unresolved, the timeout negative or too
   *     long, or the configuration asks for more than the device has
   * @throws org.rdma4j.cm.ConnectionRejectedException where nobody listens there, or another
   *     program
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where the address cannot be reached over RDMA, the other side does not
   *     answer in time (ETIMEDOUT) or is another program (EPROTO), or a resource cannot be had
   */
  public static RdmaConnection connect(
      InetSocketAddress server, ConnectionConfig config, Duration timeout)
      throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP);
    return over(
        id,
        () -> {
          id.resolveAddress(server, deadline.remaining());
          id.resolveRoute(deadline.remaining());
          return new RdmaConnection(id, config);
        },
        () -> {
          CmEvent.Established answer = id.connect(parameters(config), deadline.remaining());
          return Hello.read(answer.parameters().privateData())
              .orElseThrow(() -> notOneOfUs(server));
        });
  }

  private static RdmaException notOneOfUs(InetSocketAddress server) {
    return new RdmaException(
        "rdma_connect(" + server + ")",
        ErrorNumber.EPROTO.value(),
        "Who listens there is no RdmaServer, or one of another version");
  }

  /** One that a server accepts; the identifier is closed where that fails. */
  static RdmaConnection accepted(
      SynchronousCmId id, ConnectionConfig config, Hello peer, Duration timeout)
      throws InterruptedException {
    return over(
        id,
        () -> new RdmaConnection(id, config),
        () -> {
          id.accept(parameters(config), timeout);
          return peer;
        });
  }

  /** A step on the way to a connection. */
  private interface Step<T> {
    T take() throws InterruptedException;
  }

  /** Makes this side, then connects it; closes all where a step fails. */
  private static RdmaConnection over(
      SynchronousCmId id, Step<RdmaConnection> make, Step<Hello> connect)
      throws InterruptedException {
    try {
      RdmaConnection connection = make.take();
      try {
        connection.begin(connect.take());
        return connection;
      } catch (RuntimeException | InterruptedException failed) {
        connection.lifetime.close();
        throw failed;
      }
    } catch (RuntimeException | InterruptedException failed) {
      id.close();
      throw failed;
    }
  }

  private static ConnectionParameters parameters(ConnectionConfig config) {
    return ConnectionParameters.DEFAULT.retryCount(RETRIES).privateData(Hello.of(config).write());
  }

  private void begin(Hello other) {
    lock.lock();
    try {
      peer = other;
      credits = other.receives();
    } finally {
      lock.unlock();
    }
    SynchronousCmId watched = id;
    QueuePair own = queuePair;
    String name = lifetime.toString();
    AtomicReference<@Nullable RdmaException> told = loss;
    Thread.ofVirtual().name("rdma4j-connection").start(() -> watch(watched, own, name, told));
  }

  /** An end of the connection raises no completion by itself. */
  private static void watch(
      SynchronousCmId id,
      QueuePair queuePair,
      String name,
      AtomicReference<@Nullable RdmaException> loss) {
    try {
      while (!id.awaitDisconnected(FOREVER)) {}
      loss.set(
          new RdmaException(
              name, ErrorNumber.ECONNRESET.value(), "The peer went away without closing it"));
    } catch (RdmaException gone) {
      loss.set(gone);
    } catch (IllegalStateException | InterruptedException closed) {
      return;
    }
    try {
      queuePair.toError();
    } catch (IllegalStateException | RdmaException gone) {
      // The queue pair of a device that is gone has no requests that could be flushed.
    }
  }

  /**
   * The address of this side.
   *
   * @return the address and the port
   * @throws IllegalStateException where the connection is closed
   */
  public InetSocketAddress localAddress() {
    return id.id().localAddress();
  }

  /**
   * The address of the other side.
   *
   * @return the address and the port
   * @throws IllegalStateException where the connection is closed
   */
  public InetSocketAddress peerAddress() {
    return id.id().peerAddress();
  }

  /**
   * The domain of its memory and of its queue pair.
   *
   * @return the domain, which is closed with the connection
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * How long a message may be that is sent.
   *
   * @return what the peer's configuration says, in bytes
   */
  public int maxMessageBytes() {
    lock.lock();
    try {
      return peer.messageBytes();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a buffer to fill and to send.
   *
   * @param timeout how long to wait at most until one is free
   * @return the buffer, of {@link ConnectionConfig#messageBytes}, to be sent or closed
   * @throws InterruptedException where the thread is interrupted while it waits
   * @throws TimeoutException where none became free in time
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the connection is closed
   * @throws RdmaException where the connection broke: ECONNRESET where the peer went away, ENODEV
   *     where the device was removed
   */
  public MessageBuffer buffer(Duration timeout) throws InterruptedException, TimeoutException {
    return buffer(Deadline.after(timeout));
  }

  private MessageBuffer buffer(Deadline deadline) throws InterruptedException, TimeoutException {
    lock.lock();
    try {
      awaitRoom(slot, () -> !freeSlots.isEmpty(), deadline);
      int taken = freeSlots.removeFirst();
      return new MessageBuffer(this, taken, memory(taken), config.messageBytes());
    } finally {
      lock.unlock();
    }
  }

  private MemorySlice memory(int which) {
    return region.slice((long) which * config.messageBytes(), config.messageBytes());
  }

  /**
   * Sends a message, and hands the buffer over: no byte is copied, and a received buffer takes
   * another message once this one has arrived. Returns once it is on its way, which is when the
   * peer has room for it.
   *
   * @param buffer what to send, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}
   * @param timeout how long to wait at most until the peer has room
   * @throws InterruptedException where the thread is interrupted while it waits; nothing was sent,
   *     and the buffer is still the caller's
   * @throws TimeoutException where the peer had no room in time; likewise
   * @throws IllegalArgumentException where the timeout is negative, the buffer another
   *     connection's, or the message longer than {@link #maxMessageBytes}
   * @throws IllegalStateException where the connection is closed, or the buffer was closed or sent
   * @throws RdmaException where the connection broke, or the peer has closed it: ECONNRESET
   */
  public void send(MessageBuffer buffer, Duration timeout)
      throws InterruptedException, TimeoutException {
    send(buffer, Deadline.after(timeout));
  }

  private void send(MessageBuffer buffer, Deadline deadline)
      throws InterruptedException, TimeoutException {
    if (buffer.connection() != this) {
      throw new IllegalArgumentException("the buffer belongs to another connection");
    }
    lock.lock();
    try {
      MemorySlice message = buffer.memory();
      Range.check("length of the message", (int) message.length(), 0, peer.messageBytes());
      awaitRoom(credit, () -> credits > 0, deadline);
      if (!buffer.take()) {
        throw new IllegalStateException("the buffer was closed or sent");
      }
      post(
          SENT << Integer.SIZE | buffer.slot(),
          request -> request.sendWithImmediate(immediate(MESSAGE)).from(message));
      credits--;
      sending++;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for what a healthy connection needs to send. */
  private void awaitRoom(Condition condition, BooleanSupplier ready, Deadline deadline)
      throws InterruptedException, TimeoutException {
    checkUsable();
    await(condition, () -> ready.getAsBoolean() || ended, deadline);
    checkUsable();
    if (ended) {
      throw new RdmaException(
          lifetime.toString(), ErrorNumber.ECONNRESET.value(), "The peer has closed it");
    }
  }

  /**
   * Sends a copy of a message. Returns once it is on its way.
   *
   * @param message what to send, from the position to the limit, which becomes the position
   * @param timeout how long to wait at most until there is a buffer, and the peer has room
   * @throws InterruptedException where the thread is interrupted while it waits; nothing was sent
   * @throws TimeoutException where that took longer; nothing was sent
   * @throws IllegalArgumentException where the timeout is negative, or the message longer than
   *     {@link #maxMessageBytes} or the buffers of this side
   * @throws IllegalStateException where the connection is closed
   * @throws RdmaException where the connection broke, or the peer has closed it: ECONNRESET
   */
  public void send(ByteBuffer message, Duration timeout)
      throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    Range.check(
        "length of the message",
        message.remaining(),
        0,
        Math.min(maxMessageBytes(), config.messageBytes()));
    try (MessageBuffer buffer = buffer(deadline)) {
      buffer.byteBuffer().put(message.duplicate()).flip();
      send(buffer, deadline);
      message.position(message.limit());
    }
  }

  /**
   * Waits for the next message.
   *
   * @param timeout how long to wait at most; zero looks and does not wait
   * @return the message, in the memory where it arrived, to be closed or sent; empty where the peer
   *     has closed the connection and all that it sent was received
   * @throws InterruptedException where the thread is interrupted while it waits
   * @throws TimeoutException where none came in time
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the connection is closed, also while waiting
   * @throws RdmaException where the connection broke: ECONNRESET where the peer went away without
   *     closing it, ENODEV where the device was removed. What had arrived before is received first
   */
  public Optional<MessageBuffer> receive(Duration timeout)
      throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    lock.lock();
    try {
      await(arrival, () -> !arrived.isEmpty() || ended, deadline);
      checkOpen();
      return Optional.ofNullable(arrived.pollFirst());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Allocates and registers memory, to name to the peer by {@link RemoteMemory#of}, or to read into
   * and to write from.
   *
   * @param bytes its length, at least 1
   * @param access what it may be used for: REMOTE_READ or REMOTE_WRITE for the peer, LOCAL_WRITE
   *     with the latter, and to read into it
   * @return the region, which is closed with the connection
   * @throws IllegalArgumentException where the length is out of range, or a right misses another
   * @throws IllegalStateException where the connection is closed
   * @throws RdmaException where it cannot be registered
   */
  public MemoryRegion register(long bytes, AccessFlag... access) {
    return domain.register(bytes, access);
  }

  /**
   * Reads memory of the peer, without the peer taking part, and waits until it is there. Where that
   * fails, or is given up, the connection is broken: the memory may still be written to until it is
   * closed.
   *
   * @param from the memory there, as long as the other or longer
   * @param to where to write it, of this connection's domain and with LOCAL_WRITE
   * @param timeout how long that may take
   * @throws InterruptedException where the thread is interrupted while it waits
   * @throws TimeoutException where it took longer
   * @throws IllegalArgumentException where the timeout is negative, or the memory there too short
   * @throws IllegalStateException where the connection or the region is closed
   * @throws WorkCompletionException where the peer's device refused it: REMOTE_ACCESS_ERROR where
   *     the region there has not REMOTE_READ, or was closed
   * @throws RdmaException where the connection broke
   */
  public void read(RemoteMemory from, MemorySlice to, Duration timeout)
      throws InterruptedException, TimeoutException {
    operate(
        from,
        to,
        timeout,
        request ->
            request.read(from.address(), from.key()).into(to.region(), to.offset(), to.length()));
  }

  /**
   * Writes memory of the peer, without the peer taking part, and waits until it is there. Where
   * that fails, or is given up, the connection is broken.
   *
   * @param from what to write, of this connection's domain
   * @param to the memory there, as long as the other or longer
   * @param timeout how long that may take
   * @throws InterruptedException where the thread is interrupted while it waits
   * @throws TimeoutException where it took longer
   * @throws IllegalArgumentException where the timeout is negative, or the memory there too short
   * @throws IllegalStateException where the connection or the region is closed
   * @throws WorkCompletionException where the peer's device refused it: REMOTE_ACCESS_ERROR where
   *     the region there has not REMOTE_WRITE, or was closed
   * @throws RdmaException where the connection broke
   */
  public void write(MemorySlice from, RemoteMemory to, Duration timeout)
      throws InterruptedException, TimeoutException {
    operate(to, from, timeout, request -> request.write(to.address(), to.key()).from(from));
  }

  private void operate(
      RemoteMemory remote, MemorySlice local, Duration timeout, Consumer<SendRequests> description)
      throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    if (local.length() > remote.length()) {
      throw new IllegalArgumentException(
          "length is %d, must be at most the %d of the memory there"
              .formatted(local.length(), remote.length()));
    }
    lock.lock();
    try {
      awaitRoom(place, () -> operations.size() < MAX_OPERATIONS, deadline);
      long number = operationNumber++ & 0xffff_ffffL;
      Operation operation = new Operation();
      post(OPERATION << Integer.SIZE | number, description);
      operations.put(number, operation);
      boolean waited = false;
      try {
        await(operation.changed, () -> operation.done, deadline);
        waited = true;
      } finally {
        // A close waits for it, as for all that was sent.
        if (!waited && !operation.done && !closing) {
          breakUp("a read or a write was given up");
        }
      }
      if (operation.failed != null) {
        throw operation.failed;
      }
    } finally {
      lock.unlock();
    }
  }

  /** The immediate value of what is sent next, which gives the credits that are owed. */
  private int immediate(int kind) {
    int given = owedCredits;
    owedCredits = 0;
    return kind << KIND_SHIFT | given;
  }

  private void post(long requestId, Consumer<SendRequests> description) {
    boolean posted = false;
    try {
      description.accept(sends.add(requestId).signaled());
      sends.post();
      posted = true;
    } finally {
      if (!posted) {
        sends.clear();
      }
      sends.release();
    }
  }

  private void postReceive(int which) {
    receives.add(RECEIVED << Integer.SIZE | which).into(memory(which));
    receives.post();
    receives.release();
  }

  private void control(int kind) {
    post(CONTROL << Integer.SIZE, request -> request.sendWithImmediate(immediate(kind)));
    controls++;
  }

  /** A buffer that is not needed any more. */
  void giveBack(int which) {
    lock.lock();
    try {
      if (usable()) {
        recycle(which);
      }
    } finally {
      lock.unlock();
    }
  }

  private void recycle(int which) {
    if (which >= receiveSlots()) {
      freeSlots.add(which);
      slot.signal();
      return;
    }
    postReceive(which);
    owedCredits++;
    giveCredits();
  }

  /** At half of all, so that not more than two such messages can be on their way. */
  private void giveCredits() {
    if (owedCredits * 2 >= config.receives() && controls < CONTROLS - 1 && !ended) {
      control(CREDITS);
    }
  }

  private boolean usable() {
    return !closing && failure == null && lifetime.isOpen();
  }

  private void checkOpen() {
    if (closing) {
      throw lifetime.closed();
    }
  }

  private void checkUsable() {
    checkOpen();
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Waits, with the lock, which is free meanwhile.
   *
   * @throws IllegalStateException where the connection is closed
   * @throws RdmaException where it is broken, and what is waited for will not come
   */
  private void await(Condition condition, BooleanSupplier ready, Deadline deadline)
      throws InterruptedException, TimeoutException {
    checkOpen();
    if (ready.getAsBoolean()) {
      return;
    }
    boolean got = false;
    try {
      awaitTurn(condition, () -> ready.getAsBoolean() || failure != null || closing, deadline);
      if (!ready.getAsBoolean()) {
        checkUsable();
      }
      got = true;
    } finally {
      if (!got && ready.getAsBoolean()) {
        condition.signal();
      }
    }
  }

  private void awaitTurn(Condition condition, BooleanSupplier over, Deadline deadline)
      throws InterruptedException, TimeoutException {
    boolean last = false;
    try {
      while (!over.getAsBoolean()) {
        if (last) {
          throw new TimeoutException(lifetime + ": nothing within " + deadline.timeout());
        }
        last = deadline.isOver();
        if (!fetching) {
          fetch(deadline);
        } else if (!last) {
          condition.awaitNanos(deadline.nanos());
        }
      }
    } finally {
      passOn();
    }
  }

  /** Has another thread fetch that waits for something. */
  private void passOn() {
    if (fetching) {
      return;
    }
    for (Condition condition : List.of(arrival, credit, slot, place)) {
      if (lock.hasWaiters(condition)) {
        condition.signal();
        return;
      }
    }
    for (Operation operation : operations.values()) {
      if (lock.hasWaiters(operation.changed)) {
        operation.changed.signal();
        return;
      }
    }
  }

  /** Waits for completions, without the lock, and delivers them. */
  private void fetch(Deadline deadline) throws InterruptedException {
    fetching = true;
    int polled = 0;
    lock.unlock();
    try {
      polled = completions.await(deadline.remaining());
    } catch (IllegalStateException closed) {
      throw lifetime.isOpen() ? closed : lifetime.closed();
    } finally {
      lock.lock();
      fetching = false;
      deliver(polled);
    }
  }

  private void deliver(int polled) {
    try {
      for (int i = 0; i < polled; i++) {
        deliverOne(i);
      }
      if (usable()) {
        giveCredits();
      }
    } finally {
      release();
    }
  }

  /** The next thread to fetch may be another one. */
  private void release() {
    try {
      completions.release();
    } catch (IllegalStateException closed) {
      if (usable()) {
        throw closed;
      }
    }
  }

  private void deliverOne(int index) {
    long requestId = completions.workRequestId(index);
    long kind = requestId >>> Integer.SIZE;
    int which = (int) requestId;
    WorkCompletionException failed = failure(index);
    if (kind == OPERATION) {
      finish(Integer.toUnsignedLong(which), failed);
    } else if (kind == SENT) {
      sending--;
    } else if (kind == CONTROL) {
      controls--;
    }
    if (failed != null) {
      broken(failed);
    } else if (kind == RECEIVED) {
      received(index, which);
    } else if (kind == SENT && usable()) {
      recycle(which);
    }
  }

  private @Nullable WorkCompletionException failure(int index) {
    try {
      completions.requireSuccess(index);
      return null;
    } catch (WorkCompletionException failed) {
      return failed;
    }
  }

  private void finish(long number, @Nullable WorkCompletionException failed) {
    Operation operation = operations.remove(number);
    if (operation != null) {
      operation.done = true;
      operation.failed = failed;
      operation.changed.signal();
      place.signal();
    }
  }

  private void received(int index, int which) {
    // A write with an immediate value takes a receive too, and may be longer than its memory.
    if (completions.opcode(index) != CompletionOpcode.RECEIVE || !completions.hasImmediate(index)) {
      breakUp("the peer sent what is no message of this protocol");
      return;
    }
    int immediate = completions.immediate(index);
    int given = immediate & CREDITS_MASK;
    // No more than it ever took: another number would have this side send to a peer without
    // receive.
    if (given > peer.receives() - credits) {
      breakUp(
          "the peer gave %d credits beside the %d left, and has room for %d messages"
              .formatted(given, credits, peer.receives()));
      return;
    }
    credits += given;
    for (int i = 0; i < given; i++) {
      credit.signal();
    }
    int kind = immediate >>> KIND_SHIFT;
    if (kind == MESSAGE) {
      int length = (int) completions.byteLength(index);
      arrived.add(new MessageBuffer(this, which, memory(which), length));
      arrival.signal();
    } else if (kind == END) {
      ended = true;
      wakeAll();
    } else if (kind != CREDITS) {
      breakUp("the peer sent a message of the unknown kind " + kind);
    } else if (usable()) {
      postReceive(which);
    }
  }

  /** What the first failure says; those that follow tell no more than that it failed. */
  private void broken(WorkCompletionException cause) {
    if (failure == null && !ended) {
      RdmaException lost = loss.get();
      failure =
          lost != null
              ? orRemoval(lost)
              : new RdmaException(
                  lifetime.toString(), 0, "A request failed: " + cause.getMessage());
      failure.initCause(cause);
      wakeAll();
    }
  }

  /**
   * The kernel ends the connections of a device that it removes one after the other, so that a peer
   * on the same device may seem to have gone away.
   */
  private RdmaException orRemoval(RdmaException lost) {
    DeviceInfo device = domain.device().info();
    try {
      return RdmaDevice.list().contains(device)
          ? lost
          : new RdmaException(lifetime.toString(), ErrorNumber.ENODEV.value());
    } catch (RdmaException unknown) {
      lost.addSuppressed(unknown);
      return lost;
    }
  }

  private void breakUp(String reason) {
    if (failure == null) {
      failure = new RdmaException(lifetime.toString(), 0, "It broke, as " + reason);
      wakeAll();
      if (lifetime.isOpen()) {
        queuePair.toError();
      }
    }
  }

  private void wakeAll() {
    List.of(arrival, credit, slot, place).forEach(Condition::signalAll);
    operations.values().forEach(operation -> operation.changed.signalAll());
  }

  /**
   * Tells the peer that no more comes, waits until all that was sent has arrived, at most for the
   * configured time, then ends the connection and closes all that belongs to it. What the peer
   * sends meanwhile is dropped. Where the thread is interrupted it does not wait. Other threads'
   * waits end with an IllegalStateException; of two closes at once, one waits for the other's. Does
   * nothing where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lock.lock();
    try {
      if (!closing) {
        boolean healthy = usable();
        closing = true;
        wakeAll();
        try {
          if (healthy && !ended) {
            end();
          }
        } finally {
          settled = true;
          settling.signalAll();
        }
      }
      // The close of another thread may still wait until all has arrived.
      while (!settled) {
        settling.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
    try {
      lifetime.close();
    } finally {
      // What was collected just before it is closed would be reported as never closed.
      Reference.reachabilityFence(this);
    }
  }

  private void end() {
    try {
      control(END);
      awaitTurn(
          arrival,
          () -> failure != null || ended || controls + sending == 0,
          Deadline.after(config.closeTimeout()));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException | IllegalStateException | RdmaException lost) {
      // There is nothing more to be done for it than to close.
      System.getLogger("org.rdma4j").log(System.Logger.Level.DEBUG, "a close was not told", lost);
    }
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
