package org.rdma4j.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A soft-RoCE device over a network interface, which a test adds and finally removes. */
public final class AddedDevice {
  /** Within this time a device is removed that nobody uses any more. */
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final String name;
  private final @Nullable String ownInterface;
  private @Nullable Process removal;

  private AddedDevice(String name, @Nullable String ownInterface) {
    this.name = name;
    this.ownInterface = ownInterface;
  }

  /** Adds a device over an interface that is up. */
  public static AddedDevice over(String networkInterface) throws Exception {
    return over(networkInterface, null);
  }

  /** Adds a device over an interface that is added with it, and removed after it. */
  public static AddedDevice withInterface(String name, String address) throws Exception {
    Command.output("ip", "link", "add", name, "type", "dummy");
    boolean added = false;
    try {
      Command.output("ip", "address", "add", address + "/24", "dev", name);
      Command.output("ip", "link", "set", name, "up");
      AddedDevice device = over(name, name);
      added = true;
      return device;
    } finally {
      if (!added) {
        Command.output("ip", "link", "delete", name);
      }
    }
  }

  private static AddedDevice over(String networkInterface, @Nullable String ownInterface)
      throws Exception {
    String name = "rxe_" + networkInterface;
    Command.output("rdma", "link", "add", name, "type", "rxe", "netdev", networkInterface);
    return new AddedDevice(name, ownInterface);
  }

  /** Begins to remove the device. The removal ends when nobody has it open any more. */
  public void remove() throws IOException {
    begun();
  }

  private Process begun() throws IOException {
    if (removal == null) {
      removal =
          new ProcessBuilder("rdma", "link", "delete", name).redirectErrorStream(true).start();
    }
    return removal;
  }

  /**
   * Removes the device, without closing anything.
   *
   * @return whether it was removed within the time
   */
  public boolean remove(Duration timeout) throws Exception {
    return begun().waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Waits until the device is removed. Begins the removal if that was not done before. */
  public void awaitRemoval() throws Exception {
    Process begun = begun();
    if (!begun.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError(name + " is not removed after " + TIMEOUT + ": who has it open?");
    }
    if (Command.output("rdma", "link", "show").contains(name)) {
      String printed =
          new String(begun.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      throw new AssertionError(
          "%s was not removed: 'rdma link delete' ended with %d and printed '%s'"
              .formatted(name, begun.exitValue(), printed));
    }
    if (ownInterface != null) {
      Command.output("ip", "link", "delete", ownInterface);
    }
  }
}
