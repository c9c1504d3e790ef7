package org.rdma4j.samples.pingpong;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.samples.testing.TestDevice;

/**
 * The command lines of a ping-pong, made of its kind and the options for both sides, such as {@code
 * rc -s 64 -n 50}.
 */
final class PingPongCommands {
  private PingPongCommands() {}

  static String[] server(int port, String game) {
    int end = game.indexOf(' ');
    return "%s-pingpong -d %s -g %s -p %d %s"
        .formatted(
            game.substring(0, end), TestDevice.NAME, TestDevice.GID, port, game.substring(end + 1))
        .split(" ");
  }

  static String[] client(int port, String game) {
    return server(port, game + " localhost");
  }

  static List<String> serverInC(int port, String game) {
    List<String> command = new ArrayList<>(List.of(server(port, game)));
    command.set(0, "ibv_" + command.get(0).replace('-', '_'));
    return command;
  }

  static List<String> clientInC(int port, String game) {
    return serverInC(port, game + " localhost");
  }
}
