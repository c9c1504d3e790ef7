package org.rdma4j.bindings;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.testing.headers.Gcc;
import org.rdma4j.testing.headers.Headers;

/** The functions in {@code src/test/c}, compiled against the installed headers. */
final class CFunctions {
  private static final Path SOURCES = Path.of("src", "test", "c");
  private static final Path LIBRARY = Path.of("target", "inlines.so").toAbsolutePath();
  private static final int MAX_ARGUMENTS = 6;

  private static final SymbolLookup SYMBOLS = load();
  private static final MemorySegment ARGUMENTS =
      address("arguments").reinterpret(MAX_ARGUMENTS * JAVA_LONG.byteSize());

  private CFunctions() {}

  private static SymbolLookup load() {
    Gcc.NATIVE.compile(
        "-shared",
        "-DRDMA_CORE=" + Headers.VERSION,
        "-fPIC",
        "-o",
        LIBRARY.toString(),
        SOURCES.resolve("inlines.c").toString(),
        SOURCES.resolve("operations.c").toString(),
        SOURCES.resolve("extended.c").toString(),
        SOURCES.resolve("memory.c").toString(),
        SOURCES.resolve("rdma_verbs.c").toString(),
        "-libverbs");
    return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
  }

  static MemorySegment address(String function) {
    return SYMBOLS.find(function).orElseThrow();
  }

  /** Calls a function of pointers and integers. An int result is in the low half. */
  static long call(String function, long... arguments) {
    MemoryLayout[] parameters =
        Collections.nCopies(arguments.length, JAVA_LONG).toArray(MemoryLayout[]::new);
    try {
      return (long)
          Linker.nativeLinker()
              .downcallHandle(address(function), FunctionDescriptor.of(JAVA_LONG, parameters))
              .invokeWithArguments(LongStream.of(arguments).boxed().toList());
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** Does the same, and leaves errno in {@link Errno}. */
  static long callKeepingErrno(String function, long... arguments) {
    MemoryLayout[] parameters =
        Collections.nCopies(arguments.length, JAVA_LONG).toArray(MemoryLayout[]::new);
    List<Object> all = new ArrayList<>(List.of(address(function), Errno.state()));
    LongStream.of(arguments).forEach(all::add);
    try {
      return (long)
          Errno.downcall(FunctionDescriptor.of(JAVA_LONG, parameters)).invokeWithArguments(all);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the first arguments of the last call of a function that records them. */
  static List<Long> recorded(int count) {
    return LongStream.of(ARGUMENTS.toArray(JAVA_LONG)).boxed().limit(count).toList();
  }

  /** Clears what earlier calls recorded. */
  static void forget() {
    ARGUMENTS.fill((byte) 0);
  }
}
