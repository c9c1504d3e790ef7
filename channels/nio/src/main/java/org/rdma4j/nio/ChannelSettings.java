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
 * What system properties say about the channels of this process.
 *
 * @param upgrades whether connections may go over to RDMA: {@code org.rdma4j.nio.upgrade}
 * @param allDevices whether they may use software devices, and peers on this host: {@code
 *     org.rdma4j.nio.devices}
 * @param proof what both sides of a connection must prove: with the content of the file {@code
 *     org.rdma4j.nio.secret} if there is one, and after the number of bytes in each direction that
 *     {@code org.rdma4j.nio.after} says
 * @param timeout the time that a peer has for its part of the handover, and a server to listen over
 *     RDMA, too: {@code org.rdma4j.nio.timeout}
 * @param refusedSeconds how long an address that has refused is left alone: {@code
 *     org.rdma4j.nio.refused}
 * @param most the number of channels of this process over RDMA from which on no other one goes
 *     over: {@code org.rdma4j.nio.most}
 * @param maxRegisteredBytes the registered memory of all channels of this process: {@code
 *     org.rdma4j.nio.maxRegisteredBytes}
 * @param networks the networks in one of which the TCP address of a peer must be for a connection
 *     to go over; empty for any address: {@code org.rdma4j.nio.networks}
 * @param addresses the RDMA addresses of hosts, by those that TCP uses, where they differ: {@code
 *     org.rdma4j.nio.addresses}
 */
record ChannelSettings(
    boolean upgrades,
    boolean allDevices,
    Proof proof,
    Duration timeout,
    long refusedSeconds,
    long most,
    long maxRegisteredBytes,
    List<Network> networks,
    Map<InetAddress, InetAddress> addresses) {
  private static final String PREFIX = "org.rdma4j.nio.";

  /**
   * Without a secret, a peer must prove all that this side records, because less may be guessed.
   */
  private static final long USUAL_WITHOUT_SECRET = Proof.RECORDED;

  private static final long LEAST_WITHOUT_SECRET = 32;

  private static final int LEAST_SECRET = 16;

  ChannelSettings {
    networks = List.copyOf(networks);
    addresses = Map.copyOf(addresses);
  }

  /**
   * Reads the properties.
   *
   * @throws IllegalArgumentException if one has a value that it must not have, with the name of the
   *     property
   */
  static ChannelSettings read(UnaryOperator<@Nullable String> property) {
    byte[] secret = secret(property.apply(PREFIX + "secret"));
    boolean isSecret = secret.length > 0;
    long least = isSecret ? 1 : LEAST_WITHOUT_SECRET;
    long usual = isSecret ? 1 : USUAL_WITHOUT_SECRET;
    return new ChannelSettings(
        upgrades(property.apply(PREFIX + "upgrade")),
        allDevices(property.apply(PREFIX + "devices")),
        new Proof(secret, number(property, "after", least, usual)),
        Duration.ofSeconds(number(property, "timeout", 1, 10)),
        number(property, "refused", 0, 60),
        number(property, "most", 1, Long.MAX_VALUE),
        maxRegisteredBytes(property),
        networks(property.apply(PREFIX + "networks")),
        addresses(property.apply(PREFIX + "addresses")));
  }

  private static boolean upgrades(@Nullable String value) {
    if (value == null || value.equals("background")) {
      return true;
    }
    if (value.equals("off")) {
      return false;
    }
    throw wrong("upgrade", value, "must be background or off");
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

  /** Returns whether sockets may go over, too, if an agent can let them. */
  static boolean sockets(UnaryOperator<@Nullable String> property) {
    String value = property.apply(PREFIX + "sockets");
    if (value == null || value.equals("on")) {
      return !"off".equals(property.apply(PREFIX + "upgrade"));
    }
    if (value.equals("off")) {
      return false;
    }
    throw wrong("sockets", value, "must be on or off");
  }

  private static byte[] secret(@Nullable String file) {
    if (file == null) {
      return new byte[0];
    }
    try {
      byte[] secret = Files.readAllBytes(Path.of(file));
      if (secret.length < LEAST_SECRET) {
        throw wrong(
            "secret",
            file,
            "has " + secret.length + " bytes, must have at least " + LEAST_SECRET + " random ones");
      }
      return secret;
    } catch (IOException unreadable) {
      throw wrong("secret", file, "cannot be read: " + unreadable);
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
      // Reported as one that is too small.
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
              "networks", value, "contains " + each + ", which is no network: 10.0.0.0/8 is one");
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
          throw wrong("addresses", value, "must be TCP=RDMA,TCP=RDMA and so on");
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
      throw wrong("addresses", value, "contains " + text + ", which is no IP address");
    }
  }

  private static IllegalArgumentException wrong(String name, String value, String why) {
    return new IllegalArgumentException(
        "the system property " + PREFIX + name + " is " + value + ": it " + why);
  }

  /** Returns the networks of peers, for a log. */
  String networkNames() {
    return networks.isEmpty()
        ? "all networks"
        : networks.stream().map(Network::toString).collect(Collectors.joining(", "));
  }

  /** Returns whether connections to a peer with a TCP address may go over. */
  boolean includes(InetAddress tcp) {
    return networks.isEmpty() || networks.stream().anyMatch(each -> each.contains(tcp));
  }

  /** Returns the RDMA address of the host that has a TCP address. */
  InetAddress rdmaAddress(InetAddress tcp) {
    return addresses.getOrDefault(tcp, tcp);
  }
}
