package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.rdma4j.bindings.Library;
import org.rdma4j.testing.Command;
import org.rdma4j.verbs.RdmaDevice;

/**
 * C libraries in {@code src/test/c} that take the place of libibverbs, librdmacm, libefa and a
 * provider. They are compiled with the installed headers. Their functions record what they are
 * called with. A test makes a call through the safe API, and lets C make the same call (in {@code
 * src/test/c/cases}); both must have the same transcript. The provider supports every operation,
 * also operations that no software device has.
 *
 * <p>The libraries have the sonames of the replaced ones, and the dynamic linker finds them by
 * these, because they are loaded first. So tests that use this class have the tag {@link #TAG}, and
 * run in a JVM of their own.
 */
public final class StandIn {
  /** The JUnit tag of tests on the stand-in. */
  public static final String TAG = "stand-in";

  private static final Path SOURCES = Path.of("src", "test", "c");
  private static final Path LIBRARIES = Path.of("target", "stand-in").toAbsolutePath();
  private static final List<String> COMPILED = new ArrayList<>();
  private static final SymbolLookup SYMBOLS = load();

  private StandIn() {}

  private static SymbolLookup load() {
    try {
      Files.createDirectories(LIBRARIES);
      compile("libibverbs.so.1", "standin/record.c", "standin/verbs.c", "standin/newer.c");
      compile("libefa.so.1", "standin/efa.c");
      compile("librdmacm.so.1", "standin/rdmacm.c");
      compile("libprovider.so", "standin/provider.c");
      String[] cases;
      try (Stream<Path> files = Files.list(SOURCES.resolve("cases"))) {
        cases =
            files
                .map(file -> "cases/" + file.getFileName())
                .filter(file -> file.endsWith(".c"))
                .sorted()
                .toArray(String[]::new);
      }
      compile("libcases.so", cases);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
    List<SymbolLookup> loaded = new ArrayList<>();
    for (String name :
        List.of(
            "libibverbs.so.1", "libefa.so.1", "librdmacm.so.1", "libprovider.so", "libcases.so")) {
      System.load(LIBRARIES.resolve(name).toString());
      loaded.add(SymbolLookup.libraryLookup(LIBRARIES.resolve(name), Arena.global()));
    }
    SymbolLookup symbols =
        name -> loaded.stream().flatMap(each -> each.find(name).stream()).findFirst();
    assertThat(Library.find("ibv_open_device"))
        .as("ibv_open_device: libibverbs was loaded before the stand-in")
        .isEqualTo(symbols.find("ibv_open_device").orElseThrow());
    return symbols;
  }

  private static void compile(String library, String... sources)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu17", "-O1", "-g"));
    command.addAll(List.of("-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"));
    // Otherwise the padding of what C writes would be undefined.
    command.add("-ftrivial-auto-var-init=zero");
    // Renamed when it is complete, because another JVM may load it at this moment.
    Path made = LIBRARIES.resolve(library + "." + ProcessHandle.current().pid());
    command.addAll(List.of("-I", SOURCES.resolve("standin").toString()));
    command.addAll(List.of("-Wl,-soname," + library, "-o", made.toString()));
    Arrays.stream(sources).map(source -> SOURCES.resolve(source).toString()).forEach(command::add);
    // Each library calls libraries that were compiled before it.
    COMPILED.forEach(other -> command.add(LIBRARIES.resolve(other).toString()));
    COMPILED.add(library);
    Command.output(command.toArray(String[]::new));
    Files.move(made, LIBRARIES.resolve(library), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Opens the device. Its posts and polls call C in the style of the JVM's system property. */
  public static RdmaDevice open() {
    assertThat(SYMBOLS).isNotNull();
    return RdmaDevice.open("standin");
  }

  /** Calls a C function that takes numbers and returns nothing. */
  public static void call(String function, int... arguments) {
    MemoryLayout[] shape = new MemoryLayout[arguments.length];
    Arrays.fill(shape, ValueLayout.JAVA_INT);
    invoke(function, FunctionDescriptor.ofVoid(shape), Arrays.stream(arguments).boxed().toArray());
  }

  /** Sets what the next function that returns a number returns. */
  public static void answer(int result) {
    call("answer", result);
  }

  /** Returns what functions were called with by C. */
  public static String transcriptOfC(String function, int... arguments) {
    return transcriptOf(() -> call(function, arguments));
  }

  /** Returns what functions were called with meanwhile. */
  public static String transcriptOf(Runnable calls) {
    call("forget");
    calls.run();
    MemorySegment text =
        (MemorySegment) invoke("transcript", FunctionDescriptor.of(ValueLayout.ADDRESS));
    return text.reinterpret(Long.MAX_VALUE).getString(0);
  }

  /** Checks that C functions are called in the same way, and with the same bytes, as by C. */
  public static void assertAsInC(String function, Runnable inJava) {
    String ofJava = transcriptOf(inJava);
    assertThat(ofJava).as(function).isEqualTo(transcriptOfC(function)).isNotEmpty();
  }

  private static Object invoke(String function, FunctionDescriptor shape, Object... arguments) {
    MemorySegment address =
        SYMBOLS.find(function).orElseThrow(() -> new AssertionError("C has no " + function));
    try {
      return Linker.nativeLinker().downcallHandle(address, shape).invokeWithArguments(arguments);
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }
}
