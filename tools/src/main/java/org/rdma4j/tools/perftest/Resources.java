package org.rdma4j.tools.perftest;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/** The memory and the completion queues of a test. */
final class Resources implements AutoCloseable {
  private static final long SEED = 20220101;

  /** The vendors for whose devices perftest makes short messages inline by default. */
  private static final Set<Integer> INLINING_VENDORS =
      Set.of(0x02c9, 0x119f, 0x1425, 0x8086, 0x14e4, 0x1077, 0x1d0f, 0x10df);

  private static final int INLINE_WRITE = 220;
  private static final int INLINE_SEND = 236;
  private static final int INLINE_DATAGRAM = 188;

  private final LocalPort port;
  private final Settings settings;
  private final Layout layout;
  private final int inlineBytes;
  private final int reads;
  private final ProtectionDomain domain;
  private final @Nullable CompletionChannel events;
  private final CompletionQueue sendQueue;
  private final CompletionQueue receiveQueue;
  private final MemoryRegion memory;
  private final Deque<Runnable> parts;

  Resources(LocalPort port, Settings settings, Layout layout) {
    this.port = port;
    this.settings = settings;
    this.layout = layout;
    DeviceAttributes device = port.device().attributes();
    inlineBytes = inlineBytes(settings, device);
    reads = reads(settings, device);
    Deque<Runnable> opened = new ArrayDeque<>();
    try {
      domain = port.device().allocateProtectionDomain();
      opened.push(domain::close);
      events = settings.events() ? port.device().createCompletionChannel() : null;
      if (events != null) {
        opened.push(events::close);
      }
      int sends = settings.sendDepth() * settings.queuePairs();
      int receives = settings.receiveDepth() * settings.queuePairs();
      boolean apart = settings.program().verb() == Verb.SEND;
      sendQueue = createQueue(apart ? sends : sends + receives, opened);
      receiveQueue = apart ? createQueue(receives, opened) : sendQueue;
      memory = domain.register(layout.bytes(), access());
    } catch (RuntimeException failed) {
      opened.forEach(Runnable::run);
      throw failed;
    }
    parts = opened;
    fill();
  }

  /** Creates a completion queue that raises an event for its first completion. */
  private CompletionQueue createQueue(int entries, Deque<Runnable> opened) {
    CompletionQueue queue = port.device().createCompletionQueue(entries, events);
    opened.push(queue::close);
    if (events != null) {
      queue.requestNotification(false);
    }
    return queue;
  }

  private AccessFlag[] access() {
    // Its last byte must not arrive before the others.
    Stream<AccessFlag> relaxed =
        isRelaxed() ? Stream.of(AccessFlag.RELAXED_ORDERING) : Stream.empty();
    return Stream.of(
            Stream.of(AccessFlag.LOCAL_WRITE),
            Stream.of(settings.program().verb().access()),
            relaxed)
        .flatMap(each -> each)
        .toArray(AccessFlag[]::new);
  }

  /** A message of write-lat has arrived when its last byte has, so the others must not be late. */
  boolean isRelaxed() {
    return settings.program() != Program.WRITE_LAT;
  }

  private void fill() {
    if (settings.program() == Program.WRITE_LAT) {
      return;
    }
    byte[] random = new byte[1 << 16];
    new Random(SEED).nextBytes(random);
    for (long at = 0; at < memory.byteSize(); at += random.length) {
      long length = Math.min(random.length, memory.byteSize() - at);
      MemorySegment.copy(MemorySegment.ofArray(random), 0, memory.segment(), at, length);
    }
  }

  private static int inlineBytes(Settings settings, DeviceAttributes device) {
    if (settings.program().verb().fetches()) {
      return 0;
    }
    if (settings.inlineBytes() >= 0) {
      return settings.inlineBytes();
    }
    if (settings.program().isBandwidth() || !INLINING_VENDORS.contains(device.vendorId())) {
      return 0;
    }
    return settings.program().verb() == Verb.WRITE
        ? INLINE_WRITE
        : settings.transport() == Transport.UD ? INLINE_DATAGRAM : INLINE_SEND;
  }

  private static int reads(Settings settings, DeviceAttributes device) {
    if (!settings.program().verb().fetches()) {
      return 1;
    }
    int max = Math.min(device.maxRemoteReads(), device.maxReads());
    if (settings.reads() > max) {
      throw new Failure(
          "-o is %d, must be at most %d, the maximum of the device"
              .formatted(settings.reads(), max));
    }
    return settings.reads() > 0 ? settings.reads() : max;
  }

  LocalPort port() {
    return port;
  }

  String deviceName() {
    return port.device().info().name();
  }

  ProtectionDomain domain() {
    return domain;
  }

  Layout layout() {
    return layout;
  }

  MemoryRegion memory() {
    return memory;
  }

  /** Returns the channel of the completion queues, or null if the loops poll. */
  @Nullable CompletionChannel events() {
    return events;
  }

  /** Returns the length up to which messages are inline. */
  int inlineBytes() {
    return inlineBytes;
  }

  /** Returns the number of reads and atomic operations that may be outstanding. */
  int reads() {
    return reads;
  }

  /** Returns a new batch of up to max completions of sends, reads, writes and atomic operations. */
  Completions sendCompletions(int max) {
    return sendQueue.completions(Math.min(max, sendQueue.capacity()));
  }

  /** Returns a new batch of up to max completions of receives. */
  Completions receiveCompletions(int max) {
    return receiveQueue.completions(Math.min(max, receiveQueue.capacity()));
  }

  /** Returns the description of each queue pair. */
  QueuePairConfig queuePairConfig() {
    return QueuePairConfig.of(settings.transport().type(), sendQueue, receiveQueue)
        .sendDepth(settings.sendDepth())
        .receiveDepth(settings.receiveDepth())
        .inlineBytes(inlineBytes);
  }

  /** Closes the domain with its queue pairs and regions, then the queues. */
  @Override
  public void close() {
    domain.close();
    parts.forEach(Runnable::run);
  }
}
