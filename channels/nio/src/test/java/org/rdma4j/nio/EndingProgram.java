package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Random;

/** A program that ends, or ends its connection, in one of the ways in which programs do that. */
final class EndingProgram {
  /** The last exchange before the connection is ready to end begins with it. */
  static final byte LAST = 1;

  /** In an answer: all uses RDMA that can. */
  static final byte READY = 1;

  static final int EXCHANGE = 100;
  static final int PIECE = 1000;
  private static final int SEED = 5;

  private final InetSocketAddress server;

  private EndingProgram(InetSocketAddress server) {
    this.server = server;
  }

  static byte[] data(int length) {
    byte[] bytes = new byte[length];
    new Random(SEED).nextBytes(bytes);
    return bytes;
  }

  public static void main(String[] arguments) throws Exception {
    var program =
        new EndingProgram(
            new InetSocketAddress(
                InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0])));
    program.run(arguments[1], Integer.parseInt(arguments[2]));
  }

  private void run(String way, int length) throws Exception {
    switch (way) {
      case "closeAndExit" -> {
        write(connect(), 0, length).close();
        System.exit(0);
      }
      case "closeAndReturn" -> write(connect(), 0, length).close();
      case "close" -> {
        write(connect(), 0, length).close();
        Thread.sleep(Long.MAX_VALUE);
      }
      case "exit" -> {
        write(connect(), 0, length);
        System.exit(0);
      }
      case "hook" -> {
        SocketChannel channel = connect();
        write(channel, 0, PIECE);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> finish(channel, length)));
        System.exit(0);
      }
      case "connectInHook" -> {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> connectAndFinish(length)));
        System.exit(0);
      }
      case "socketInHook" -> {
        Runtime.getRuntime().addShutdownHook(new Thread(this::talk));
        System.exit(0);
      }
      case "exitWhileReading" -> {
        SocketChannel channel = write(connect(), 0, length);
        // Its thread is a daemon, and waits there before this returns.
        var unused = ChannelPair.waiting(() -> channel.read(ByteBuffer.allocate(1)));
        System.exit(0);
      }
      case "halt" -> {
        write(connect(), 0, length);
        Thread.sleep(2000);
        Runtime.getRuntime().halt(0);
      }
      case "haltWhileWriting" -> {
        SocketChannel channel = connect();
        // Its thread is a daemon.
        var unused = ChannelPair.waiting(() -> write(channel, 0, length));
        Thread.sleep(2000);
        Runtime.getRuntime().halt(0);
      }
      case "claimAndHalt" -> {
        SocketChannel channel = SocketChannel.open(server);
        exchange(channel, (byte) 0);
        channel.write(ByteBuffer.wrap(data(length)));
        Thread.sleep(1500);
        Runtime.getRuntime().halt(0);
      }
      default -> throw new IllegalArgumentException(way);
    }
  }

  private static void finish(SocketChannel channel, int length) {
    try {
      for (int at = PIECE; at < length; at += PIECE) {
        Thread.sleep(2);
        write(channel, at, PIECE);
      }
      channel.close();
    } catch (IOException | InterruptedException failed) {
      System.out.println("failed " + failed);
    }
  }

  private void connectAndFinish(int length) {
    try {
      SocketChannel channel = connect();
      write(channel, 0, length);
      channel.close();
    } catch (IOException | InterruptedException failed) {
      System.out.println("failed " + failed);
    }
  }

  /** Exchanges as much over a socket as another program does over a channel. */
  private void talk() {
    try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
      OutputStream output = socket.getOutputStream();
      InputStream input = socket.getInputStream();
      boolean ready = false;
      boolean last = false;
      while (!last) {
        byte[] bytes = new byte[EXCHANGE];
        last = ready;
        bytes[0] = last ? LAST : 0;
        output.write(bytes);
        byte[] answer = input.readNBytes(EXCHANGE);
        if (answer.length < EXCHANGE) {
          throw new IOException("an early end");
        }
        ready = answer[1] == READY;
        Thread.sleep(5);
      }
    } catch (IOException | InterruptedException failed) {
      System.out.println("failed " + failed);
    }
  }

  /** Connects, and exchanges bytes until all use RDMA, if they can. */
  private SocketChannel connect() throws IOException, InterruptedException {
    SocketChannel channel = SocketChannel.open(server);
    while (!isReady(channel)) {
      exchange(channel, (byte) 0);
      Thread.sleep(10);
    }
    exchange(channel, LAST);
    return channel;
  }

  private static boolean isReady(SocketChannel channel) {
    return !(SelectorProvider.provider() instanceof RdmaSelectorProvider)
        || ((StreamChannel) channel).tcpOperations() == SelectionKey.OP_CONNECT;
  }

  private static void exchange(SocketChannel channel, byte first) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(EXCHANGE);
    bytes.put(0, first);
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
    bytes.clear();
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new IOException("an early end");
      }
    }
  }

  private static SocketChannel write(SocketChannel channel, int from, int length)
      throws IOException {
    byte[] bytes = data(from + length);
    for (int at = from; at < bytes.length; at += PIECE) {
      ByteBuffer piece = ByteBuffer.wrap(bytes, at, Math.min(PIECE, bytes.length - at));
      while (piece.hasRemaining()) {
        channel.write(piece);
      }
    }
    return channel;
  }
}
