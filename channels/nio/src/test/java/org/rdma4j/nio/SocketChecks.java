package org.rdma4j.nio;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import jdk.net.ExtendedSocketOptions;

/** What two connected sockets do, each as a text that must be the same over TCP and over RDMA. */
final class SocketChecks {
  /** Uses both sockets, and says what has happened. */
  interface Check {
    Object run(Socket client, Socket server) throws Exception;
  }

  private static final int LONG = 300_000;
  private static final long PATIENCE_SECONDS = 30;

  private SocketChecks() {}

  /** Returns the check of a name. */
  static Check named(String name) {
    return Objects.requireNonNull(all().get(name), name);
  }

  static Map<String, Check> all() {
    Map<String, Check> checks = new LinkedHashMap<>();
    checks.put("bytes go there and back", SocketChecks::echo);
    checks.put("both directions concurrently", SocketChecks::bothDirections);
    checks.put("two writers do not mix", SocketChecks::twoWriters);
    checks.put("read timeout", SocketChecks::readTimeout);
    checks.put("timeout of a second reader", SocketChecks::timeoutOfSecondReader);
    checks.put("close ends a read", (client, server) -> closeEnds(client, read(client)));
    checks.put("close ends a write", (client, server) -> closeEnds(client, writeAll(client)));
    checks.put("interrupt of a reader", SocketChecks::interruptOfReader);
    checks.put("interrupt of a reader with timeout", SocketChecks::interruptWithTimeout);
    checks.put("interrupt of a virtual reader", (c, s) -> interruptVirtual(c, read(c)));
    checks.put("interrupt of a virtual writer", (c, s) -> interruptVirtual(c, writeAll(c)));
    checks.put("interrupted before a read", SocketChecks::interruptedBefore);
    checks.put("available", SocketChecks::available);
    checks.put("available at the end", SocketChecks::availableAtTheEnd);
    checks.put("shutdown of the input", SocketChecks::shutdownInput);
    checks.put("shutdown of the output", SocketChecks::shutdownOutput);
    checks.put("shutdown of the output ends a write", SocketChecks::shutdownEndsWrite);
    checks.put("what was written before a close arrives", SocketChecks::closeAfterWrite);
    checks.put("a reset", SocketChecks::reset);
    checks.put("a close that lingers", SocketChecks::linger);
    checks.put("writes to a peer that has closed", SocketChecks::writesToClosed);
    checks.put("reads after the end and the close", SocketChecks::readsAfterEnd);
    checks.put("reads and writes after a close", SocketChecks::afterClose);
    checks.put("options", SocketChecks::options);
    checks.put("addresses", SocketChecks::addresses);
    checks.put("urgent data", SocketChecks::urgent);
    checks.put("bad arguments", SocketChecks::badArguments);
    return checks;
  }

  /** Returns what comes of a call, also if it fails. */
  static String outcome(Callable<?> call) {
    try {
      return String.valueOf(call.call());
    } catch (Exception failed) {
      return failed.toString();
    }
  }

  /** A call in a thread that has had the time to wait in it. */
  record Waiting(Thread thread, FutureTask<String> task) {
    static Waiting in(Thread.Builder builder, Callable<?> call) throws InterruptedException {
      FutureTask<String> task = new FutureTask<>(() -> outcome(call));
      Thread thread = builder.start(task);
      Thread.sleep(150);
      return new Waiting(thread, task);
    }

    static Waiting in(Callable<?> call) throws InterruptedException {
      return in(Thread.ofPlatform().daemon(), call);
    }

    String get() throws Exception {
      return task.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static Callable<Integer> read(Socket socket) {
    return () -> socket.getInputStream().read();
  }

  /** Writes until it fails. */
  private static Callable<Void> writeAll(Socket socket) {
    return () -> {
      OutputStream output = socket.getOutputStream();
      byte[] bytes = new byte[LONG];
      while (true) {
        output.write(bytes);
      }
    };
  }

  private static byte[] random(int seed) {
    byte[] bytes = new byte[LONG];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static Object echo(Socket client, Socket server) throws Exception {
    byte[] bytes = random(1);
    Waiting answer =
        Waiting.in(
            () -> {
              server.getOutputStream().write(server.getInputStream().readNBytes(LONG));
              return "answered";
            });
    client.getOutputStream().write(bytes);
    return Arrays.equals(client.getInputStream().readNBytes(LONG), bytes) + " " + answer.get();
  }

  private static Object bothDirections(Socket client, Socket server) throws Exception {
    Waiting there = Waiting.in(() -> send(client, 7));
    Waiting back = Waiting.in(() -> send(server, 8));
    Waiting arrives = Waiting.in(() -> checksum(server));
    return checksum(client) + " " + arrives.get() + " " + there.get() + " " + back.get();
  }

  private static long send(Socket socket, int seed) throws IOException {
    Random random = new Random(seed);
    CRC32 sum = new CRC32();
    OutputStream output = socket.getOutputStream();
    for (int i = 0; i < 400; i++) {
      byte[] bytes = new byte[1 + random.nextInt(20_000)];
      random.nextBytes(bytes);
      sum.update(bytes);
      output.write(bytes);
    }
    socket.shutdownOutput();
    return sum.getValue();
  }

  private static long checksum(Socket socket) throws IOException {
    CRC32 sum = new CRC32();
    byte[] bytes = new byte[5000];
    InputStream input = socket.getInputStream();
    for (int count = input.read(bytes); count >= 0; count = input.read(bytes)) {
      sum.update(bytes, 0, count);
    }
    return sum.getValue();
  }

  private static Object twoWriters(Socket client, Socket server) throws Exception {
    Waiting one = Waiting.in(() -> fill(client, 1));
    Waiting two = Waiting.in(() -> fill(client, 2));
    DataInputStream input = new DataInputStream(server.getInputStream());
    int[] seen = new int[3];
    for (int i = 0; i < 8; i++) {
      byte[] bytes = input.readNBytes(LONG);
      for (byte each : bytes) {
        if (each != bytes[0]) {
          return "mixed";
        }
      }
      seen[bytes[0]]++;
    }
    return Arrays.toString(seen) + one.get() + two.get();
  }

  private static Object fill(Socket socket, int value) throws IOException {
    byte[] bytes = new byte[LONG];
    Arrays.fill(bytes, (byte) value);
    for (int i = 0; i < 4; i++) {
      socket.getOutputStream().write(bytes);
    }
    return "written";
  }

  private static Object readTimeout(Socket client, Socket server) throws Exception {
    client.setSoTimeout(200);
    long begin = System.nanoTime();
    String late = outcome(read(client));
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    server.getOutputStream().write('x');
    return late
        + (millis >= 199 && millis < 2000 ? " in time " : " after " + millis)
        + read(client).call()
        + client.getSoTimeout();
  }

  private static Object timeoutOfSecondReader(Socket client, Socket server) throws Exception {
    Waiting first = Waiting.in(read(client));
    client.setSoTimeout(100);
    String second = outcome(read(client));
    server.getOutputStream().write('y');
    return second + " " + first.get();
  }

  private static Object closeEnds(Socket client, Callable<?> call) throws Exception {
    Waiting waiting = Waiting.in(call);
    client.close();
    return waiting.get();
  }

  private static Object interruptOfReader(Socket client, Socket server) throws Exception {
    Waiting reader = Waiting.in(() -> read(client).call() + " interrupted " + Thread.interrupted());
    reader.thread().interrupt();
    Thread.sleep(100);
    boolean waits = !reader.task().isDone();
    server.getOutputStream().write('z');
    return waits + " " + reader.get() + " closed " + client.isClosed();
  }

  private static Object interruptWithTimeout(Socket client, Socket server) throws Exception {
    client.setSoTimeout(400);
    Waiting reader =
        Waiting.in(() -> outcome(read(client)) + " interrupted " + Thread.interrupted());
    reader.thread().interrupt();
    return reader.get() + " closed " + client.isClosed();
  }

  private static Object interruptVirtual(Socket client, Callable<?> call) throws Exception {
    Waiting waiting = Waiting.in(Thread.ofVirtual(), call);
    waiting.thread().interrupt();
    return waiting.get() + " closed " + client.isClosed();
  }

  private static Object interruptedBefore(Socket client, Socket server) throws Exception {
    server.getOutputStream().write(new byte[] {1, 2});
    awaitAvailable(client, 2);
    Callable<?> call =
        () -> {
          Thread.currentThread().interrupt();
          return read(client).call();
        };
    return Waiting.in(call).get() + " " + Waiting.in(Thread.ofVirtual(), call).get();
  }

  private static void awaitAvailable(Socket socket, int bytes) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (socket.getInputStream().available() < bytes && System.nanoTime() < end) {
      Thread.sleep(1);
    }
  }

  private static Object available(Socket client, Socket server) throws Exception {
    int before = client.getInputStream().available();
    server.getOutputStream().write(new byte[5]);
    awaitAvailable(client, 5);
    int first = client.getInputStream().available();
    client.getInputStream().readNBytes(2);
    return before + " " + first + " " + client.getInputStream().available();
  }

  private static Object availableAtTheEnd(Socket client, Socket server) throws Exception {
    InputStream input = client.getInputStream();
    InputStream other = server.getInputStream();
    client.getOutputStream().write(3);
    awaitAvailable(server, 1);
    server.shutdownInput();
    String shut = outcome(other::available);
    client.close();
    return shut + " " + outcome(input::available);
  }

  private static Object shutdownInput(Socket client, Socket server) throws Exception {
    InputStream input = client.getInputStream();
    Waiting reader = Waiting.in(read(client));
    client.shutdownInput();
    return reader.get()
        + " "
        + input.read()
        + " "
        + outcome(client::getInputStream)
        + " "
        + client.isInputShutdown();
  }

  private static Object shutdownOutput(Socket client, Socket server) throws Exception {
    OutputStream output = client.getOutputStream();
    output.write(4);
    client.shutdownOutput();
    InputStream input = server.getInputStream();
    String read = input.read() + " " + input.read() + " " + input.read();
    server.getOutputStream().write(5);
    return read
        + " "
        + read(client).call()
        + " "
        + outcome(
            () -> {
              output.write(6);
              return "written";
            })
        + " "
        + outcome(client::getOutputStream)
        + client.isOutputShutdown()
        + client.isInputShutdown();
  }

  private static Object shutdownEndsWrite(Socket client, Socket server) throws Exception {
    Waiting writer = Waiting.in(writeAll(client));
    client.shutdownOutput();
    String written = writer.get();
    return written + " " + (server.getInputStream().readAllBytes().length > 0);
  }

  private static Object closeAfterWrite(Socket client, Socket server) throws Exception {
    byte[] bytes = random(2);
    Waiting reader = Waiting.in(() -> Arrays.equals(server.getInputStream().readAllBytes(), bytes));
    client.getOutputStream().write(bytes);
    client.close();
    return reader.get() + " " + read(server).call();
  }

  private static Object reset(Socket client, Socket server) throws Exception {
    Waiting reader = Waiting.in(read(server));
    client.setSoLinger(true, 0);
    client.close();
    return reader.get() + ", " + outcome(read(server)) + ", " + kind(writeAll(server));
  }

  /** Whether the peer is known to be gone from a reset or not depends on the time. */
  private static String kind(Callable<?> call) {
    try {
      return String.valueOf(call.call());
    } catch (Exception failed) {
      return failed.getClass().getName();
    }
  }

  private static Object linger(Socket client, Socket server) throws Exception {
    client.setSoLinger(true, 10);
    client.getOutputStream().write(7);
    Waiting reader = Waiting.in(() -> server.getInputStream().readAllBytes().length);
    client.close();
    return reader.get();
  }

  private static Object writesToClosed(Socket client, Socket server) throws Exception {
    server.close();
    Thread.sleep(50);
    return kind(writeAll(client));
  }

  private static Object readsAfterEnd(Socket client, Socket server) throws Exception {
    InputStream input = client.getInputStream();
    server.close();
    int end = input.read();
    int again = input.read();
    client.close();
    return end + " " + again + " " + outcome(input::read);
  }

  private static Object afterClose(Socket client, Socket server) throws Exception {
    InputStream input = client.getInputStream();
    OutputStream output = client.getOutputStream();
    client.close();
    return outcome(input::read)
        + ", "
        + outcome(
            () -> {
              output.write(8);
              return "written";
            })
        + ", "
        + outcome(client::getSoTimeout)
        + ", "
        + outcome(client::getInputStream)
        + ", "
        + outcome(client::getReceiveBufferSize);
  }

  private static Object options(Socket client, Socket server) throws Exception {
    client.setTcpNoDelay(true);
    client.setKeepAlive(true);
    client.setTrafficClass(8);
    client.setSoLinger(true, 3);
    client.setSoTimeout(1234);
    client.setReuseAddress(true);
    client.setOption(StandardSocketOptions.SO_SNDBUF, 50_000);
    client.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 77);
    String values =
        client.getTcpNoDelay()
            + " "
            + client.getKeepAlive()
            + " "
            + client.getTrafficClass()
            + " "
            + client.getSoLinger()
            + " "
            + client.getSoTimeout()
            + " "
            + client.getReuseAddress()
            + " "
            + client.getSendBufferSize()
            + " "
            + client.getOption(ExtendedSocketOptions.TCP_KEEPIDLE)
            + " "
            + client.getOOBInline();
    client.setSoLinger(false, 0);
    return values
        + " "
        + client.getSoLinger()
        + " "
        + client.supportedOptions().stream().map(Object::toString).sorted().toList()
        + outcome(() -> client.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true));
  }

  private static Object addresses(Socket client, Socket server) throws Exception {
    boolean same =
        client.getRemoteSocketAddress().equals(server.getLocalSocketAddress())
            && server.getRemoteSocketAddress().equals(client.getLocalSocketAddress());
    InetAddress local = client.getLocalAddress();
    String text =
        client
            .toString()
            .replace("" + client.getPort(), "P")
            .replace("" + client.getLocalPort(), "L");
    client.close();
    return same
        + " "
        + local
        + " "
        + text
        + " "
        + client.getChannel()
        + " "
        + (client.getPort() == ((InetSocketAddress) client.getRemoteSocketAddress()).getPort())
        + " "
        + client.getLocalAddress()
        + client.isConnected()
        + client.isBound();
  }

  private static Object urgent(Socket client, Socket server) throws Exception {
    client.getOutputStream().write(1);
    client.sendUrgentData(2);
    client.getOutputStream().write(3);
    client.shutdownOutput();
    return Arrays.toString(server.getInputStream().readAllBytes());
  }

  private static Object badArguments(Socket client, Socket server) throws Exception {
    InputStream input = client.getInputStream();
    OutputStream output = client.getOutputStream();
    output.write(new byte[3], 3, 0);
    return input.read(new byte[0])
        + " "
        + outcome(() -> input.read(new byte[2], 1, 2))
        + " "
        + outcome(
            () -> {
              output.write(new byte[2], -1, 2);
              return "written";
            })
        + " "
        + kind(() -> input.read(null, 0, 1));
  }
}
