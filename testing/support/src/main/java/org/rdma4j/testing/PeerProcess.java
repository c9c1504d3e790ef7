package org.rdma4j.testing;

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

/** A process that {@link PeerHost} runs in the second guest of a pair. */
public final class PeerProcess implements AutoCloseable {
  public static final String HOST = "192.0.2.2";

  /** Long enough for a JVM that starts in an emulated guest on a busy machine. */
  private static final int TIMEOUT_SECONDS = 300;

  private final Socket socket;
  private final BufferedReader output;
  private final StringBuilder printed = new StringBuilder();

  private PeerProcess(Socket socket, BufferedReader output) {
    this.socket = socket;
    this.output = output;
  }

  public static PeerProcess start(List<String> command) throws Exception {
    Socket socket = connect();
    socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
    String line = String.join(PeerHost.WORDS, command) + "\n";
    socket.getOutputStream().write(line.getBytes(StandardCharsets.UTF_8));
    return new PeerProcess(
        socket,
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)));
  }

  /** Connects as soon as the other guest listens, whose JVM starts at the same time as this one. */
  private static Socket connect() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (true) {
      Socket socket = new Socket();
      try {
        socket.connect(
            new InetSocketAddress(HOST, PeerHost.PORT),
            (int) TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
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

  /** Waits for a line that starts with a text, and returns the rest of the line. */
  public String awaitLine(String beginning) {
    String line = nextLine();
    while (line != null) {
      if (line.startsWith(beginning)) {
        return line.substring(beginning.length());
      }
      line = nextLine();
    }
    throw new AssertionError("no \"%s\" in its output: %s".formatted(beginning, printed));
  }

  /** Waits until the process ends, and returns its output. */
  public List<String> await() {
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
      throw new UncheckedIOException("its output: " + printed, late);
    }
  }

  /** Kills the process and waits for its end. */
  public void kill() throws IOException {
    try (socket) {
      socket.shutdownOutput();
      await();
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
