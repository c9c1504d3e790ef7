package org.rdma4j.bench.posts;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The same loops in C, {@code halves.c}, on the same queues. */
final class HalvesInC {
  /** The size of {@code struct work}. */
  private static final long WORK = 40;

  private static final Path LIBRARIES = libraries();

  private final MemorySegment work = Arena.global().allocate(WORK, Long.BYTES);
  private final MethodHandle post;
  private final @Nullable MethodHandle postInline;
  private final MethodHandle postChains;
  private final MethodHandle poll;
  private final MethodHandle pollBatches;
  private final MethodHandle pollEmpty;

  HalvesInC(SelfConnectedQueuePair adapter, boolean extended) {
    work.set(ADDRESS, 0, adapter.queuePair().handle());
    work.set(ADDRESS, 8, adapter.completionQueue().handle());
    work.set(JAVA_LONG, 16, adapter.region().remoteAddress());
    work.set(JAVA_INT, 24, SelfConnectedQueuePair.MESSAGE);
    work.set(JAVA_INT, 28, adapter.region().localKey());
    String prefix = extended ? "extended_" : "";
    post = link(prefix + "post");
    postInline = extended ? null : link("post_inline");
    postChains = link(prefix + "post_chains");
    poll = link(prefix + "poll");
    pollBatches = link(prefix + "poll_batches");
    pollEmpty = link(prefix + "poll_empty");
  }

  /**
   * Returns the same loops, whose posts write the queue in place: {@code in_place.c}. The adapter
   * must not be used otherwise.
   */
  static HalvesInC inPlace(SelfConnectedQueuePair adapter) {
    MethodHandle begin =
        link("libinplace.so", "post_in_place", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    int errno;
    try {
      errno = (int) begin.invokeExact(adapter.queuePair().handle());
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
    if (errno != 0) {
      throw new IllegalStateException("C cannot post in place: errno " + errno);
    }
    return new HalvesInC(adapter, false);
  }

  private static MethodHandle link(String name) {
    return link("libhalves.so", name, FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG));
  }

  private static MethodHandle link(String library, String name, FunctionDescriptor shape) {
    MemorySegment function =
        SymbolLookup.libraryLookup(LIBRARIES.resolve(library), Arena.global())
            .find(name)
            .orElseThrow();
    return Linker.nativeLinker().downcallHandle(function, shape);
  }

  /** The build puts the libraries beside the classes and the jar. */
  private static Path libraries() {
    try {
      Path code =
          Path.of(HalvesInC.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return code.toAbsolutePath().resolveSibling("native");
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private long run(MethodHandle loop) {
    long nanos;
    try {
      nanos = (long) loop.invokeExact(work, (long) Half.LOOP);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
    if (nanos < 0) {
      throw new IllegalStateException("a post or a poll failed in the loop in C");
    }
    return nanos;
  }

  long post() {
    return run(post);
  }

  /** Not for extended queues. */
  long postInline() {
    return run(Objects.requireNonNull(postInline));
  }

  long postChains() {
    return run(postChains);
  }

  long poll() {
    return run(poll);
  }

  long pollBatches() {
    return run(pollBatches);
  }

  long pollEmpty() {
    return run(pollEmpty);
  }
}
