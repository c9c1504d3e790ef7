package org.rdma4j.testing;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The simulated adapter, if this process runs on it: what it holds for the process, which neither
 * the tool {@code rdma} nor the kernel knows, and what tests can make it do. Errors are values of
 * errno. See docs/simulated-adapter.md.
 */
public final class SimulatedAdapter {
  // Syndromes of failed requests, as in the completion that the adapter writes: mlx5_dv.h.
  public static final int REMOTE_ACCESS_ERROR = 0x13;
  public static final int REMOTE_OPERATION_ERROR = 0x14;
  public static final int RETRY_EXCEEDED = 0x15;
  public static final int RNR_RETRY_EXCEEDED = 0x16;

  private static final Duration MOMENT = Duration.ofMillis(200);

  private static final String LIBRARY = System.getenv().getOrDefault("LD_PRELOAD", "");

  private SimulatedAdapter() {}

  public static boolean isLoaded() {
    return LIBRARY.endsWith("librdma4j-mlx5.so");
  }

  private static MethodHandle link(String name, FunctionDescriptor shape) {
    var symbol = SymbolLookup.libraryLookup(LIBRARY, Arena.global()).find(name).orElseThrow();
    return Linker.nativeLinker().downcallHandle(symbol, shape);
  }

  private static Object call(String name, FunctionDescriptor shape, Object... arguments) {
    try {
      return link(name, shape).invokeWithArguments(arguments);
    } catch (Throwable thrown) {
      throw new AssertionError(thrown);
    }
  }

  private static void run(String name, MemoryLayout shape, Object argument) {
    call(name, FunctionDescriptor.ofVoid(shape), argument);
  }

  /** Returns the kind of each object that the simulated kernel keeps for this process. */
  public static List<String> objects(List<String> kinds) {
    List<String> objects = new ArrayList<>();
    for (String kind : kinds) {
      objects.addAll(Collections.nCopies((int) count(kind), kind));
    }
    return objects;
  }

  /** Returns how many objects of a kind the simulated kernel keeps for this process. */
  static long count(String kind) {
    try (Arena arena = Arena.ofConfined()) {
      var shape = FunctionDescriptor.of(JAVA_INT, ADDRESS);
      return (int) call("mlx5sim_count", shape, arena.allocateFrom(kind));
    }
  }

  /** Returns how many bytes of memory are registered. */
  public static long pinned() {
    return (long) call("mlx5sim_pinned", FunctionDescriptor.of(JAVA_LONG));
  }

  /** Lets the request after that many more of the queue pair fail with the syndrome. */
  public static void fail(int queuePair, int after, int syndrome) {
    var shape = FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_INT, JAVA_INT, JAVA_INT);
    if (!(boolean) call("mlx5sim_fail", shape, queuePair, after, syndrome)) {
      throw new IllegalStateException("the adapter does not have the queue pair " + queuePair);
    }
  }

  /** Puts the cable into the port, or pulls it out. */
  public static void port(boolean up) {
    run("mlx5sim_port", JAVA_BOOLEAN, up);
  }

  /**
   * Makes the port of devices that are opened afterwards one of InfiniBand, or of Ethernet again.
   */
  public static void infiniband(boolean infiniband) {
    run("mlx5sim_infiniband", JAVA_BOOLEAN, infiniband);
  }

  /**
   * Lets programs find a device of EFA, or the one of mlx5 again. Open devices stay as they are.
   */
  public static void efa(boolean efa) {
    run("mlx5sim_efa", JAVA_BOOLEAN, efa);
  }

  /** Breaks the adapter, or mends it. */
  public static void breakDown(boolean broken) {
    run("mlx5sim_break", JAVA_BOOLEAN, broken);
  }

  /** Makes each request take at least that long. */
  public static void slow(Duration each) {
    run("mlx5sim_slow", JAVA_LONG, each.toNanos());
  }

  /**
   * Runs a post, which must have run before, and watches in which order this thread writes what it
   * posts to the queue pair. Each instruction takes a microsecond.
   *
   * @return what was wrong, 0 if nothing: see testing/simulation/adapter/order.c
   */
  public static int watch(int queuePair, Runnable post) {
    // Linked here, because linking takes millions of instructions.
    MethodHandle begin = link("mlx5sim_watch", FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_INT));
    MethodHandle end = link("mlx5sim_watched", FunctionDescriptor.of(JAVA_INT));
    try {
      var unused = (int) end.invokeExact(); // for the same reason
      boolean known = (boolean) begin.invokeExact(queuePair);
      int wrong;
      try {
        post.run();
      } finally {
        wrong = (int) end.invokeExact();
      }
      if (!known) {
        throw new IllegalStateException(
            "the adapter does not know the registers of the queue pair " + queuePair);
      }
      return wrong;
    } catch (Throwable thrown) {
      throw new AssertionError(thrown);
    }
  }

  /** Returns how many requests to send this process has done, at both ends of its connections. */
  public static long requests() {
    return (long) call("mlx5sim_requests", FunctionDescriptor.of(JAVA_LONG));
  }

  /** Returns how many doorbells the last watch has seen. */
  public static int doorbells() {
    return (int) call("mlx5sim_doorbells", FunctionDescriptor.of(JAVA_INT));
  }

  /** Lets posts, polls and requests for events of a device be refused, too. */
  public static void refuseIn(MemorySegment device) {
    var shape = FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS);
    if (!(boolean) call("mlx5sim_refuse_in", shape, device)) {
      throw new IllegalStateException("too many devices");
    }
  }

  /** Counts the native calls from now on, from 0, and lets that one fail. */
  public static void refuse(long number, int error) {
    var shape = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT);
    call("mlx5sim_refuse", shape, number, error);
  }

  /** Lets one of so many native calls fail from now on, at random. */
  public static void refuseSome(int oneIn, int seed, int error) {
    var shape = FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, JAVA_INT);
    call("mlx5sim_refuse_some", shape, oneIn, seed, error);
  }

  /** Lets no call fail any more, and returns how many there were. */
  public static long refuseNone() {
    return (long) call("mlx5sim_refuse_none", FunctionDescriptor.of(JAVA_LONG));
  }

  /** Returns which calls were refused. */
  public static String refused() {
    var shape = FunctionDescriptor.of(ADDRESS);
    MemorySegment names = (MemorySegment) call("mlx5sim_refused", shape);
    return names.reinterpret(Long.MAX_VALUE).getString(0);
  }

  /** Lets the next poll fail. */
  public static void refusePoll(int error) {
    run("mlx5sim_refuse_poll", JAVA_INT, error);
  }

  /**
   * Keeps back the messages of the connection manager from now on, or delivers all that were kept
   * back, in their order.
   */
  public static void keepMessages(boolean keep) {
    run("mlx5sim_keep_messages", JAVA_BOOLEAN, keep);
  }

  /** Returns how many messages of the connection manager are kept back. */
  public static int keptMessages() {
    return (int) call("mlx5sim_kept_messages", FunctionDescriptor.of(JAVA_INT));
  }

  /** Delivers a message that is kept back, or loses it; returns whether there is one. */
  public static boolean message(int index, boolean lose) {
    var shape = FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_INT, JAVA_BOOLEAN);
    return (boolean) call("mlx5sim_message", shape, index, lose);
  }

  /** Lets the connection manager wait no longer for any answer. */
  public static void expire() {
    call("mlx5sim_expire", FunctionDescriptor.ofVoid());
  }

  /** Breaks the adapter for a moment, so that all RDMA of this process ends. */
  public static void breakForAMoment() throws InterruptedException {
    breakDown(true);
    try {
      Thread.sleep(MOMENT);
    } finally {
      breakDown(false);
    }
  }

  /** Removes the device for all that is open, and breaks it until it is mended. */
  public static void remove() {
    breakDown(true);
    call("mlx5sim_remove", FunctionDescriptor.ofVoid());
  }

  /** Lets registrations beyond that many bytes in all fail; -1 lets all succeed. */
  public static void pinLimit(long bytes) {
    run("mlx5sim_pin_limit", JAVA_LONG, bytes);
  }
}
