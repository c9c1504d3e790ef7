package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rdma4j.nio.handover.Proof;

/**
 * The system properties of the channels of this process, whose names begin with {@code
 * org.rdma4j.nio.}.
 *
 * @param enabled whether connections may be upgraded to RDMA: {@code enabled}
 * @param allDevices whether software devices, and RDMA to peers on this host, are used, too: {@code
 *     devices}
 * @param proof what both sides of a connection must prove: with the content of the file {@code
 *     secretFile} if there is one, and after {@code upgradeAfterBytes} bytes in each direction
 * @param timeout the time that a peer has for its part of the handover, and a server to listen over
 *     RDMA, too: {@code timeoutSeconds}
 * @param retryDelaySeconds how long a client asks no address that has refused: {@code
 *     retryDelaySeconds}
 * @param maxUpgradedChannels the number of channels of this process over RDMA from which on others
 *     stay on TCP: {@code maxUpgradedChannels}
 * @param maxRegisteredBytes the registered memory of all channels of this process: {@code
 *     maxRegisteredBytes}
 * @param allowedNetworks the networks in one of which the TCP address of a peer must be for a
 *     connection to be upgraded; empty for any address: {@code allowedNetworks}
 * @param addressMap the RDMA addresses of hosts, by their TCP addresses, where they differ: {@code
 *     addressMap}
 */
record ChannelSettings(
    boolean enabled,
    boolean allDevices,
    Proof proof,
    Duration timeout,
    long retryDelaySeconds,
    long maxUpgradedChannels,
    long maxRegisteredBytes,
    List<Network> allowedNetworks,
    Map<InetAddress, InetAddress> addressMap) {
  private static final String PREFIX = "org.rdma4j.nio.";

  /** The names of properties, by their names before the first release. */
  private static final Map<String, String> RENAMED =
      Map.of(
          "upgrade", "enabled",
          "secret", "secretFile",
          "after", "upgradeAfterBytes",
          "timeout", "timeoutSeconds",
          "refused", "retryDelaySeconds",
          "most", "maxUpgradedChannels",
          "networks", "allowedNetworks",
          "addresses", "addressMap");

  /**
   * Without a secret, a peer must prove all that this side records, because less may be guessed.
   */
  private static final long USUAL_WITHOUT_SECRET = Proof.RECORDED;

  private static final long LEAST_WITHOUT_SECRET = 32;

  private static final int LEAST_SECRET = 16;

  ChannelSettings {
    allowedNetworks = List.copyOf(allowedNetworks);
    addressMap = Map.copyOf(addressMap);
  }

  /**
   * Reads the properties.
   *
   * @throws IllegalArgumentException if one has a value that it must not have, or an old name, with
   *     the name of the property
   */
  static ChannelSettings read(UnaryOperator<@Nullable String> property) {
    RENAMED.forEach(
        (old, now) -> {
          String value = property.apply(PREFIX + old);
          if (value != null) {
            throw wrong(old, value, "has another name now: set " + PREFIX + now);
          }
        });
    byte[] secret = secret(property.apply(PREFIX + "secretFile"));
    boolean isSecret = secret.length > 0;
    long least = isSecret ? 1 : LEAST_WITHOUT_SECRET;
    long usual = isSecret ? 1 : USUAL_WITHOUT_SECRET;
    return new ChannelSettings(
        isTrue(property, "enabled"),
        allDevices(property.apply(PREFIX + "devices")),
        new Proof(secret, number(property, "upgradeAfterBytes", least, usual)),
        Duration.ofSeconds(number(property, "timeoutSeconds", 1, 10)),
        number(property, "retryDelaySeconds", 0, 60),
        number(property, "maxUpgradedChannels", 1, Long.MAX_VALUE),
        maxRegisteredBytes(property),
        networks(property.apply(PREFIX + "allowedNetworks")),
        addresses(property.apply(PREFIX + "addressMap")));
  }

  /** Returns whether sockets may be upgraded, too, if an agent supports them. */
  static boolean sockets(UnaryOperator<@Nullable String> property) {
    return isTrue(property, "sockets") && isTrue(property, "enabled");
  }

  private static boolean isTrue(UnaryOperator<@Nullable String> property, String name) {
    String value = property.apply(PREFIX + name);
    if (value == null || value.equals("true")) {
      return true;
    }
    if (value.equals("false")) {
      return false;
    }
    throw wrong(name, value, "must be true or false");
  }

  private static boolean allDevices(@Nullable String value) {
    if (value == null || value.equals("adapters")) {
      return false;
    }
    if (value.equals("all")) {
      return true;
    }
    throw wrong("devices", value, "must be adapters or all");
  }

  private static byte[] secret(@Nullable String file) {
    if (file == null) {
      return new byte[0];
    }
    try {
      byte[] secret = Files.readAllBytes(Path.of(file));
      if (secret.length < LEAST_SECRET) {
        throw wrong(
            "secretFile",
            file,
            "has " + secret.length + " bytes, must have at least " + LEAST_SECRET + " random ones");
      }
      return secret;
    } catch (IOException unreadable) {
      throw wrong("secretFile", file, "cannot be read: " + unreadable);
    }
  }

  private static long number(
      UnaryOperator<@Nullable String> property, String name, long least, long otherwise) {
    String value = property.apply(PREFIX + name);
    if (value == null) {
      return otherwise;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException noNumber) {
      // Reported as too small.
    }
    throw wrong(name, value, "must be a number, at least " + least);
  }

  private static long maxRegisteredBytes(UnaryOperator<@Nullable String> property) {
    long usual = MemoryBudget.usual(Runtime.getRuntime().maxMemory());
    long bytes = number(property, "maxRegisteredBytes", MemoryBudget.LEAST, usual);
    if (bytes > MemoryBudget.MOST) {
      throw wrong(
          "maxRegisteredBytes", Long.toString(bytes), "must be at most " + MemoryBudget.MOST);
    }
    return bytes;
  }

  private static List<Network> networks(@Nullable String value) {
    List<Network> networks = new ArrayList<>();
    if (value != null) {
      for (String each : value.split(",", -1)) {
        try {
          networks.add(Network.parse(each.strip()));
        } catch (IllegalArgumentException noNetwork) {
          throw wrong(
              "allowedNetworks",
              value,
              "contains " + each + ", which is no network: 10.0.0.0/8 is one");
        }
      }
    }
    return networks;
  }

  private static Map<InetAddress, InetAddress> addresses(@Nullable String value) {
    Map<InetAddress, InetAddress> addresses = new HashMap<>();
    if (value != null) {
      for (String pair : value.split(",", -1)) {
        String[] both = pair.split("=", -1);
        if (both.length != 2) {
          throw wrong("addressMap", value, "must be TCP=RDMA,TCP=RDMA and so on");
        }
        addresses.put(address(value, both[0]), address(value, both[1]));
      }
    }
    return addresses;
  }

  private static InetAddress address(String value, String text) {
    try {
      return InetAddress.ofLiteral(text.strip());
    } catch (IllegalArgumentException noAddress) {
      throw wrong("addressMap", value, "contains " + text + ", which is no IP address");
    }
  }

  private static IllegalArgumentException wrong(String name, String value, String why) {
    return new IllegalArgumentException(
        "the system property " + PREFIX + name + " is " + value + ": it " + why);
  }

  /** Returns the networks of peers, for a log. */
  String networkNames() {
    return allowedNetworks.isEmpty()
        ? "all networks"
        : allowedNetworks.stream().map(Network::toString).collect(Collectors.joining(", "));
  }

  /** Returns whether connections to a peer with a TCP address may be upgraded. */
  boolean includes(InetAddress tcp) {
    return allowedNetworks.isEmpty()
        || allowedNetworks.stream().anyMatch(each -> each.contains(tcp));
  }

  /** Returns the RDMA address of the host that has a TCP address. */
  InetAddress rdmaAddress(InetAddress tcp) {
    return addressMap.getOrDefault(tcp, tcp);
  }
}
