package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.Command;
import org.rdma4j.verbs.RdmaAvailability.Status;

/** The availability agrees with the device of this machine and its files. */
@Tag("device")
final class AvailabilityTest {
  @Test
  void aDeviceThatWorksIsAvailable() {
    RdmaAvailability found = RdmaDevice.availability();
    assertThat(found.status()).as(found.explanation()).isEqualTo(Status.AVAILABLE);
    assertThat(found.devices())
        .containsExactlyElementsOf(RdmaDevice.list().stream().map(DeviceInfo::name).toList());
  }

  /** In a mount namespace of its own, a process takes one file after the other from itself. */
  @Tag("kernel")
  @Test
  void aFileThatCannotBeOpenedIsNamed() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> lines =
        Command.output(
                "unshare",
                "--mount",
                java,
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Masking.class.getName())
            .lines()
            .filter(line -> line.startsWith(Masking.FOUND))
            .toList();
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0)).contains("AVAILABLE: RDMA is available with");
    assertThat(lines.get(1))
        .contains("NO_CONNECTION_MANAGER: ", "rdma_create_event_channel failed", "rdma_cm");
    assertThat(lines.get(2))
        .contains("NO_ACCESS_TO_DEVICES: ", "ibv_open_device(", "/dev/infiniband/uverbs*");
    assertThat(lines.get(3)).contains("NO_ACCESS_TO_DEVICES: ", "finds no file");
  }

  /** A program that prints what is available while it hides the files of the devices. */
  static final class Masking {
    private static final String FOUND = "found ";

    private Masking() {}

    public static void main(String[] arguments) throws Exception {
      print();
      Command.output("mount", "--bind", "/dev/null", "/dev/infiniband/rdma_cm");
      print();
      Command.output(
          "sh",
          "-c",
          "for file in /dev/infiniband/uverbs*; do mount --bind /dev/null $file || exit; done");
      print();
      Command.output("mount", "-t", "tmpfs", "none", "/dev/infiniband");
      print();
    }

    private static void print() {
      RdmaAvailability found = RdmaDevice.availability();
      System.out.println(FOUND + found.status() + ": " + found);
    }
  }
}
