package org.rdma4j.platform;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.Library;
import org.rdma4j.testing.Command;
import org.rdma4j.verbs.HugePages;

final class PageMemoryTest {
  @Property(tries = 200)
  void memoryIsPageAlignedZeroedAndHasTheRequestedLength(
      @ForAll @LongRange(min = 1, max = 100_000) long bytes) {
    try (PageMemory memory = PageMemory.allocate(bytes)) {
      MemorySegment segment = memory.segment();
      assertThat(segment.byteSize()).isEqualTo(bytes);
      assertThat(segment.address() % PageMemory.pageSize()).isZero();
      assertThat(segment.get(JAVA_BYTE, bytes - 1)).isZero();
      segment.fill((byte) 1);
    }
  }

  @Property
  void lengthsThatAreNotPositiveAreRefused(
      @ForAll @LongRange(min = Long.MIN_VALUE, max = 0) long bytes) {
    assertThatThrownBy(() -> PageMemory.allocate(bytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bytes is " + bytes);
  }

  @Test
  void lengthsBeyondTheAddressSpaceAreRefusedWithTheErrno() {
    assertThatThrownBy(() -> PageMemory.allocate(1L << 60))
        .isInstanceOfSatisfying(
            RdmaException.class, thrown -> assertThat(thrown.errnoName()).isEqualTo("ENOMEM"));
  }

  @Test
  void closeReturnsThePagesAtOnceAndLeavesViewsHarmless() throws IOException {
    long bytes = 64L << 20;
    PageMemory memory = PageMemory.allocate(bytes);
    MemorySegment view = memory.segment();
    view.fill((byte) 7);
    long before = residentBytes();
    memory.close();
    assertThat(residentBytes()).isLessThan(before - bytes / 2);
    assertThat(view.get(JAVA_BYTE, 12_345)).isZero();
    view.set(JAVA_BYTE, 0, (byte) 3);
    memory.close();
    assertThat(view.get(JAVA_BYTE, 0)).isEqualTo((byte) 3);
  }

  /** Where the classes are; on the module path, java.class.path has only the tests. */
  private static String classPath() throws URISyntaxException {
    List<String> places = new ArrayList<>();
    for (Class<?> each : List.of(PageMemory.class, PageMemoryTest.class, Library.class)) {
      places.add(
          Path.of(each.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
    }
    return String.join(":", places);
  }

  /** In a JVM of its own, whose address space holds some of the mappings, but not all of them. */
  @Test
  void closedMemoryDoesNotUseUpTheAddressSpace() throws Exception {
    String output =
        Command.output(
            "sh",
            "-c",
            "ulimit -v 6000000; exec \"$@\"",
            "sh",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx64m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath(),
            Rounds.class.getName());
    assertThat(output).contains(Rounds.DONE);
  }

  /** A program that allocates and closes more memory than its address space has. */
  static final class Rounds {
    private static final String DONE = "300 rounds";

    private Rounds() {}

    public static void main(String[] arguments) {
      for (int i = 0; i < 300; i++) {
        PageMemory.allocate(64 << 20).close();
      }
      System.out.println(DONE);
    }
  }

  @Property
  void lengthsOfHugePagesThatAreNotPositiveAreRefused(
      @ForAll @LongRange(min = Long.MIN_VALUE, max = 0) long bytes, @ForAll HugePages pages) {
    assertThatThrownBy(() -> PageMemory.allocateHuge(bytes, pages.pageSize()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bytes is " + bytes);
  }

  @Property(tries = 10)
  void missingHugePagesAreRefusedWithAdviceHowToReserveThem(@ForAll HugePages pages) {
    assertThatThrownBy(() -> PageMemory.allocateHuge(1L << 45, pages.pageSize()))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("vm.nr_hugepages")
        .hasMessageContaining("hugepages-" + (pages.pageSize() >> 10) + "kB/nr_hugepages");
  }

  @Test
  void thePageSizeIsThatOfTheSystem() throws Exception {
    String size = Command.output("getconf", "PAGESIZE").strip();
    assertThat(PageMemory.pageSize()).isEqualTo(Long.parseLong(size));
  }

  private static long residentBytes() throws IOException {
    try (Scanner sizes = new Scanner(Path.of("/proc/self/statm"), StandardCharsets.US_ASCII)) {
      sizes.nextLong();
      return sizes.nextLong() * PageMemory.pageSize();
    }
  }
}
