package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.MissingLibraryException;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.RdmaAvailability.Status;

/** The check names what a machine lacks, and never throws. */
final class AvailabilityCheckTest {
  private static final int ENOENT = 2;
  private static final int EMFILE = 24;

  /** A machine on which everything works until a test breaks it. */
  private static final class FakeMachine implements AvailabilityCheck.Machine {
    private final Path directory;
    private final Map<String, BooleanSupplier> devices = new TreeMap<>();
    private Runnable load = () -> {};
    private Runnable openEventChannel = () -> {};

    FakeMachine(Path directory) {
      this.directory = directory;
    }

    @Override
    public void loadLibraries() {
      load.run();
    }

    @Override
    public List<String> devices() {
      return List.copyOf(devices.keySet());
    }

    @Override
    public DeviceFiles files() {
      return new DeviceFiles(directory.resolve("class"), directory.resolve("dev"));
    }

    @Override
    public boolean hasActivePort(String device) {
      return Objects.requireNonNull(devices.get(device)).getAsBoolean();
    }

    @Override
    public void openEventChannel() {
      openEventChannel.run();
    }
  }

  @TempDir private Path directory;
  private FakeMachine machine;

  @BeforeEach
  void newMachine() {
    machine = new FakeMachine(directory);
    machine.devices.put("rxe0", () -> true);
  }

  private RdmaAvailability expect(Status status, String... explanation) {
    RdmaAvailability found = AvailabilityCheck.of(machine);
    assertThat(found.status()).as(found.explanation()).isEqualTo(status);
    assertThat(found.explanation()).contains(explanation).doesNotEndWith(".");
    assertThat(found.isAvailable()).isEqualTo(status == Status.AVAILABLE);
    assertThat(found).hasToString(found.explanation());
    return found;
  }

  @Test
  void everythingWorks() {
    assertThat(expect(Status.AVAILABLE, "RDMA is available with rxe0").devices())
        .containsExactly("rxe0");
  }

  @Test
  void devicesThatCannotBeUsedAreLeftOut() {
    machine.devices.put("mlx5_0", () -> false);
    machine.devices.put("mlx5_1", () -> fail("ibv_open_device(mlx5_1)", ENOENT));
    machine.devices.put("mlx5_2", () -> true);
    assertThat(expect(Status.AVAILABLE, "mlx5_2, rxe0").devices())
        .containsExactly("mlx5_2", "rxe0");
  }

  @Test
  void aMissingLibraryIsNamed() {
    machine.load =
        () -> {
          throw new MissingLibraryException("libibverbs.so.1", "Install it");
        };
    expect(Status.NO_LIBRARY, "RDMA is not available. dlopen(libibverbs.so.1) failed. Install it");
  }

  @Test
  void theOptionThatAllowsNativeAccessIsNamed() {
    machine.load =
        () -> {
          RdmaException denied =
              new RdmaException("dlopen(libibverbs.so.1)", 0, "Use --enable-native-access");
          denied.initCause(new IllegalCallerException());
          throw denied;
        };
    expect(Status.NATIVE_ACCESS_DENIED, "--enable-native-access");
  }

  @Test
  void aMachineWithoutADeviceIsToldHowToGetOne() {
    machine.devices.clear();
    expect(Status.NO_DEVICE, "This machine has no RDMA device", "rdma link add");
  }

  @Test
  void aContainerWithoutDeviceFilesIsToldToGetThem() throws IOException {
    machine.devices.clear();
    Files.createDirectories(directory.resolve("class/mlx5_0"));
    Files.createDirectories(directory.resolve("dev"));
    Files.createFile(directory.resolve("dev/rdma_cm"));
    expect(
        Status.NO_ACCESS_TO_DEVICES,
        "The kernel has mlx5_0",
        "finds no file /dev/infiniband/uverbs*",
        "container");
  }

  @Test
  void aDeviceWithoutAProviderIsToldWhatToInstall() throws IOException {
    machine.devices.clear();
    Files.createDirectories(directory.resolve("class/mlx5_0"));
    Files.createDirectories(directory.resolve("dev"));
    Files.createFile(directory.resolve("dev/uverbs0"));
    expect(Status.NO_ACCESS_TO_DEVICES, "mlx5_0", "libibverbs lists none", "ibverbs-providers");
  }

  @Test
  void aDeviceThatCannotBeOpenedSaysWhatToDo() {
    machine.devices.put("rxe0", () -> fail("ibv_open_device(rxe0)", ENOENT));
    expect(Status.NO_ACCESS_TO_DEVICES, "ibv_open_device(rxe0) failed: ENOENT", "/dev/infiniband");
  }

  @Test
  void aPortThatIsNotActiveIsTold() {
    machine.devices.put("rxe0", () -> false);
    machine.devices.put("mlx5_1", () -> fail("ibv_open_device(mlx5_1)", ENOENT));
    expect(Status.NO_ACTIVE_PORT, "No port of rxe0 is active", "rdma link");
  }

  @Test
  void theVerbsWorkWithoutTheConnectionManager() {
    machine.openEventChannel = () -> fail("rdma_create_event_channel", ENOENT);
    assertThat(
            expect(
                    Status.NO_CONNECTION_MANAGER,
                    "RDMA is available with rxe0, but the connection manager is not",
                    "rdma_ucm")
                .devices())
        .containsExactly("rxe0");
  }

  @Test
  void anyOtherFailureIsReported() {
    machine.load = () -> fail("setenv", EMFILE);
    expect(Status.FAILED, "setenv failed: EMFILE");
    machine.load =
        () -> {
          throw new IllegalStateException();
        };
    expect(Status.FAILED, "IllegalStateException");
  }

  private static boolean fail(String call, int errno) {
    throw new RdmaException(call, errno);
  }
}
