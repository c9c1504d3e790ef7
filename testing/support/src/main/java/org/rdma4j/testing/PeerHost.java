package org.rdma4j.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Runs commands in the second guest of a pair. Each TCP connection sends one line, the words of a
 * command separated by tabs, and receives the output of the command. The connection is closed when
 * the command ends; if the peer closes the connection first, the command is killed with SIGKILL.
 * The line "end" ends this program.
 */
final class PeerHost {
  static final int PORT = 7000;
  static final String WORDS = "\t";
  private static final String END = "end";

  private PeerHost() {}

  /** Listens on the address in the first argument. */
  public static void main(String... args) throws IOException {
    try (ServerSocket server = new ServerSocket(PORT, 0, InetAddress.getByName(args[0]))) {
      while (true) {
        Socket caller = server.accept();
        Thread.ofPlatform().daemon().start(() -> serve(caller));
      }
    }
  }

  private static void serve(Socket caller) {
    try (caller) {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(caller.getInputStream(), StandardCharsets.UTF_8));
      String command = lines.readLine();
      if (END.equals(command)) {
        System.exit(0);
      }
      if (command != null) {
        run(command, caller);
      }
    } catch (IOException | InterruptedException failed) {
      System.err.println(failed);
    }
  }

  private static void run(String command, Socket caller) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(List.of(command.split(WORDS))).redirectErrorStream(true).start();
    Thread.ofPlatform().daemon().start(() -> killAtEnd(caller, process));
    try {
      process.getInputStream().transferTo(caller.getOutputStream());
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static void killAtEnd(Socket caller, Process process) {
    try {
      caller.getInputStream().readAllBytes();
    } catch (IOException gone) {
      // A broken connection has ended too.
    } finally {
      process.destroyForcibly();
    }
  }
}
