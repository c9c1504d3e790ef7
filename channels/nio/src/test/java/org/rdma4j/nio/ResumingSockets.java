package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.spi.SelectorProvider;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Sends bytes in both directions of sockets whose RDMA connection is cut meanwhile, and prints what
 * came. On both sides, a thread waits for TCP before the upgrade.
 */
final class ResumingSockets {
  static final int ROUNDS = 5;
  private static final int BYTES = 20_000_000;
  private static final int PIECE = 50_000;
  private static final int GREETING = 64;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Random random = new Random();

  private ResumingSockets() {}

  public static void main(String[] arguments) throws Exception {
    ResumingSockets program = new ResumingSockets();
    try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      for (int i = 0; i < ROUNDS; i++) {
        try (Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
            Socket server = listener.accept()) {
          System.out.println("round: " + program.round(client, server));
        }
      }
    }
    System.out.println("resumed: " + ours().statistics().resumed());
    System.exit(0);
  }

  private String round(Socket client, Socket server) throws Exception {
    long before = ours().statistics().upgraded();
    greet(client, server);
    greet(server, client);
    var up = ChannelPair.waiting(() -> read(server.getInputStream()));
    var down = ChannelPair.waiting(() -> read(client.getInputStream()));
    await(
        () ->
            ours().statistics().upgraded() == before + 2
                && upgrades().stream().allMatch(Upgrade::isOffsetSeen));
    var clientWrites = ChannelPair.waiting(() -> write(client));
    var serverWrites = ChannelPair.waiting(() -> write(server));
    Thread.sleep(random.nextInt(50));
    upgrades().iterator().next().stream().connection().abort();
    return "%s %s %s %s".formatted(up.get(), down.get(), clientWrites.get(), serverWrites.get());
  }

  /** Lets both sides prove themselves. */
  private void greet(Socket from, Socket to) throws IOException {
    byte[] greeting = new byte[GREETING];
    random.nextBytes(greeting);
    from.getOutputStream().write(greeting);
    to.getInputStream().readNBytes(GREETING);
  }

  private String write(Socket socket) throws IOException {
    OutputStream output = socket.getOutputStream();
    byte[] piece = new byte[PIECE];
    int at = 0;
    while (at < BYTES) {
      int length = Math.min(1 + random.nextInt(PIECE), BYTES - at);
      for (int i = 0; i < length; i++) {
        piece[i] = expected(at + i);
      }
      output.write(piece, 0, length);
      at += length;
    }
    socket.shutdownOutput();
    return "written";
  }

  private static String read(InputStream input) throws IOException {
    byte[] piece = new byte[PIECE];
    int at = 0;
    while (true) {
      piece[1] = 77;
      int count = input.read(piece);
      if (count < 0) {
        return at == BYTES ? "all" : "ended after " + at;
      }
      if (count == 1 && piece[1] != 77) {
        return "byte behind those at " + at + " has changed";
      }
      for (int i = 0; i < count; i++) {
        if (piece[i] != expected(at + i)) {
          return "wrong byte at " + (at + i);
        }
      }
      at += count;
    }
  }

  /** Repeats after a prime, so all is wrong after lost or repeated bytes. */
  private static byte expected(int at) {
    int position = at % 65_521;
    return (byte) ((position * position) >> 4);
  }

  private static void await(UpgradeTest.Condition condition) throws Exception {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!condition.holds()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("the sockets are not upgraded: " + ours().statistics());
      }
      Thread.sleep(1);
    }
  }

  private static RdmaSelectorProvider ours() {
    return (RdmaSelectorProvider) SelectorProvider.provider();
  }

  @SuppressWarnings("unchecked") // That is its type.
  private static Set<Upgrade> upgrades() throws ReflectiveOperationException {
    Field field = Rendezvous.class.getDeclaredField("overRdma");
    field.setAccessible(true);
    return (Set<Upgrade>) field.get(ours().rendezvous());
  }
}
