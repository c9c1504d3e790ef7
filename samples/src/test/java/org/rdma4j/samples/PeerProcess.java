package org.rdma4j.samples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program that {@link PeerHost} runs in the second guest of a pair. */
final class PeerProcess implements AutoCloseable {
  static final String HOST = "192.0.2.2";

  /** A JVM that starts in an emulated guest of a busy machine takes its time. */
  private static final int PATIENCE_SECONDS = 300;

  private final Socket socket;
  private final BufferedReader output;
  private final StringBuilder printed = new StringBuilder();

  private PeerProcess(Socket socket, BufferedReader output) {
    this.socket = socket;
    this.output = output;
  }

  static PeerProcess start(List<String> command) throws Exception {
    Socket socket = connect();
    socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
    String line = String.join(PeerHost.WORDS, command) + "\n";
    socket.getOutputStream().write(line.getBytes(StandardCharsets.UTF_8));
    return new PeerProcess(
        socket,
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)));
  }

  /** Once the other guest listens, whose JVM starts beside this. */
  private static Socket connect() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (true) {
      Socket socket = new Socket();
      try {
        socket.connect(
            new InetSocketAddress(HOST, PeerHost.PORT),
            (int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        return socket;
      } catch (ConnectException refused) {
        socket.close();
        if (System.nanoTime() > deadline) {
          throw refused;
        }
        Thread.sleep(200);
      }
    }
  }

  /** Waits for a line that begins so: what follows in it. */
  String awaitLine(String beginning) {
    String line = nextLine();
    while (line != null) {
      if (line.startsWith(beginning)) {
        return line.substring(beginning.length());
      }
      line = nextLine();
    }
    throw new AssertionError("no \"%s\" in what it printed: %s".formatted(beginning, printed));
  }

  /** Waits for its end: all that it printed. */
  List<String> await() {
    String line = nextLine();
    while (line != null) {
      line = nextLine();
    }
    return printed.toString().lines().toList();
  }

  private String nextLine() {
    try {
      String line = output.readLine();
      if (line != null) {
        printed.append(line).append('\n');
      }
      return line;
    } catch (IOException late) {
      throw new UncheckedIOException("it printed: " + printed, late);
    }
  }

  /** By SIGKILL, and waits until it is gone. */
  void kill() throws IOException {
    socket.shutdownOutput();
    await();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
