package org.rdma4j.tools.selftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/** Requests of each kind between two queue pairs, whose data and completions are checked. */
final class RequestTrial {
  private static final int BYTES = 1 << 16;

  /**
   * The times of the requests of one kind.
   *
   * @param postNanos the median time of a post
   * @param doneNanos the median time from the beginning of a post to its completion
   */
  record Times(long postNanos, long doneNanos) {}

  private final LoopedPair pair;
  private final MemoryRegion source;
  private final MemoryRegion target;
  private final SendRequests sends;
  private final ReceiveRequests receives;

  RequestTrial(LoopedPair pair) {
    this.pair = pair;
    source = pair.expose(BYTES);
    target = pair.expose(BYTES);
    sends = pair.from.sendRequests(1);
    receives = pair.to.receiveRequests(1);
  }

  /** Posts that many requests, one after the other. */
  Times run(RequestKind kind, int count) {
    if (kind.isAtomic() && !pair.hasAtomics()) {
      throw new NotSupported("the device has no atomic operations");
    }
    // All ways to post get the same requests.
    Random random = new Random(count);
    long[] posts = new long[count];
    long[] done = new long[count];
    for (int i = 0; i < count; i++) {
      String what = kind.text() + " " + i;
      int longest = kind == RequestKind.SEND_INLINE ? LoopedPair.INLINE_BYTES : BYTES;
      int length = kind.isAtomic() ? Long.BYTES : 1 + random.nextInt(longest);
      byte[] here = Expected.random(random, length);
      byte[] there = Expected.random(random, length);
      Expected.put(source, here);
      Expected.put(target, there);
      if (kind.isReceived()) {
        receives.add(i).into(target, 0, length).post();
      }
      long begin = System.nanoTime();
      post(kind, i, length, here, there);
      posts[i] = System.nanoTime() - begin;
      Completions sent = pair.awaitSent(what, i);
      done[i] = System.nanoTime() - begin;
      Expected.equal(what, "opcode", sent.opcode(0), kind.opcode());
      if (kind.isReceived()) {
        Completions received = pair.awaitReceived(what, i);
        Expected.equal(what, "length", received.byteLength(0), (long) length);
        if (kind == RequestKind.SEND_WITH_IMMEDIATE) {
          Expected.equal(what, "immediate data", received.immediate(0), i);
        }
      }
      checkBytes(kind, what, here, there);
    }
    Arrays.sort(posts);
    Arrays.sort(done);
    return new Times(posts[count / 2], done[count / 2]);
  }

  private void post(RequestKind kind, int id, int length, byte[] here, byte[] there) {
    long address = target.remoteAddress();
    int key = target.remoteKey();
    sends.add(id).signaled();
    switch (kind) {
      case SEND -> sends.from(source, 0, length);
      case SEND_INLINE -> sends.inline(source, 0, length);
      case SEND_WITH_IMMEDIATE -> sends.sendWithImmediate(id).from(source, 0, length);
      case WRITE -> sends.write(address, key).from(source, 0, length);
      case READ -> sends.read(address, key).into(source, 0, length);
      case COMPARE_AND_SWAP ->
          sends.compareAndSwap(address, key, number(there), number(here)).into(source, 0, length);
      case FETCH_AND_ADD -> sends.fetchAndAdd(address, key, number(here)).into(source, 0, length);
    }
    sends.post();
  }

  private static long number(byte[] bytes) {
    return MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
  }

  private void checkBytes(RequestKind kind, String what, byte[] here, byte[] there) {
    byte[] inSource = Expected.get(source, 0, here.length);
    byte[] inTarget = Expected.get(target, 0, here.length);
    switch (kind) {
      case READ -> Expected.equal(what, inSource, there);
      case COMPARE_AND_SWAP -> {
        Expected.equal(what, inSource, there);
        Expected.equal(what, inTarget, here);
      }
      case FETCH_AND_ADD -> {
        Expected.equal(what, inSource, there);
        Expected.equal(what, "sum", number(inTarget), number(here) + number(there));
      }
      default -> Expected.equal(what, inTarget, here);
    }
  }
}
