package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.cm.CmId;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferMemory;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.LargeBuffers;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.AtomicCapability;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * What all connections of a node over one device share: the protection domain, the buffers, and the
 * pollers with their queues.
 */
final class DeviceShare implements Poller.Owner {
  /**
   * Messages up to this length are copied into the request, if the device can do that. A request
   * takes 256 bytes then; with a longer message it would take 512.
   */
  private static final int INLINE_BYTES = 112;

  /** The receives that are set aside for the peer of a connection before its hello is known. */
  private static final int FIRST_RECEIVES = Credits.FIRST_WINDOW + Session.CONTROL_RECEIVES;

  /** The receives of a quiet connection. */
  private static final int QUIET_RECEIVES = Credits.FIRST_WINDOW + 1;

  private final NodeState node;
  private final RdmaDevice device;
  private final ProtectionDomain domain;
  private final BufferPool buffers;
  private final LargeBuffers largeBuffers;
  private final Exposures exposures;
  private final MemorySlice nothing;
  private final int maxEntries;
  private final boolean atomics;
  private final int receiveDepth;
  private final Pollers pollers;
  private final Object growing = new Object();
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final Object forgetting = new Object();

  /** The traffic of the connections that were forgotten; {@link #forgetting} guards it. */
  private Traffic past = Traffic.NONE;

  private final AtomicBoolean removed = new AtomicBoolean();
  private final AtomicBoolean failed = new AtomicBoolean();
  private final Lifetime lifetime;
  private final Runnable ignoreRemoval;
  private int inlineBytes = INLINE_BYTES;

  DeviceShare(NodeState node, RdmaDevice device) {
    NodeConfig config = node.config();
    this.node = node;
    this.device = device;
    DeviceAttributes attributes = device.attributes();
    this.maxEntries = attributes.maxCompletionQueueEntries();
    this.receiveDepth =
        Math.min(
            config.maxBuffers(),
            Math.min(attributes.maxSharedReceiveQueueRequests(), maxEntries / 4));
    this.atomics = attributes.atomicCapability() != AtomicCapability.NONE;
    this.pollers = new Pollers(this, node::newLoop, receiveDepth, node::pollerAdded);
    this.domain = device.allocateProtectionDomain();
    this.exposures = new Exposures(domain);
    // Only identifiers get an event, and this may have none when the device is removed.
    this.ignoreRemoval = VerbsAccess.get().onRemoval(device, this::removed);
    boolean done = false;
    try {
      this.buffers = new BufferPool(this::register, config.bufferBytes(), config.maxBuffers());
      this.largeBuffers = new LargeBuffers(longMemory(), config.maxLargeBytes());
      Buffer any = buffers.take();
      this.nothing = BufferRegion.slice(any, 0, 0);
      any.free();
      pollers.create(node.loop().isRunByProgram() ? 1 : config.pollers());
      this.lifetime =
          VerbsAccess.get()
              .lifetime(device)
              .whileOpen(
                  () ->
                      new Lifetime(
                          "the connections over " + device.info().name(),
                          this::destroy,
                          VerbsAccess.get().lifetime(device)));
      done = true;
    } finally {
      if (!done) {
        Attempts attempts = new Attempts();
        attempts.attempt(ignoreRemoval);
        pollers.close(attempts);
        attempts.attempt(domain::close);
        node.guarded("closing what was created", attempts::finish);
      }
    }
    try {
      pollers.start();
    } catch (RuntimeException | Error failed) {
      lifetime.close();
      throw failed;
    }
  }

  private BufferMemory register(long bytes) {
    return BufferRegion.register(exposures, bytes);
  }

  private BufferMemory.Source longMemory() {
    return new BufferMemory.Source() {
      @Override
      public BufferMemory register(long bytes) {
        return DeviceShare.this.register(bytes);
      }

      @Override
      public BufferMemory reserve(long bytes, long first) {
        return GrowingRegion.reserve(exposures, bytes, first);
      }
    };
  }

  NodeState node() {
    return node;
  }

  NodeConfig config() {
    return node.config();
  }

  @Override
  public RdmaDevice device() {
    return device;
  }

  @Override
  public ProtectionDomain domain() {
    return domain;
  }

  @Override
  public BufferPool buffers() {
    return buffers;
  }

  LargeBuffers largeBuffers() {
    return largeBuffers;
  }

  Exposures exposures() {
    return exposures;
  }

  @Override
  public int maxEntries() {
    return maxEntries;
  }

  /** Returns the number of receives that are posted. */
  int postedReceives() {
    return pollers.postedReceives();
  }

  /** Returns memory of length 0. */
  MemorySlice nothing() {
    return nothing;
  }

  /** Returns the length of the longest message, with its header, that is copied into a request. */
  int inlineBytes() {
    return inlineBytes;
  }

  @Override
  public boolean isUsable() {
    return lifetime.isOpen() && !removed.get() && !failed.get();
  }

  List<Poller> pollers() {
    return pollers.all();
  }

  /**
   * Checks that the device is still there.
   *
   * @param operation what needs it
   * @throws RdmaException if it was removed
   */
  void checkNotRemoved(String operation) {
    if (removed.get()) {
      throw new RdmaException(operation, ErrorNumber.ENODEV.value());
    }
  }

  /** The refusal of a post would break the connection. */
  void checkAtomics() {
    if (!atomics) {
      throw new UnsupportedByDeviceException(
          "atomic operation",
          ErrorNumber.EOPNOTSUPP.value(),
          device.info().name(),
          "The device has no atomic operations: let the peer change its memory, with a request");
    }
  }

  boolean isRemoved() {
    return removed.get();
  }

  /** Returns why a connection breaks when its device is removed. */
  static ConnectionException deviceRemoved(Link link) {
    return new ConnectionException(
        Reason.DEVICE_REMOVED, link.toString(), ErrorNumber.ENODEV.value());
  }

  int connections() {
    return links.size();
  }

  /**
   * Takes a buffer for a message of this length, or waits until the limits of the node allow it;
   * null if they do not within the time.
   */
  @Nullable Buffer take(long bytes, long nanos) throws InterruptedException {
    Buffer buffer =
        bytes > buffers.bufferBytes() ? largeBuffers.take(bytes, nanos) : buffers.take(nanos);
    if (buffer != null) {
      buffer.become(MessageKind.MESSAGE, 0, bytes);
    }
    return buffer;
  }

  /** Takes a buffer for a message of this length, without waiting. */
  Buffer take(long bytes) {
    Buffer buffer = bytes > buffers.bufferBytes() ? largeBuffers.take(bytes) : buffers.take();
    buffer.become(MessageKind.MESSAGE, 0, bytes);
    return buffer;
  }

  /**
   * Returns how many connections share receives at most. While they are quiet, they have three
   * quarters of them; the others are for senders.
   */
  private static int mostConnections(int receives) {
    return receives / 4 * 3 / QUIET_RECEIVES;
  }

  private String noReceives() {
    RdmaException noMemory = buffers.noMemory();
    if (noMemory != null) {
      return "No memory could be registered for more buffers: " + noMemory.getMessage();
    }
    if (links.size() >= mostConnections(config().maxBuffers())) {
      return "The node has %d connections, as many as the %d buffers of NodeConfig.maxBuffers are enough for: close some, or raise NodeConfig.maxBuffers"
          .formatted(links.size(), config().maxBuffers());
    }
    // Not a stream, because this is called for each peer of a flood.
    Link busiest = null;
    int outstanding = 0;
    for (Link link : links) {
      int ofLink = link.statistics().outstanding();
      if (ofLink >= outstanding) {
        outstanding = ofLink;
        busiest = link;
      }
    }
    return "All %d buffers of the node are in use, %d of them to send over %s: close messages, send less than peers receive, or raise NodeConfig.maxBuffers"
        .formatted(config().maxBuffers(), outstanding, busiest);
  }

  /**
   * Creates this side of a connection: its queue pair, and the receives for its first messages.
   *
   * <p>Not while this is being destroyed: nothing would end the connection before the protection
   * domain is closed, which it needs for further receives.
   *
   * @param acceptedFrom the address that has connected; null if this side has
   * @throws RdmaException if something that it needs is not available
   */
  Link createLink(CmId id, @Nullable InetAddress acceptedFrom) {
    return lifetime.whileOpen(() -> createLinkNow(id, acceptedFrom));
  }

  private Link createLinkNow(CmId id, @Nullable InetAddress acceptedFrom) {
    Link link = tryCreateLink(id);
    if (link == null) {
      link = createLinkWithMore(id);
    }
    if (acceptedFrom != null) {
      link.acceptFrom(acceptedFrom);
    }
    links.add(link);
    link.poller().add(link);
    return link;
  }

  /** Creates this side of a connection, and a poller for it unless another thread did. */
  private Link createLinkWithMore(CmId id) {
    synchronized (growing) {
      Link link = tryCreateLink(id);
      if (link == null) {
        pollers.add();
        link = tryCreateLink(id);
      }
      if (link == null) {
        throw refused(id);
      }
      return link;
    }
  }

  /**
   * Creates this side of a connection with the next poller that has room; null if none has.
   *
   * @throws RdmaException if there is no buffer for it
   */
  private @Nullable Link tryCreateLink(CmId id) {
    if (links.size() >= mostConnections(config().maxBuffers())) {
      throw refused(id);
    }
    Link link = pollers.next(poller -> tryCreateLink(id, poller));
    if (link == null && (buffers.unused() < FIRST_RECEIVES || buffers.noMemory() != null)) {
      throw refused(id);
    }
    return link;
  }

  private @Nullable Link tryCreateLink(CmId id, Poller poller) {
    PromisedReceives promises = new PromisedReceives(poller.receives());
    if (poller.connections() >= mostConnections(receiveDepth) || !promises.add(FIRST_RECEIVES)) {
      return null;
    }
    Link link = null;
    try {
      QueuePair queuePair = tryCreateQueuePair(id, poller);
      link = queuePair == null ? null : new Link(this, poller, id, queuePair, promises);
    } finally {
      if (link == null) {
        promises.withdrawAll();
      }
    }
    return link;
  }

  private RdmaException refused(CmId id) {
    RdmaException refused =
        new RdmaException(
            "connection to " + id.peerAddress(), ErrorNumber.ENOBUFS.value(), noReceives());
    refused.initCause(buffers.noMemory());
    return refused;
  }

  private @Nullable QueuePair tryCreateQueuePair(CmId id, Poller poller) {
    try {
      return tryCreateQueuePair(id, poller, inlineBytes);
    } catch (RdmaException perhapsNoInline) {
      if (inlineBytes == 0 || links.stream().findAny().isPresent()) {
        throw perhapsNoInline;
      }
      QueuePair created = tryCreateQueuePair(id, poller, 0);
      inlineBytes = 0;
      return created;
    }
  }

  /** Returns null if the completion queue is full, and cannot be longer. */
  private @Nullable QueuePair tryCreateQueuePair(CmId id, Poller poller, int inline) {
    CompletionQueue queue = poller.queue();
    QueuePairConfig config =
        QueuePairConfig.reliable(queue)
            .sharedReceiveQueue(poller.receiveQueue())
            .sendDepth(node.config().sends() + Session.CONTROL_SENDS)
            .inlineBytes(inline);
    while (true) {
      try {
        return id.createQueuePair(domain, config);
      } catch (IllegalArgumentException queueTooShort) {
        if (queue.capacity() >= maxEntries) {
          return null;
        }
        queue.resize(Math.min(maxEntries, 2 * queue.capacity()));
      }
    }
  }

  /** Forgets a connection that is closed, but not what it has transferred. */
  void forget(Link link) {
    synchronized (forgetting) {
      if (links.remove(link)) {
        past = past.plus(link.statistics().traffic());
        link.leaveAccepted();
      }
    }
  }

  /** Returns what all connections have transferred, also closed ones. */
  Traffic traffic() {
    synchronized (forgetting) {
      Traffic all = past;
      for (Link link : links) {
        all = all.plus(link.statistics().traffic());
      }
      return all;
    }
  }

  /** Returns the number of connections that have too much to send. */
  int notWritable() {
    int count = 0;
    for (Link link : links) {
      count += link.isWritable() ? 0 : 1;
    }
    return count;
  }

  List<Link> links() {
    return List.copyOf(links);
  }

  /**
   * Handles the removal of the device: breaks all connections over it, and closes it soon, because
   * the kernel waits for that.
   */
  void removed() {
    if (removed.compareAndSet(false, true)) {
      log(Level.WARNING, device.info().name() + " was removed", null);
      for (Link link : links()) {
        node.guarded("the end of " + link, () -> link.closing().brokenSoon(deviceRemoved(link)));
      }
      node.apart(
          () -> {
            node.forget(this);
            BlockingWork.join(BlockingWork.runApart("rdma4j-close", device::close));
          });
    }
  }

  /**
   * Ends this share because nothing more can be polled: breaks all connections, once. New ones get
   * another share.
   */
  @Override
  public void pollingFailed(Throwable cause) {
    if (failed.compareAndSet(false, true)) {
      String what = device.info().name() + ": the completion queue can no longer be polled";
      log(Level.ERROR, what + ", which breaks all connections", cause);
      node.apart(
          () -> {
            breakAll(what, cause);
            node.forget(this);
            BlockingWork.join(BlockingWork.runApart("rdma4j-close", this::close));
          });
    }
  }

  /** Ends the use of the buffers that the program has dropped. Called at intervals. */
  void freeDropped() {
    freeDropped(buffers.dropped());
    freeDropped(largeBuffers.dropped());
  }

  private void freeDropped(List<Buffer> dropped) {
    if (dropped.isEmpty()) {
      return;
    }
    log(
        Level.WARNING,
        "%s garbage-collected without being closed, the last with a message of %d bytes: close each MessageBuffer that is not sent, or its sender has no place for further messages"
            .formatted(
                dropped.size() == 1 ? "1 buffer was" : dropped.size() + " buffers were",
                dropped.getLast().length()),
        null);
    dropped.forEach(each -> node.later(each::freeDropped));
  }

  /** Breaks all connections. */
  void breakAll(String what, Throwable cause) {
    for (Link link : links()) {
      ConnectionException reason =
          new ConnectionException(Reason.BROKEN_HERE, link.toString(), 0, what, cause);
      node.guarded("the end of " + link, () -> link.closing().broken(reason));
    }
  }

  void close() {
    lifetime.close();
  }

  /**
   * Closes everything, also if a part of it fails. All connections are stopped first, so that they
   * wait for the device at the same time.
   */
  private void destroy() {
    Attempts attempts = new Attempts();
    attempts.attempt(ignoreRemoval);
    if (removed.get()) {
      // The thread that noticed the removal may not have come to all of them.
      for (Link link : links) {
        attempts.attempt(() -> link.closing().broken(deviceRemoved(link)));
      }
    }
    List<Link> open = new ArrayList<>(links);
    open.sort(Comparator.comparing(Link::queuePairNumber));
    for (Link link : open) {
      attempts.attempt(link.closing()::stop);
    }
    List<CompletableFuture<Void>> closes = new ArrayList<>();
    for (Link link : open) {
      closes.add(node.blocking().run(link.lifetime()::close));
    }
    for (CompletableFuture<Void> close : closes) {
      attempts.attempt(() -> BlockingWork.join(close));
    }
    pollers.close(attempts);
    attempts.attempt(domain::close);
    attempts.attempt(largeBuffers::close);
    attempts.finish();
  }

  @Override
  public void log(Level level, String message, @Nullable Throwable thrown) {
    node.log(level, message, thrown);
  }
}
