package org.rdma4j.misuse;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.rdma4j.cm.ChannelSet;
import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.DeviceOperation;
import org.rdma4j.verbs.MemoryAdvice;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionChange;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.MemoryWindow;
import org.rdma4j.verbs.MemoryWindowType;
import org.rdma4j.verbs.Port;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendOperation;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.SharedReceiveQueue;

/** The calls, each with a name and a weight that says how often it is made. */
final class Operations {
  /** A call with random arguments. */
  interface Call {
    void make(Draw draw) throws Exception;
  }

  record Operation(String name, Call call) {}

  private final NavigableMap<Integer, Operation> byWeight = new TreeMap<>();
  private final List<Description> descriptions = new ArrayList<>();
  private final AnyMethod anyMethod = new AnyMethod();
  private int weights;

  Operations() {
    devices();
    domains();
    regions();
    windows();
    slabs();
    completionQueues();
    sharedReceiveQueues();
    queuePairStates();
    queuePairs();
    sends();
    prepared();
    receives();
    completions();
    ConnectionOperations.addTo(this);
    add(300, "any method", anyMethod::call);
  }

  Operation any(Random random) {
    return byWeight.higherEntry(random.nextInt(weights)).getValue();
  }

  List<String> names() {
    return byWeight.values().stream().map(Operation::name).toList();
  }

  /** Returns the names of the methods that {@link AnyMethod} calls. */
  Set<String> methods() {
    return anyMethod.names();
  }

  /** Returns the methods of {@link AnyMethod} that were not called. */
  Set<String> notCalled(Set<String> called) {
    Set<String> names = anyMethod.names();
    names.removeAll(called);
    // There is one only if a random peer asks while a random handler is there.
    names.removeIf(
        name -> name.startsWith("IncomingRequest.") || name.startsWith("IncomingConnection."));
    return names;
  }

  /** Adds a call of the data path, which costs little. */
  void often(int weight, String name, Call call) {
    rarely(40 * weight, name, call);
  }

  void add(int weight, String name, Call call) {
    rarely(10 * weight, name, call);
  }

  /** Adds a call that closes many objects: by itself, or because it replaces one in a pool. */
  void rarely(int weight, String name, Call call) {
    weights += weight;
    byWeight.put(weights, new Operation(name, call));
  }

  private void devices() {
    rarely(
        8, "RdmaDevice.open", d -> d.add(d.objects.devices, RdmaDevice.open(d.objects.deviceName)));
    rarely(2, "RdmaDevice.open of none", d -> RdmaDevice.open("none"));
    rarely(2, "RdmaDevice.close", d -> d.any(d.objects.devices).close());
    rarely(2, "RdmaDevice.list", d -> RdmaDevice.list());
    rarely(5, "RdmaDevice.importDevice", d -> importDevice(d).close());
    add(5, "RdmaDevice.attributes", d -> d.any(d.objects.devices).attributes());
    add(5, "RdmaDevice.extendedAttributes", d -> d.any(d.objects.devices).extendedAttributes());
    add(5, "RdmaDevice.rawClock", d -> d.any(d.objects.devices).rawClock());
    add(5, "Port.attributes", d -> port(d).attributes());
    add(3, "Port.gids", d -> port(d).gids());
    add(3, "Port.preferredGid", d -> port(d).preferredGid());
    add(5, "Port.gid", d -> port(d).gid(d.mostly(0)));
    add(5, "Port.gidEntry", d -> port(d).gidEntry(d.few()));
    add(5, "Port.partitionKeyIndex", d -> port(d).partitionKeyIndex(d.number()));
    add(5, "Port.partitionKey", d -> port(d).partitionKey(d.mostly(0)));
    add(5, "RdmaDevice.handle", d -> d.any(d.objects.devices).handle());
    add(
        5,
        "RdmaDevice.supports",
        d -> d.any(d.objects.devices).supports(d.constant(DeviceOperation.class)));
    add(
        5,
        "RdmaDevice.awaitAsyncEvent",
        d -> d.any(d.objects.devices).awaitAsyncEvent(d.patience()));
    add(
        5,
        "RdmaDevice.allocateDeviceMemory",
        d -> d.any(d.objects.devices).allocateDeviceMemory(d.bytes(), d.mostly(3)).close());
  }

  private static RdmaDevice importDevice(Draw d) {
    return RdmaDevice.importDevice(
        d.yes() ? d.any(d.objects.devices).commandFileDescriptor() : d.mostly(0));
  }

  private static Port port(Draw d) {
    return d.any(d.objects.devices).port(d.mostly(1));
  }

  private void domains() {
    rarely(
        40,
        "RdmaDevice.allocateProtectionDomain",
        d -> d.add(d.objects.domains, d.any(d.objects.devices).allocateProtectionDomain()));
    rarely(2, "ProtectionDomain.close", d -> d.any(d.objects.domains).close());
    add(5, "ProtectionDomain.kernelHandle", d -> d.any(d.objects.domains).kernelHandle());
    add(5, "ProtectionDomain.handle", d -> d.any(d.objects.domains).handle());
    add(
        5,
        "RdmaDevice.importProtectionDomain",
        d -> d.any(d.objects.devices).importProtectionDomain(d.number()).close());
    add(
        5,
        "ProtectionDomain.register a DMA buffer",
        d ->
            d.any(d.objects.domains)
                .register(
                    MemoryRegionConfig.ofDmaBuffer(d.number(), d.bytes(), d.bytes())
                        .remoteAddress(d.bytes())
                        .access(d.access()))
                .close());
    add(
        5,
        "ProtectionDomain.register a null region",
        d -> d.any(d.objects.domains).register(MemoryRegionConfig.nullRegion()).close());
    add(
        5,
        "ProtectionDomain.importRegion",
        d -> d.any(d.objects.domains).importRegion(d.number(), d.bytes()).close());
    add(
        5,
        "ProtectionDomain.advise",
        d ->
            d.any(d.objects.domains)
                .advise(d.constant(MemoryAdvice.class), d.yes(), d.any(d.objects.slices)));
    add(
        30,
        "ProtectionDomain.createAddressHandle",
        d ->
            d.add(
                d.objects.handles,
                d.any(d.objects.domains).createAddressHandle(d.addressVector())));
    add(
        5,
        "ProtectionDomain.createAddressHandle of a completion",
        d ->
            d.add(
                d.objects.handles,
                d.any(d.objects.domains)
                    .createAddressHandle(
                        d.completions(), d.mostly(0), d.any(d.objects.memory), d.mostly(1))));
    add(5, "AddressHandle.handle", d -> d.any(d.objects.handles).handle());
    add(5, "AddressHandle.close", d -> d.any(d.objects.handles).close());
  }

  private void regions() {
    add(
        40,
        "ProtectionDomain.register",
        d ->
            d.add(
                d.objects.regions, d.any(d.objects.domains).register(d.regionBytes(), d.access())));
    add(10, "ProtectionDomain.register memory of the caller", Operations::registerOwn);
    add(
        10,
        "ProtectionDomain.register a slice",
        d ->
            d.add(
                d.objects.regions,
                d.any(d.objects.domains)
                    .register(MemoryRegionConfig.of(d.any(d.objects.slices)).access(d.access()))));
    add(
        5,
        "ProtectionDomain.register an address",
        d ->
            d.add(
                d.objects.regions,
                d.any(d.objects.domains)
                    .register(
                        MemoryRegionConfig.allocate(d.regionBytes())
                            .access(d.access())
                            .remoteAddress(d.bytes() << (d.yes() ? 12 : 0)))));
    add(2, "Arena.close", d -> d.any(d.objects.arenas).close());
    add(
        5,
        "MemoryRegion.reregister",
        d ->
            d.add(
                d.objects.regions,
                d.any(d.objects.regions)
                    .reregister(
                        d.yes()
                            ? MemoryRegionChange.none().access(d.access())
                            : MemoryRegionChange.none().domain(d.any(d.objects.domains)))));
    add(
        20,
        "MemoryRegion.segment",
        d -> d.add(d.objects.memory, d.any(d.objects.regions).segment()));
    add(
        5,
        "MemoryRegion.byteBuffer",
        d ->
            d.add(d.objects.memory, MemorySegment.ofBuffer(d.any(d.objects.regions).byteBuffer())));
    add(
        40,
        "MemoryRegion.slice",
        d -> d.add(d.objects.slices, d.any(d.objects.regions).slice(d.bytes() / 4, d.bytes() / 4)));
    add(5, "MemoryRegion.localKey", d -> d.any(d.objects.regions).localKey());
    add(5, "MemoryRegion.handle", d -> d.any(d.objects.regions).handle());
    add(5, "MemoryRegion.kernelHandle", d -> d.any(d.objects.regions).kernelHandle());
    add(3, "MemoryRegion.close", d -> d.any(d.objects.regions).close());
    add(10, "MemorySlice.segment", d -> d.add(d.objects.memory, d.any(d.objects.slices).segment()));
    add(
        5,
        "MemorySlice.slice",
        d -> d.add(d.objects.slices, d.any(d.objects.slices).slice(d.bytes() / 8, d.bytes() / 8)));
    often(
        30,
        "MemorySegment.set",
        d -> d.any(d.objects.memory).set(ValueLayout.JAVA_BYTE, d.bytes(), (byte) d.number()));
    add(20, "MemorySegment.fill", d -> d.any(d.objects.memory).fill((byte) d.number()));
  }

  private static void registerOwn(Draw d) throws Exception {
    boolean auto = d.yes();
    Arena arena = auto ? Arena.ofAuto() : Arena.ofShared();
    if (!auto) {
      d.add(d.objects.arenas, arena);
    }
    MemorySegment memory = d.oneIn(8) ? d.heap() : arena.allocate(1 + d.random.nextInt(8192));
    MemoryRegionConfig config =
        auto || d.oneIn(8) ? MemoryRegionConfig.of(memory) : MemoryRegionConfig.of(arena, memory);
    d.add(d.objects.regions, d.any(d.objects.domains).register(config.access(d.access())));
  }

  private void windows() {
    add(
        20,
        "ProtectionDomain.allocateMemoryWindow",
        d ->
            d.add(
                d.objects.windows,
                d.any(d.objects.domains)
                    .allocateMemoryWindow(
                        d.oneIn(4) ? MemoryWindowType.TYPE_2 : MemoryWindowType.TYPE_1)));
    add(
        30,
        "MemoryWindow.bind",
        d ->
            d.any(d.objects.windows)
                .bind(
                    d.any(d.objects.queuePairs),
                    d.number(),
                    d.any(d.objects.slices),
                    d.yes(),
                    d.remoteAccess()));
    add(
        10,
        "MemoryWindow.unbind",
        d -> d.any(d.objects.windows).unbind(d.any(d.objects.queuePairs), d.number(), d.yes()));
    add(5, "MemoryWindow.bindFailed", d -> d.any(d.objects.windows).bindFailed());
    add(5, "MemoryWindow.remoteKey", d -> d.any(d.objects.windows).remoteKey());
    add(5, "MemoryWindow.handle", d -> d.any(d.objects.windows).handle());
    add(2, "MemoryWindow.close", d -> d.any(d.objects.windows).close());
  }

  private void slabs() {
    add(
        2,
        "SlabPool.register",
        d ->
            d.add(
                d.objects.slabPools,
                SlabPool.register(
                    d.any(d.objects.domains),
                    d.oneIn(8) ? d.number() | Integer.MIN_VALUE : d.few(),
                    d.oneIn(8) ? Long.MAX_VALUE : 1 + d.random.nextInt(256),
                    d.access())));
    add(30, "SlabPool.acquire", d -> d.add(d.objects.slabs, d.any(d.objects.slabPools).acquire()));
    add(
        10,
        "SlabPool.acquire with a timeout",
        d -> d.add(d.objects.slabs, d.any(d.objects.slabPools).acquire(d.patience())));
    add(
        10,
        "SlabPool.allocator",
        d ->
            d.add(
                d.objects.memory,
                d.any(d.objects.slabPools).allocator().allocate(d.bytes() / 16, d.mostly(8))));
    add(
        5,
        "SlabPool.release a segment",
        d -> d.any(d.objects.slabPools).release(d.any(d.objects.memory)));
    add(
        5,
        "SlabPool.release a ticket",
        d -> d.any(d.objects.slabPools).release(d.any(d.objects.slabs).ticket()));
    add(5, "SlabPool.slab", d -> d.any(d.objects.slabPools).slab(d.number()));
    add(2, "SlabPool.close", d -> d.any(d.objects.slabPools).close());
    add(20, "Slab.segment", d -> d.any(d.objects.slabs).segment().fill((byte) 1));
    add(5, "Slab.byteBuffer", d -> d.any(d.objects.slabs).byteBuffer().clear());
    add(10, "Slab.slice", d -> d.add(d.objects.slices, d.any(d.objects.slabs).slice()));
    add(30, "Slab.release", d -> d.any(d.objects.slabs).release());
  }

  private void completionQueues() {
    rarely(
        12,
        "RdmaDevice.createCompletionChannel",
        d -> d.add(d.objects.channels, d.any(d.objects.devices).createCompletionChannel()));
    rarely(2, "CompletionChannel.close", d -> d.any(d.objects.channels).close());
    add(5, "CompletionChannel.fileDescriptor", d -> d.any(d.objects.channels).fileDescriptor());
    add(
        10,
        "CompletionChannel.awaitEvent",
        d -> d.any(d.objects.channels).awaitEvent(d.patience()));
    add(5, "CompletionChannel.awaitReady", d -> d.any(d.objects.channels).awaitReady(d.patience()));
    add(5, "CompletionChannel.pollEvent", d -> d.any(d.objects.channels).pollEvent());
    rarely(8, "ChannelSet.open", d -> d.add(d.objects.channelSets, ChannelSet.open()));
    rarely(2, "ChannelSet.close", d -> d.any(d.objects.channelSets).close());
    add(5, "ChannelSet.add", d -> d.any(d.objects.channelSets).add(d.any(d.objects.channels)));
    add(5, "ChannelSet.awaitReady", d -> d.any(d.objects.channelSets).awaitReady(d.patience()));
    add(5, "ChannelSet.wakeup", d -> d.any(d.objects.channelSets).wakeup());
    rarely(
        80,
        "RdmaDevice.createCompletionQueue",
        d ->
            d.add(
                d.objects.queues,
                d.any(d.objects.devices).createCompletionQueue(d.completionQueueConfig())));
    rarely(4, "CompletionQueue.close", d -> d.any(d.objects.queues).close());
    add(5, "CompletionQueue.capacity", d -> d.any(d.objects.queues).capacity());
    add(5, "CompletionQueue.handle", d -> d.any(d.objects.queues).handle());
    add(5, "CompletionQueue.moderate", d -> d.any(d.objects.queues).moderate(d.few(), d.number()));
    add(
        10,
        "CompletionQueue.resize",
        d -> d.any(d.objects.queues).resize(d.oneIn(8) ? d.number() & 0x8000_ffff : 8 * d.few()));
    add(
        20,
        "CompletionQueue.requestNotification",
        d -> d.any(d.objects.queues).requestNotification(d.yes()));
    add(
        30,
        "CompletionQueue.completions",
        d -> d.add(d.ownCompletions, d.any(d.objects.queues).completions(d.mostly(d.few()))));
  }

  private void sharedReceiveQueues() {
    rarely(
        40,
        "ProtectionDomain.createSharedReceiveQueue",
        d ->
            d.add(
                d.objects.sharedReceiveQueues,
                d.any(d.objects.domains).createSharedReceiveQueue(d.depth(), d.few() / 4)));
    rarely(4, "SharedReceiveQueue.close", d -> shared(d).close());
    add(5, "SharedReceiveQueue.query", d -> shared(d).query());
    add(5, "SharedReceiveQueue.handle", d -> shared(d).handle());
    add(5, "SharedReceiveQueue.limit", d -> shared(d).limit(d.mostly(d.few())));
    add(5, "SharedReceiveQueue.resize", d -> shared(d).resize(d.depth()));
    add(
        20,
        "SharedReceiveQueue.receiveRequests",
        d -> d.add(d.ownReceives, shared(d).receiveRequests(d.mostly(d.few()))));
  }

  private static SharedReceiveQueue shared(Draw d) {
    return d.any(d.objects.sharedReceiveQueues);
  }

  private void queuePairStates() {
    add(
        10,
        "QueuePair.initialize",
        d -> d.any(d.objects.queuePairs).initialize(d.mostly(1), d.mostly(0), d.remoteAccess()));
    add(
        5,
        "QueuePair.initializeDatagrams",
        d -> d.any(d.objects.queuePairs).initializeDatagrams(d.mostly(1), d.mostly(0), 1));
    add(
        10,
        "QueuePair.readyToReceive",
        d -> d.any(d.objects.queuePairs).readyToReceive(d.path(d.any(d.objects.queuePairs))));
    add(
        10,
        "QueuePair.readyToSend",
        d -> d.any(d.objects.queuePairs).readyToSend(d.path(d.any(d.objects.queuePairs))));
    add(80, "QueuePair.connect", Operations::connect);
    add(
        40,
        "QueuePair.startDatagrams",
        d -> {
          QueuePair queuePair = d.any(d.objects.queuePairs);
          if (d.oneIn(4)) {
            queuePair.startDatagrams(d.mostly(1), d.mostly(0), 1, d.few());
          } else {
            queuePair.startDatagrams(d.mostly(1), d.mostly(0), 1);
          }
        });
    add(5, "QueuePair.drainSendQueue", d -> d.any(d.objects.queuePairs).drainSendQueue());
    add(5, "QueuePair.resumeSendQueue", d -> d.any(d.objects.queuePairs).resumeSendQueue());
    add(5, "QueuePair.toError", d -> d.any(d.objects.queuePairs).toError());
    add(20, "QueuePair.reset", d -> d.any(d.objects.queuePairs).reset());
    add(20, "QueuePair.modify", d -> d.any(d.objects.queuePairs).modify(d.change()));
  }

  /** Connects two queue pairs in both directions, after a reset. */
  private static void connect(Draw d) {
    QueuePair one = d.any(d.objects.queuePairs);
    QueuePair other = d.any(d.objects.queuePairs);
    if (!d.oneIn(8)) {
      one.reset();
      other.reset();
    }
    one.connect(d.path(other));
    if (one != other) {
      other.connect(d.path(one));
    }
  }

  private void queuePairs() {
    add(
        80,
        "ProtectionDomain.createQueuePair",
        d ->
            d.add(
                d.objects.queuePairs,
                d.any(d.objects.domains).createQueuePair(d.queuePairConfig())));
    add(1, "QueuePair.close", d -> d.any(d.objects.queuePairs).close());
    add(10, "QueuePair.query", d -> d.any(d.objects.queuePairs).query());
    add(5, "QueuePair.handle", d -> d.any(d.objects.queuePairs).handle());
    add(5, "QueuePair.address", d -> d.any(d.objects.queuePairs).address(d.mostly(1), d.mostly(1)));
    add(
        5,
        "QueuePair.isDataInOrder",
        d -> d.any(d.objects.queuePairs).isDataInOrder(d.constant(SendOperation.class)));
    add(
        5,
        "QueuePair.attachMulticast",
        d -> d.any(d.objects.queuePairs).attachMulticast(d.group(), d.mostly(0)));
    add(
        5,
        "QueuePair.detachMulticast",
        d -> d.any(d.objects.queuePairs).detachMulticast(d.group(), d.mostly(0)));
    add(
        60,
        "QueuePair.sendRequests",
        d -> d.add(d.ownSends, d.any(d.objects.queuePairs).sendRequests(d.mostly(d.few()))));
    add(
        40,
        "QueuePair.receiveRequests",
        d -> d.add(d.ownReceives, d.any(d.objects.queuePairs).receiveRequests(d.mostly(d.few()))));
  }

  private void sends() {
    describe("send", (sends, d) -> sends.send());
    describe("sendWithImmediate", (sends, d) -> sends.sendWithImmediate(d.number()));
    describe("sendWithInvalidate", (sends, d) -> sends.sendWithInvalidate(invalidated(d)));
    describe("write", (sends, d) -> sends.write(address(d), key(d)));
    describe("writeWithImmediate", (sends, d) -> sends.writeWithImmediate(address(d), key(d), 1));
    describe("read", (sends, d) -> sends.read(address(d), key(d)));
    describe("compareAndSwap", (sends, d) -> sends.compareAndSwap(address(d), key(d), 0, 1));
    describe("fetchAndAdd", (sends, d) -> sends.fetchAndAdd(address(d), key(d), 1));
    describe("invalidate", (sends, d) -> sends.invalidate(invalidated(d)));
    describe(
        "to",
        (sends, d) ->
            sends.to(d.any(d.objects.handles), d.any(d.objects.queuePairs).number(), d.mostly(1)));
    describe(
        "bind",
        (sends, d) ->
            sends.bind(d.any(d.objects.windows), d.any(d.objects.slices), d.remoteAccess()));
    describe("signaled", (sends, d) -> sends.signaled());
    describe("solicited", (sends, d) -> sends.solicited());
    describe("fenced", (sends, d) -> sends.fenced());
    describe("checksummed", (sends, d) -> sends.checksummed());
    describe("from", (sends, d) -> sends.from(region(d), d.bytes() / 4, d.bytes() / 4));
    describe("from a slice", (sends, d) -> sends.from(d.any(d.objects.slices)));
    describe("into", (sends, d) -> sends.into(region(d), 0, 8));
    describe("inline", (sends, d) -> sends.inline(d.heap(), 0, d.mostly(d.few())));
    often(40, "SendRequests.add", d -> d.sends().add(d.number()));
    often(100, "SendRequests.post", d -> d.sends().post());
    often(10, "SendRequests.clear", d -> d.sends().clear());
    often(5, "SendRequests.size", d -> d.sends().size());
    often(5, "SendRequests.release", d -> d.sends().release());
    often(300, "SendRequests, a chain", this::chain);
    describe(
        "inline of a region",
        (sends, d) -> sends.inline(region(d), d.bytes() / 4, d.mostly(d.few())));
  }

  private void prepared() {
    often(60, "SendRequests.prepare", d -> d.add(d.ownPreparedSends, d.sends().prepare()));
    often(30, "ReceiveRequests.prepare", d -> d.add(d.ownPreparedReceives, d.receives().prepare()));
    often(100, "PreparedSends.post", d -> d.preparedSends().post());
    often(20, "PreparedSends.post some", d -> d.preparedSends().post(0, d.few() / 4));
    often(20, "PreparedSends.offset", d -> d.preparedSends().offset(index(d), d.bytes()));
    often(10, "PreparedSends.length", d -> d.preparedSends().length(index(d), d.bytes()));
    often(10, "PreparedSends.remoteBytes", d -> d.preparedSends().remoteBytes(index(d), d.bytes()));
    often(
        10, "PreparedSends.remoteOffset", d -> d.preparedSends().remoteOffset(index(d), d.bytes()));
    often(40, "PreparedReceives.post", d -> d.preparedReceives().post());
    often(40, "PreparedReceives.repost", d -> d.preparedReceives().repost(d.mostly(index(d))));
    often(10, "PreparedReceives.offset", d -> d.preparedReceives().offset(index(d), d.bytes()));
  }

  private static int index(Draw d) {
    return d.mostly(d.random.nextInt(3));
  }

  /** A call that describes the request that was added last. */
  private interface Description {
    void of(SendRequests sends, Draw draw);
  }

  private void describe(String name, Description description) {
    descriptions.add(description);
    often(10, "SendRequests." + name, d -> description.of(d.sends(), d));
  }

  private void chain(Draw d) {
    SendRequests sends = d.sends();
    for (int i = d.random.nextInt(4); i >= 0; i--) {
      sends.add(d.number());
      d.alsoMade++;
      for (int j = d.random.nextInt(4); j >= 0; j--) {
        d.alsoMade++;
        try {
          descriptions.get(d.random.nextInt(descriptions.size())).of(sends, d);
        } catch (IllegalArgumentException | IllegalStateException | IndexOutOfBoundsException no) {
          // The request does not change.
        }
      }
    }
    d.alsoMade++;
    sends.signaled().post();
  }

  private static MemoryRegion region(Draw d) {
    return d.any(d.objects.regions);
  }

  private static long address(Draw d) {
    return d.oneIn(8) ? d.bytes() : region(d).remoteAddress();
  }

  /**
   * Returns a key, but not one of a window of type 2: soft-RoCE crashes the kernel if it is not
   * bound.
   */
  private static int invalidated(Draw d) {
    MemoryWindow window = d.any(d.objects.windows);
    return window.type() == MemoryWindowType.TYPE_1 && d.yes()
        ? window.remoteKey()
        : region(d).remoteKey();
  }

  private static int key(Draw d) {
    return d.oneIn(4) ? d.any(d.objects.windows).remoteKey() : region(d).remoteKey();
  }

  private void receives() {
    often(40, "ReceiveRequests.add", d -> d.receives().add(d.number()));
    often(
        40,
        "ReceiveRequests.into",
        d -> d.receives().into(region(d), d.bytes() / 4, d.bytes() / 4));
    often(10, "ReceiveRequests.into a slice", d -> d.receives().into(d.any(d.objects.slices)));
    often(40, "ReceiveRequests.post", d -> d.receives().post());
    often(10, "ReceiveRequests.clear", d -> d.receives().clear());
    often(20, "ReceiveRequests.release", d -> d.receives().release());
    often(
        100,
        "ReceiveRequests, one",
        d -> {
          d.receives().add(d.number()).into(region(d), 0, region(d).byteSize()).post();
          d.alsoMade += 3;
        });
  }

  private void completions() {
    often(200, "Completions.poll", d -> d.completions().poll());
    add(5, "Completions.pollBeforeWait", d -> d.completions().pollBeforeWait());
    often(20, "Completions.release", d -> d.completions().release());
    often(20, "Completions.requireSuccess", d -> d.completions().requireSuccess(d.mostly(0)));
    often(20, "Completions, all fields", d -> read(d, d.completions(), d.mostly(0)));
    often(5, "Completions.timestamp", d -> d.completions().timestamp(d.mostly(0)));
  }

  private static void read(Draw d, Completions completions, int i) {
    completions.workRequestId(i);
    completions.status(i);
    completions.opcode(i);
    completions.vendorError(i);
    completions.byteLength(i);
    completions.immediate(i);
    completions.queuePairNumber(i);
    completions.sourceQueuePairNumber(i);
    completions.hasGlobalRoutingHeader(i);
    completions.invalidatedKey(i);
    completions.isChecksumOk(i);
    completions.partitionKeyIndex(i);
    completions.sourceLid(i);
    completions.serviceLevel(i);
    completions.destinationLidPathBits(i);
    completions.size();
    d.alsoMade += 15;
  }
}
