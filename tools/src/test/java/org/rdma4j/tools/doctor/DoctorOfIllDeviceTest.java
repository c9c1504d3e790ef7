package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.Main;

/**
 * Examines a soft-RoCE device that has a problem. The device is added for each test. Each
 * examination runs in a JVM of its own, so that nothing keeps the device from being removed.
 */
@Tag("device")
@Tag("alone")
@Tag("kernel")
@Tag("slow")
@Tag("needs-soft-roce")
@Timeout(200)
class DoctorOfIllDeviceTest {
  private static final String INTERFACE = "doctor0";
  private static final String DEVICE = "rxe_doctor0";

  /** Makes root a user like others. */
  private static final List<String> WITHOUT_CAPABILITIES =
      List.of("setpriv", "--inh-caps=-all", "--bounding-set=-all");

  @BeforeEach
  void addDevice() throws Exception {
    run("ip", "link", "add", INTERFACE, "type", "dummy");
    run("ip", "address", "add", "198.51.100.7/24", "dev", INTERFACE);
    run("ip", "link", "set", INTERFACE, "up");
    run("rdma", "link", "add", DEVICE, "type", "rxe", "netdev", INTERFACE);
  }

  @AfterEach
  void removeDevice() throws Exception {
    run("rdma", "link", "delete", DEVICE);
    run("ip", "link", "delete", INTERFACE);
  }

  @Test
  void portThatIsDownIsAProblem() throws Exception {
    run("ip", "link", "set", INTERFACE, "down");
    Outcome outcome = doctor(List.of());

    assertThat(outcome.out())
        .anyMatch(
            line ->
                line.startsWith("PROBLEM  %s port 1: DOWN, Ethernet, ".formatted(DEVICE))
                    && line.endsWith("; fix: ip link set %s up".formatted(INTERFACE)));
    assertThat(outcome.status()).isEqualTo(1);
  }

  @Test
  void fileThatCannotBeReadIsAProblem() throws Exception {
    String file = "/dev/infiniband/" + file();
    run("chmod", "000", file);
    Outcome outcome = doctor(WITHOUT_CAPABILITIES);

    assertThat(outcome.out())
        .contains(
            "PROBLEM  permissions: this user cannot open %s of %s for reading and writing:"
                    .formatted(file, DEVICE)
                + " permission denied; fix: chmod a+rw "
                + file)
        .anyMatch(line -> line.startsWith("PROBLEM  %s".formatted(DEVICE)));
    assertThat(outcome.status()).isEqualTo(1);
  }

  @Test
  void memoryLimitThatIsTooLowIsAProblem() throws Exception {
    List<String> limited = new ArrayList<>(List.of("prlimit", "--memlock=4096:4096"));
    limited.addAll(WITHOUT_CAPABILITIES);
    Outcome outcome = doctor(limited);

    assertThat(outcome.out())
        .anyMatch(
            line -> line.matches("PROBLEM +memlock: this process may lock 4 KiB; .*; fix: .*"))
        .anyMatch(
            line ->
                line.matches(
                    "PROBLEM +%s port 1: .* failed: ibv_reg_mr.* ENOMEM .*; fix: .*memlock.*"
                        .formatted(DEVICE)));
    assertThat(outcome.status()).isEqualTo(1);
  }

  private static Outcome doctor(List<String> prefix) throws Exception {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(JavaCommand.of(Main.class, "doctor"));
    try (ChildProcess program = ChildProcess.start(command)) {
      return program.await().withoutNoise();
    }
  }

  /** Returns the name of the file of the device. */
  private static String file() throws Exception {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(Path.of("/sys/class/infiniband_verbs"), "uverbs*")) {
      for (Path file : files) {
        if (Files.readString(file.resolve("ibdev")).strip().equals(DEVICE)) {
          return String.valueOf(file.getFileName());
        }
      }
    }
    throw new AssertionError(DEVICE + " has no file");
  }

  private static void run(String... command) throws Exception {
    try (ChildProcess process = ChildProcess.start(List.of(command))) {
      Outcome outcome = process.await();
      assertThat(outcome.status()).as("%s", outcome).isZero();
    }
  }
}
