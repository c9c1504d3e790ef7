package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.verbs.RdmaDevice;

/** A soft-RoCE device over a network interface, which a test adds and finally removes. */
public final class AddedDevice {
  private static final int TIMES = 600;

  private final String name;
  private final Optional<String> ownInterface;
  private final List<RdmaDevice> opened = new ArrayList<>();
  private Optional<Process> removal = Optional.empty();

  private AddedDevice(String name, Optional<String> ownInterface) {
    this.name = name;
    this.ownInterface = ownInterface;
  }

  /** Adds a device over an interface that is up. */
  public static AddedDevice over(String networkInterface) throws Exception {
    return over(networkInterface, Optional.empty());
  }

  /** Adds a device over an interface that is added with it, and removed after it. */
  public static AddedDevice withInterface(String name, String address) throws Exception {
    Command.output("ip", "link", "add", name, "type", "dummy");
    Command.output("ip", "address", "add", address + "/24", "dev", name);
    Command.output("ip", "link", "set", name, "up");
    return over(name, Optional.of(name));
  }

  private static AddedDevice over(String networkInterface, Optional<String> ownInterface)
      throws Exception {
    String name = "rxe_" + networkInterface;
    Command.output("rdma", "link", "add", name, "type", "rxe", "netdev", networkInterface);
    return new AddedDevice(name, ownInterface);
  }

  /** Begins to remove the device. The removal ends when nobody has it open any more. */
  public void remove() throws IOException {
    // The connection manager no longer lists a device that is being removed.
    opened.addAll(listed());
    removal =
        Optional.of(
            new ProcessBuilder("rdma", "link", "delete", name).redirectErrorStream(true).start());
  }

  /**
   * Removes the device, without closing anything.
   *
   * @return whether it was removed within the time
   */
  public boolean remove(Duration timeout) throws Exception {
    Process removing =
        new ProcessBuilder("rdma", "link", "delete", name).redirectErrorStream(true).start();
    removal = Optional.of(removing);
    return removing.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Waits until the device is removed. Begins the removal if that was not done before. */
  public void awaitRemoval() throws Exception {
    if (removal.isEmpty()) {
      remove();
    }
    Process removing = removal.orElseThrow();
    opened.forEach(RdmaDevice::close);
    // librdmacm closes a device only when it lists the devices after the kernel has begun the
    // removal.
    for (int i = 0; i < TIMES && !removing.waitFor(100, TimeUnit.MILLISECONDS); i++) {
      listed().forEach(RdmaDevice::close);
    }
    assertThat(removing.isAlive()).as("the removal of %s", name).isFalse();
    assertThat(Command.output("rdma", "link", "show")).doesNotContain(name);
    if (ownInterface.isPresent()) {
      Command.output("ip", "link", "delete", ownInterface.get());
    }
  }

  private List<RdmaDevice> listed() {
    return CmDevices.list().stream().filter(each -> each.info().name().equals(name)).toList();
  }
}
