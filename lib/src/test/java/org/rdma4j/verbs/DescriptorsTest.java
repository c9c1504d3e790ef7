package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.testing.Command;

/** A process that is out of file descriptors has no fewer devices than before. */
@Tag("device")
@Timeout(200)
final class DescriptorsTest {
  @Test
  void aProcessThatCanOpenNoFileIsNotToldThatThereIsNoDevice() throws Exception {
    List<String> lines =
        Command.output(
                "sh",
                "-c",
                "ulimit -n 200; exec \"$@\"",
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Exhausting.class.getName())
            .lines()
            .filter(line -> line.startsWith(Exhausting.CALL))
            .toList();
    assertThat(lines).hasSize(Exhausting.CALLS.size() * (Exhausting.MAX_FREE + 1));
    // With the last descriptor that the others need, each of them works again.
    assertThat(lines)
        .allSatisfy(line -> assertThat(line).containsAnyOf("EMFILE", Exhausting.WORKS));
    assertThat(lines).filteredOn(line -> line.contains("EMFILE")).hasSizeGreaterThan(5);
    assertThat(lines).filteredOn(line -> line.contains(Exhausting.WORKS)).hasSizeGreaterThan(5);
  }

  /** A program that makes calls with 0 and more free descriptors. */
  static final class Exhausting {
    private static final String CALL = "call ";
    private static final String WORKS = "works";
    private static final int MAX_FREE = 16;

    private interface Call {
      void make();
    }

    private static final List<Call> CALLS =
        List.of(
            () -> check(!RdmaDevice.list().isEmpty(), "it lists no device"),
            () -> RdmaDevice.open(RdmaDevice.list().getFirst().name()).close(),
            () -> {
              RdmaAvailability found = RdmaDevice.availability();
              check(found.isAvailable(), found.status() + ": " + found);
            },
            () -> check(!CmDevices.list().isEmpty(), "the connection manager lists no device"),
            () -> {
              try (EventChannel channel = EventChannel.open()) {
                channel.createId(PortSpace.TCP).close();
              }
            },
            () -> RdmaNode.open().close());

    private Exhausting() {}

    private static void check(boolean works, String otherwise) {
      if (!works) {
        throw new IllegalStateException(otherwise);
      }
    }

    public static void main(String[] arguments) throws IOException {
      // Loads all classes that the calls need, and makes an exception.
      CALLS.forEach(Call::make);
      System.out.println(result(() -> RdmaDevice.open("none")));
      System.out.println(new RdmaException("open", ErrorNumber.EMFILE.value()));
      Deque<FileInputStream> opened = new ArrayDeque<>();
      exhaust(opened);
      CALLS.forEach(Exhausting::result);
      for (int free = 0; free <= MAX_FREE; free++) {
        for (Call call : CALLS) {
          System.out.println(CALL + free + ": " + result(call));
        }
        opened.pop().close();
      }
    }

    private static void exhaust(Deque<FileInputStream> opened) {
      while (true) {
        try {
          opened.push(new FileInputStream("/dev/null"));
        } catch (IOException full) {
          return;
        }
      }
    }

    private static String result(Call call) {
      try {
        call.make();
        return WORKS;
      } catch (RuntimeException refused) {
        return refused.toString();
      }
    }
  }
}
