package org.rdma4j.tools.selftest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.rdma4j.tools.command.Version;
import org.rdma4j.verbs.Port;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.PortAttributes;

/** The versions and properties that a reader of the report needs to know. */
final class ReportFacts {
  /** The libraries of rdma-core, and the providers, which its packages name in one of two ways. */
  private static final Pattern LIBRARY =
      Pattern.compile("lib(ibverbs|rdmacm|mlx\\d|efa|hns|mana|.+-rdmav\\d+)\\.so.*");

  private final TestedDevice tested;

  ReportFacts(TestedDevice tested) {
    this.tested = tested;
  }

  /** Returns the facts by their names, in the order of the report. */
  Map<String, Object> all() {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("version", new Version().getVersion()[0]);
    facts.put(
        "java", System.getProperty("java.vm.version") + " " + System.getProperty("java.vm.name"));
    facts.put(
        "system",
        "%s %s, %s, %d processors"
            .formatted(
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors()));
    try (RdmaDevice device = tested.open()) {
      facts.put("libraries", libraries());
      facts.put("device", of(device));
      for (Port port : device.ports()) {
        facts.put("port " + port.number(), of(port));
      }
    }
    facts.put("address", tested.address().map(InetAddress::getHostAddress).orElse("none"));
    return facts;
  }

  private static String libraries() {
    try {
      return Files.readAllLines(Path.of("/proc/self/maps")).stream()
          .filter(line -> line.contains("/"))
          .map(line -> line.substring(line.lastIndexOf('/') + 1))
          .filter(file -> LIBRARY.matcher(file).matches())
          .distinct()
          .collect(Collectors.joining(", "));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static String of(RdmaDevice device) {
    DeviceAttributes attributes = device.attributes();
    return "%s, %s, firmware %s, vendor 0x%x, part %d, board %s, driver %s"
        .formatted(
            device.info().name(),
            device.info().transport(),
            attributes.firmwareVersion(),
            attributes.vendorId(),
            attributes.vendorPartId(),
            text(Path.of(device.info().systemPath(), "board_id")),
            driver(Path.of(device.info().systemPath(), "device", "driver")));
  }

  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException unknown) {
      return "unknown";
    }
  }

  private static String driver(Path link) {
    try {
      return Objects.toString(link.toRealPath().getFileName());
    } catch (IOException unknown) {
      return "unknown";
    }
  }

  private static String of(Port port) {
    PortAttributes attributes = port.attributes();
    return "%s, %s, MTU %s of %s, rate %s, GIDs %s"
        .formatted(
            attributes.state(),
            attributes.linkLayer(),
            attributes.activeMtu(),
            attributes.maxMtu(),
            text(Path.of(port.device().info().systemPath(), "ports", "" + port.number(), "rate")),
            port.gids().stream()
                .map(entry -> entry.index() + " " + entry.type() + " " + entry.gid())
                .collect(Collectors.joining(", ")));
  }
}
