package org.rdma4j.samples;

import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.Mtu;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option of the programs whose queue pairs are connected. */
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
    } catch (IllegalArgumentException none) {
      throw new ParameterException(spec.commandLine(), "-m: " + none.getMessage(), none);
    }
  }

  void checkDevice(RdmaDevice device, int port) {
    int active = device.port(port).activeMtu().bytes();
    if (mtu > active) {
      throw new Failure(
          "-m %d: port %d of %s has an active MTU of %d"
              .formatted(mtu, port, device.info().name(), active));
    }
  }
}
