package org.rdma4j.tools.pingpong;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.tools.testing.TestDevice;

/**
 * The command lines of a ping-pong, made of its kind and the options for both sides, such as {@code
 * rc -s 64 -n 50}.
 */
final class PingPongCommands {
  private PingPongCommands() {}

  static String[] server(int port, String options) {
    int end = options.indexOf(' ');
    return "%s-pingpong -d %s -g %s -p %d %s"
        .formatted(
            options.substring(0, end),
            TestDevice.NAME,
            TestDevice.GID,
            port,
            options.substring(end + 1))
        .split(" ");
  }

  static String[] client(int port, String options) {
    return server(port, options + " localhost");
  }

  static List<String> serverInC(int port, String options) {
    List<String> command = new ArrayList<>(List.of(server(port, options)));
    command.set(0, "ibv_" + command.get(0).replace('-', '_'));
    return command;
  }

  static List<String> clientInC(int port, String options) {
    return serverInC(port, options + " localhost");
  }
}
