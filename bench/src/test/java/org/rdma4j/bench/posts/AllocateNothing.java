package org.rdma4j.bench.posts;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/**
 * Prints the hot methods that allocate in every round of calls, with the bytes of the last round.
 * How many rounds pass before the compiler is done depends on how busy the machine is, so a method
 * passes with its first round that allocates nothing.
 */
final class AllocateNothing {
  private static final int CALLS = 100_000;
  private static final int ROUNDS = 100;
  private static final int CHAIN = 8;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final SelfConnectedQueuePair adapter;
  private final boolean extended;
  private final MemoryRegion region;
  private final SendRequests sends;
  private final ReceiveRequests receives;
  private final Completions completions;
  private final SlabPool pool;
  private final MemorySegment bytes =
      MemorySegment.ofArray(new byte[SelfConnectedQueuePair.MESSAGE]);

  private AllocateNothing(SelfConnectedQueuePair adapter, boolean extended) {
    this.adapter = adapter;
    this.extended = extended;
    region = adapter.region();
    sends = adapter.queuePair().sendRequests(CHAIN);
    receives = adapter.queuePair().receiveRequests(1);
    completions = adapter.completionQueue().completions(CHAIN);
    pool = SlabPool.register(adapter.domain(), CHAIN, SelfConnectedQueuePair.MESSAGE);
  }

  /** A call, which returns a value that shows that it did something. */
  private interface Call {
    long call(int i);
  }

  /** Takes the style of calls, the queues, and "sends" or "receives". */
  public static void main(String[] arguments) {
    QueuesOfJava queues = QueuesOfJava.valueOf(arguments[1]);
    try (SelfConnectedQueuePair adapter =
        new SelfConnectedQueuePair(CallStyle.valueOf(arguments[0]), queues)) {
      AllocateNothing calls = new AllocateNothing(adapter, queues.areExtended());
      if (arguments[2].equals("receives")) {
        calls.measureReceives();
      } else {
        calls.measureSends();
      }
    }
    System.out.println("measured");
  }

  /** Each receive takes a message, or the queue would be full. */
  private void measureReceives() {
    PreparedSends send =
        sends.add(0).from(region, 0, SelfConnectedQueuePair.MESSAGE).signaled().prepare();
    PreparedReceives ring =
        receives.add(0).into(region, 0, SelfConnectedQueuePair.MESSAGE).prepare();
    measure(
        "receive",
        i -> {
          receives.add(i).into(region, 0, SelfConnectedQueuePair.MESSAGE).post();
          send.post();
          return reap(2);
        });
    measure(
        "repost",
        i -> {
          ring.id(0, i).repost(1);
          send.post();
          return reap(2);
        });
  }

  private void measureSends() {
    measure("send", i -> one(sends.add(i).send().from(region, 0, SelfConnectedQueuePair.MESSAGE)));
    measure("chain", this::chain);
    PreparedSends prepared =
        sends.add(0).from(region, 0, SelfConnectedQueuePair.MESSAGE).signaled().prepare();
    measure("prepared", i -> reap(prepared.id(0, i).offset(0, 0).length(0, 1 + i % 8).post()));
    measure("acquire and release", this::acquireAndRelease);
    if (extended) {
      // The extended queue pair is created for sends only.
      return;
    }
    long address = region.remoteAddress();
    int key = region.remoteKey();
    measure(
        "inline of a region",
        i -> one(sends.add(i).inline(region, 0, SelfConnectedQueuePair.MESSAGE)));
    PreparedSends write = piece(sends.add(0).write(address, key)).signaled().prepare();
    measure("prepared write", i -> reap(write.remoteOffset(0, 0).signaled(0, true).post()));
    measure("inline", i -> one(sends.add(i).inline(bytes, 0, SelfConnectedQueuePair.MESSAGE)));
    measure("solicited, fenced", i -> one(piece(sends.add(i).solicited().fenced())));
    measure("send with immediate", i -> one(piece(sends.add(i).sendWithImmediate(i))));
    measure("send with invalidate", i -> one(piece(sends.add(i).sendWithInvalidate(key))));
    measure("write", i -> one(piece(sends.add(i).write(address, key))));
    measure(
        "write with immediate", i -> one(piece(sends.add(i).writeWithImmediate(address, key, i))));
    measure("read", i -> one(piece(sends.add(i).read(address, key))));
    measure(
        "compare and swap",
        i -> one(sends.add(i).compareAndSwap(address, key, i, 1).into(region, 0, Long.BYTES)));
    measure(
        "fetch and add",
        i -> one(sends.add(i).fetchAndAdd(address, key, i).into(region, 0, Long.BYTES)));
  }

  private void measure(String name, Call call) {
    long allocated = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      long used = repeat(call);
      allocated = threads.getCurrentThreadAllocatedBytes() - before;
      if (used == 0) {
        throw new IllegalStateException(name + " did nothing");
      }
      if (allocated == 0) {
        return;
      }
    }
    System.out.println(name + ": " + allocated);
  }

  private static long repeat(Call call) {
    long sum = 0;
    for (int i = 0; i < CALLS; i++) {
      sum += call.call(i);
    }
    return sum;
  }

  private SendRequests piece(SendRequests request) {
    return request.from(region, 0, SelfConnectedQueuePair.MESSAGE);
  }

  /** Posts the request and reads its completion. */
  private long one(SendRequests request) {
    request.signaled();
    return post(1);
  }

  private long chain(int i) {
    for (int j = 0; j < CHAIN; j++) {
      piece(sends.add(i)).signaled();
    }
    return post(CHAIN);
  }

  private long post(int requests) {
    sends.post();
    return reap(requests);
  }

  private long reap(int requests) {
    adapter.work();
    int polled = completions.poll();
    if (polled != requests) {
      throw new IllegalStateException(
          polled + " completions after a post of " + requests + " requests");
    }
    long sum = 1;
    for (int i = 0; i < polled; i++) {
      sum += read(i);
    }
    return sum;
  }

  private long acquireAndRelease(int i) {
    long ticket = pool.acquire().ticket();
    int inUse = pool.inUse();
    if (i % 2 == 0) {
      pool.release(ticket);
    } else {
      pool.slab(ticket).release();
    }
    return inUse;
  }

  private long read(int i) {
    completions.requireSuccess(i);
    long sum =
        completions.workRequestId(i)
            + completions.byteLength(i)
            + completions.vendorError(i)
            + completions.queuePairNumber(i)
            + completions.sourceQueuePairNumber(i)
            + completions.immediate(i)
            + completions.invalidatedKey(i)
            + completions.partitionKeyIndex(i)
            + completions.sourceLid(i)
            + completions.serviceLevel(i)
            + completions.destinationLidPathBits(i)
            + number(completions.status(i) == CompletionStatus.SUCCESS)
            + number(completions.opcode(i) == CompletionOpcode.SEND);
    return sum + (extended ? readExtended(i) : readFlags(i));
  }

  /** Extended completion queues read the flags only if they were requested. */
  private long readFlags(int i) {
    return number(completions.hasImmediate(i))
        + number(completions.hasInvalidatedKey(i))
        + number(completions.hasGlobalRoutingHeader(i))
        + number(completions.isChecksumOk(i))
        + number(completions.isTagMatched(i))
        + number(completions.isTaggedDataValid(i))
        + number(completions.isTagSynchronizationWanted(i));
  }

  private long readExtended(int i) {
    return completions.timestamp(i)
        + completions.wallClock(i)
        + completions.vlan(i)
        + completions.flowTag(i)
        + completions.tag(i)
        + completions.tagPrivateData(i);
  }

  private static long number(boolean value) {
    return value ? 1 : 0;
  }
}
