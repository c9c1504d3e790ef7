package org.rdma4j.misuse;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.cm.ChannelSet;
import org.rdma4j.memory.Slab;
import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionField;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.Loopback;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.MemoryWindow;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairCapabilities;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendOperation;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.SharedReceiveQueue;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.address.StaticRate;
import org.rdma4j.verbs.attribute.Mtu;

/** Draws the objects and the arguments of the calls of one thread. */
final class Draw {
  /** The objects that all threads share. */
  static final class Objects {
    final String deviceName;
    final Gid gid;
    final int gidIndex;
    final boolean isEfa;
    final Pool<RdmaDevice> devices = new Pool<>(2);
    final Pool<ProtectionDomain> domains = new Pool<>(3);
    final Pool<CompletionChannel> channels = new Pool<>(3);
    final Pool<ChannelSet> channelSets = new Pool<>(2);
    final Pool<CompletionQueue> queues = new Pool<>(6);
    final Pool<SharedReceiveQueue> sharedReceiveQueues = new Pool<>(3);
    final Pool<QueuePair> queuePairs = new Pool<>(10);
    final Pool<AddressHandle> handles = new Pool<>(3);
    final Pool<MemoryRegion> regions = new Pool<>(8);
    final Pool<MemorySlice> slices = new Pool<>(8);
    final Pool<MemorySegment> memory = new Pool<>(8);
    final Pool<Arena> arenas = new Pool<>(3);
    final Pool<MemoryWindow> windows = new Pool<>(4);
    final Pool<SlabPool> slabPools = new Pool<>(2);
    final Pool<Slab> slabs = new Pool<>(8);

    final ConnectionDraw connections = new ConnectionDraw();

    /** The methods that {@link AnyMethod} has called. */
    final Set<String> called = ConcurrentHashMap.newKeySet();

    /** The draws of all threads. */
    final Pool<Draw> draws = new Pool<>(8);

    Objects(RdmaDevice device) {
      deviceName = device.info().name();
      isEfa = deviceName.startsWith("efa");
      // Not just any GID: another test may have added an address that it will remove soon.
      gidIndex = Loopback.gidIndex(device);
      gid = device.port(1).gid(gidIndex);
    }
  }

  private static final int[] NUMBERS = {
    0, 1, 2, 7, 8, 64, 255, 4096, 0x1_0000, 0xff_ffff, -1, Integer.MAX_VALUE, Integer.MIN_VALUE
  };

  private static final int SELDOM = 32;

  final Objects objects;
  final Random random;
  final ConnectionDraw connections;
  final Pool<SendRequests> ownSends = new Pool<>(6);
  final Pool<ReceiveRequests> ownReceives = new Pool<>(6);
  final Pool<PreparedSends> ownPreparedSends = new Pool<>(6);
  final Pool<PreparedReceives> ownPreparedReceives = new Pool<>(6);
  final Pool<Completions> ownCompletions = new Pool<>(6);

  /** Whether a null was among the arguments of the call. */
  boolean gaveNull;

  /** The number of calls within one operation, beyond the first. */
  int alsoMade;

  Draw(Objects objects, Random random) throws Exception {
    this.objects = objects;
    this.random = random;
    this.connections = objects.connections;
    add(objects.draws, this);
  }

  SendRequests sends() {
    return any(ownerOfRequests().ownSends);
  }

  ReceiveRequests receives() {
    return any(ownerOfRequests().ownReceives);
  }

  PreparedSends preparedSends() {
    return any(ownerOfRequests().ownPreparedSends);
  }

  PreparedReceives preparedReceives() {
    return any(ownerOfRequests().ownPreparedReceives);
  }

  Completions completions() {
    return any(ownerOfRequests().ownCompletions);
  }

  /** Returns this, or sometimes the draw of another thread, whose requests must be refused. */
  private Draw ownerOfRequests() {
    return oneIn(8) ? any(objects.draws) : this;
  }

  <T> T any(Pool<T> pool) {
    return pool.any(random);
  }

  <T> void add(Pool<T> pool, T object) throws Exception {
    pool.add(random, object);
  }

  /** Returns the usual value most of the time, otherwise any number. */
  int mostly(int usual) {
    return oneIn(SELDOM) ? number() : usual;
  }

  boolean oneIn(int times) {
    return random.nextInt(times) == 0;
  }

  /** Returns any number, small or large. */
  int number() {
    return oneIn(4) ? random.nextInt() : NUMBERS[random.nextInt(NUMBERS.length)];
  }

  /** Returns a number from 1 to 16. */
  int few() {
    return 1 + random.nextInt(16);
  }

  /** Returns a length or an offset, which is within the memory most of the time. */
  long bytes() {
    return oneIn(SELDOM) ? (long) number() * few() : random.nextInt(4096);
  }

  boolean yes() {
    return random.nextBoolean();
  }

  Duration patience() {
    return oneIn(50) ? Duration.ofMillis(-1) : Duration.ofMillis(random.nextInt(2));
  }

  <E extends Enum<E>> E constant(Class<E> type) {
    E[] constants = type.getEnumConstants();
    return constants[random.nextInt(constants.length)];
  }

  private <E extends Enum<E>> List<E> some(Class<E> type, int max) {
    List<E> some = new ArrayList<>();
    for (int i = random.nextInt(max + 1); i > 0; i--) {
      some.add(constant(type));
    }
    return some;
  }

  AccessFlag[] access() {
    if (oneIn(4)) {
      return some(AccessFlag.class, 3).toArray(AccessFlag[]::new);
    }
    return new AccessFlag[] {
      AccessFlag.LOCAL_WRITE,
      AccessFlag.REMOTE_READ,
      AccessFlag.REMOTE_WRITE,
      AccessFlag.REMOTE_ATOMIC,
      AccessFlag.MEMORY_WINDOW_BIND
    };
  }

  AccessFlag[] remoteAccess() {
    return oneIn(4) ? access() : new AccessFlag[] {AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE};
  }

  /** Returns a short length that can be registered, or a length that must be refused. */
  long regionBytes() {
    return switch (random.nextInt(20)) {
      case 0 -> number() & Long.MIN_VALUE;
      case 1 -> Long.MAX_VALUE - random.nextInt(4096);
      case 2 -> 0;
      default -> 1 + random.nextInt(1 << 14);
    };
  }

  MemorySegment heap() {
    return MemorySegment.ofArray(new byte[random.nextInt(200)]);
  }

  CompletionQueueConfig completionQueueConfig() {
    CompletionQueueConfig config =
        CompletionQueueConfig.of(oneIn(SELDOM) ? number() & 0x8000_ffff : 16 * few())
            .vector(oneIn(SELDOM) ? number() : 0);
    if (objects.isEfa ? oneIn(SELDOM) : yes()) {
      config = config.channel(any(objects.channels));
    }
    return oneIn(3) ? config.extended(completionFields()).singleThreaded(yes()) : config;
  }

  private CompletionField[] completionFields() {
    return objects.isEfa && !oneIn(4)
        ? new CompletionField[] {
          CompletionField.SOURCE_GID, CompletionField.SOURCE_LID, CompletionField.FLAGS
        }
        : some(CompletionField.class, 3).toArray(CompletionField[]::new);
  }

  QueuePairConfig queuePairConfig() {
    QueuePairType type = oneIn(SELDOM) ? constant(QueuePairType.class) : connectionOrDatagrams();
    CompletionQueue queue = any(objects.queues);
    QueuePairConfig config =
        QueuePairConfig.of(type, queue, oneIn(4) ? any(objects.queues) : queue)
            .sendDepth(depth())
            .receiveDepth(depth())
            .sendSges(oneIn(SELDOM) ? number() : random.nextInt(objects.isEfa ? 3 : 4))
            .receiveSges(oneIn(SELDOM) ? number() : random.nextInt(objects.isEfa ? 3 : 4))
            .inlineBytes(oneIn(SELDOM) ? number() : random.nextInt(objects.isEfa ? 33 : 100))
            .signalAll(objects.isEfa != oneIn(4))
            .ignoreOverrun(!oneIn(4));
    if (oneIn(objects.isEfa ? SELDOM : 4)) {
      config = config.sharedReceiveQueue(any(objects.sharedReceiveQueues));
    }
    return oneIn(3) || type == QueuePairType.SCALABLE_RELIABLE_DATAGRAM
        ? config.extended(
            oneIn(4)
                ? some(SendOperation.class, 3).toArray(SendOperation[]::new)
                : operations(type))
        : config;
  }

  private QueuePairType connectionOrDatagrams() {
    if (objects.isEfa && !oneIn(SELDOM)) {
      return oneIn(4)
          ? QueuePairType.UNRELIABLE_DATAGRAM
          : QueuePairType.SCALABLE_RELIABLE_DATAGRAM;
    }
    return switch (random.nextInt(6)) {
      case 0 -> QueuePairType.UNRELIABLE_CONNECTION;
      case 1 -> QueuePairType.UNRELIABLE_DATAGRAM;
      default -> QueuePairType.RELIABLE_CONNECTION;
    };
  }

  /** Not flushes: soft-RoCE would refuse to create the queue pair. */
  private static SendOperation[] operations(QueuePairType type) {
    if (type == QueuePairType.SCALABLE_RELIABLE_DATAGRAM) {
      return new SendOperation[] {SendOperation.SEND, SendOperation.READ};
    }
    return type == QueuePairType.RELIABLE_CONNECTION
        ? EnumSet.complementOf(EnumSet.of(SendOperation.FLUSH)).toArray(SendOperation[]::new)
        : new SendOperation[] {SendOperation.SEND, SendOperation.SEND_WITH_IMMEDIATE};
  }

  /** Returns a depth. A valid one is small, so that queues do not use all the memory. */
  int depth() {
    return oneIn(SELDOM) ? number() | Integer.MIN_VALUE : 16;
  }

  PathConfig path(QueuePair peer) {
    PathConfig path =
        PathConfig.to(
                new QueuePairAddress(
                    0, mostly(peer.number()), mostly(peer.sequenceNumber()), objects.gid))
            .gidIndex(mostly(objects.gidIndex))
            .port(mostly(1))
            .mtu(constant(Mtu.class))
            .access(oneIn(4) ? new AccessFlag[0] : remoteAccess())
            .minimumRnrTimer(1)
            .timeout(8 + random.nextInt(5))
            .retries(random.nextInt(3))
            .rnrRetries(random.nextInt(8));
    return oneIn(SELDOM)
        ? path.reads(number()).remoteReads(number()).partitionKeyIndex(number())
        : path;
  }

  AddressVector addressVector() {
    return oneIn(8)
        ? new AddressVector(mostly(1), number(), few(), number(), constant(StaticRate.class), null)
        : AddressVector.to(objects.gid, mostly(1), mostly(objects.gidIndex));
  }

  Gid group() {
    return oneIn(4) ? objects.gid : new Gid(0, 0xffff_ef00_0200L + few());
  }

  QueuePairChange change() {
    QueuePairChange change = QueuePairChange.none();
    for (int i = random.nextInt(4); i >= 0; i--) {
      change =
          switch (random.nextInt(20)) {
            case 0 -> change.state(constant(QueuePairState.class));
            case 1 -> change.currentState(constant(QueuePairState.class));
            case 2 -> change.port(mostly(1));
            case 3 -> change.partitionKeyIndex(mostly(0));
            case 4 -> change.access(List.of(access()));
            case 5 -> change.queueKey(number());
            case 6 -> change.addressVector(addressVector());
            case 7 -> change.mtu(constant(Mtu.class));
            case 8 -> change.timeout(few());
            case 9 -> change.retries(few());
            case 10 -> change.rnrRetries(few());
            case 11 -> change.receiveSequenceNumber(number());
            case 12 -> change.sendSequenceNumber(number());
            case 13 -> change.reads(number());
            case 14 -> change.remoteReads(number());
            case 15 -> change.minimumRnrTimer(few());
            case 16 -> change.remoteQueuePairNumber(number());
            case 17 -> change.notifyWhenDrained(yes());
            case 18 -> change.alternatePath(addressVector(), few(), few());
            default ->
                change.capabilities(new QueuePairCapabilities(few(), few(), few(), few(), few()));
          };
    }
    return change;
  }
}
