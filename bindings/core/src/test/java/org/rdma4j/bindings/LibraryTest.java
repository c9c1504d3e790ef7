package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.testing.headers.Filter;
import org.rdma4j.testing.headers.Gcc;
import org.rdma4j.testing.headers.Generated;

/** Uses the generated classes in JVMs that lack a library or native access. */
final class LibraryTest {
  static final List<Library> LIBRARIES = Library.ALL;

  @ParameterizedTest
  @FieldSource("LIBRARIES")
  void withoutALibraryOnlyCallsFailAndNameIt(Library missing, @TempDir Path directory)
      throws IOException {
    // The dynamic linker finds the empty file before the installed library, and cannot load it.
    Files.createFile(directory.resolve(missing.soname()));
    String failure =
        "java.lang.UnsatisfiedLinkError: "
            + missing.soname()
            + " cannot be loaded. Install it: apt install "
            + missing.soname().replaceFirst("\\.so\\.", "");
    List<String> output =
        inJvm(
            "LD_LIBRARY_PATH=" + directory, "--enable-native-access=ALL-UNNAMED", missing.soname());
    assertThat(output).hasSize(4).first().isEqualTo(Child.constants());
    assertThat(output.subList(1, 4)).allSatisfy(line -> assertThat(line).startsWith(failure));
  }

  @Test
  void withoutNativeAccessConstantsAndLayoutsWork() throws IOException {
    List<String> output = inJvm("LD_LIBRARY_PATH=", denial(), Library.LIBIBVERBS.soname());
    assertThat(output).hasSize(4).first().isEqualTo(Child.constants());
    assertThat(output.subList(1, 3))
        .allSatisfy(line -> assertThat(line).startsWith("java.lang.IllegalCallerException: "));
  }

  @Test
  void aFunctionThatNoLibraryHasIsNamed() {
    assertThatThrownBy(() -> Library.find("ibv_no_such_function"))
        .isInstanceOf(UnsatisfiedLinkError.class)
        .hasMessage(
            "neither libibverbs.so.1 nor librdmacm.so.1 has the function ibv_no_such_function:"
                + " install a newer version of rdma-core");
  }

  @Test
  void theLibrariesHaveTheirFunctionsAndNoOther() {
    assertThat(Library.contains("ibv_open_device")).isTrue();
    assertThat(Library.contains("rdma_create_id")).isTrue();
    assertThat(Library.contains("rsocket")).isTrue();
    assertThat(Library.contains("ibv_no_such_function")).isFalse();
  }

  /** Shows what a library lacks that is as old as the bindings claim to support. */
  @Test
  void onlyFunctionsThatAreNewerThanRdmaCore44AreMissing() {
    assertThat(Rdma.GENERATED.symbols())
        .filteredOn(symbol -> symbol.kind().equals("function"))
        .extracting(Filter.Symbol::name)
        .filteredOn(function -> !Library.contains(function))
        .allMatch(Rdma.GROWTH::isNewer);
  }

  @Test
  void nativeAccessIsThere() {
    NativeAccess.check();
    assertThat(rdma_h.C_POINTER.targetLayout()).isPresent();
  }

  private static String denial() {
    // Before JDK 24, that option itself denied native access to the modules that it did not name.
    return Runtime.version().feature() < 24
        ? "--enable-native-access=java.base"
        : "--illegal-native-access=deny";
  }

  private static List<String> inJvm(String variable, String option, String library)
      throws IOException {
    String classPath =
        Stream.of(Library.class, LibraryTest.class, Generated.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation().getPath())
            .collect(Collectors.joining(System.getProperty("path.separator")));
    Gcc.Result result =
        Gcc.execute(
            List.of(
                "env",
                // With this variable, the JVM prints a line of its own.
                "--unset=JAVA_TOOL_OPTIONS",
                variable,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                option,
                "-cp",
                classPath,
                Child.class.getName(),
                library));
    assertThat(result.exitCode()).as(String.join("\n", result.output())).isZero();
    return result.output();
  }

  /** The program in that JVM: uses everything that needs no library, then what needs one. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) {
      System.out.println(constants());
      Library library =
          Library.ALL.stream()
              .filter(each -> each.soname().equals(arguments[0]))
              .findAny()
              .orElseThrow();
      print(library::load);
      print(library::load);
      print(
          library == Library.LIBIBVERBS
              ? rdma_h::ibv_fork_init$address
              : rdma_h::rdma_create_event_channel$address);
    }

    private static void print(Runnable call) {
      try {
        call.run();
        System.out.println("nothing thrown");
      } catch (RuntimeException | LinkageError thrown) {
        System.out.println(thrown);
      }
    }

    static String constants() {
      long types =
          Rdma.GENERATED.types().stream()
              .filter(type -> Generated.layout(type).byteSize() > 0)
              .count();
      long constants =
          Rdma.GENERATED.constants().stream()
              .map(Rdma.GENERATED::constant)
              .filter(Objects::nonNull)
              .count();
      return types + " types, " + constants + " constants";
    }
  }
}
