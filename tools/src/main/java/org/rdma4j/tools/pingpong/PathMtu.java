package org.rdma4j.tools.pingpong;

import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.Mtu;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code --mtu} of the programs whose queue pairs are connected. */
final class PathMtu {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "the path MTU: 256, 512, 1024, 2048 or 4096 (default: ${DEFAULT-VALUE})")
  int mtu = 1024;

  Mtu mtu() {
    try {
      return Mtu.ofBytes(mtu);
    } catch (IllegalArgumentException invalid) {
      throw new ParameterException(spec.commandLine(), "-m: " + invalid.getMessage(), invalid);
    }
  }

  void checkDevice(RdmaDevice device, int port) {
    int active = device.port(port).attributes().activeMtu().bytes();
    if (mtu > active) {
      throw new Failure(
          "-m is %d, must be at most %d, the active MTU of port %d of %s"
              .formatted(mtu, active, port, device.info().name()));
    }
  }
}
