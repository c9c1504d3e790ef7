package org.rdma4j.nio;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.rdma4j.nio.SocketChecks.Waiting;

/**
 * Prints what sockets do, in a JVM of its own: {@code SocketProgram WAY KEYS}. With the way {@code
 * rdma} all connections must have been upgraded before they are used; {@code tcp} and {@code
 * waiting} do not wait for that.
 */
final class SocketProgram {
  static final String KEYS_PASSWORD = "changeit";

  private static final int GREETING = 64;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final boolean greets;
  private final boolean overRdma;
  private final Path keys;
  private final ServerSocket listener;

  private SocketProgram(String way, Path keys) throws IOException {
    this.greets = !way.equals("waiting");
    this.overRdma = way.equals("rdma");
    this.keys = keys;
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  public static void main(String[] arguments) throws Exception {
    SocketProgram program = new SocketProgram(arguments[0], Path.of(arguments[1]));
    program.run();
    if (SelectorProvider.provider() instanceof RdmaSelectorProvider ours) {
      System.err.println("statistics " + ours.statistics());
    }
    System.exit(0);
  }

  private void run() throws Exception {
    for (var check : SocketChecks.all().entrySet()) {
      print(check.getKey(), check.getValue());
    }
    print("TLS over a socket", this::tls);
    for (var check : ListenerChecks.all().entrySet()) {
      System.out.println(check.getKey() + ": " + SocketChecks.outcome(check.getValue()));
    }
    print("a socket that was dropped", (client, server) -> dropped());
    System.out.println("socket to channel: " + SocketChecks.outcome(this::toChannel));
    System.out.println("channel to socket: " + SocketChecks.outcome(this::fromChannel));
    System.out.println("a close during its upgrade: " + SocketChecks.outcome(this::closeMeanwhile));
    System.out.println("urgent data inline: " + SocketChecks.outcome(this::urgentInline));
    System.out.println("HttpURLConnection: " + SocketChecks.outcome(this::http));
    System.out.println("RMI: " + SocketChecks.outcome(SocketProgram::rmi));
  }

  private void print(String name, SocketChecks.Check check) throws Exception {
    try (Socket client = new Socket()) {
      long before = upgraded();
      client.connect(listener.getLocalSocketAddress(), 10_000);
      try (Socket server = listener.accept()) {
        greet(client, server, before);
        String outcome = SocketChecks.outcome(() -> check.run(client, server));
        System.out.println(name + ": " + outcome);
      }
    }
  }

  private static long upgraded() {
    return SelectorProvider.provider() instanceof RdmaSelectorProvider ours
        ? ours.statistics().upgraded()
        : 0;
  }

  /** Lets both sides exchange what they prove themselves with, and upgrades them. */
  private void greet(Socket client, Socket server, long before) throws Exception {
    if (!greets) {
      return;
    }
    byte[] greeting = new byte[GREETING];
    new Random().nextBytes(greeting);
    client.getOutputStream().write(greeting);
    server.getOutputStream().write(server.getInputStream().readNBytes(GREETING));
    if (!Arrays.equals(client.getInputStream().readNBytes(GREETING), greeting)) {
      throw new IllegalStateException("another greeting");
    }
    if (overRdma) {
      awaitUpgraded(before + 2);
      // Both directions have moved when the peer has read over RDMA.
      exchange(client, server);
      exchange(server, client);
    }
  }

  private static void exchange(Socket from, Socket to) throws IOException {
    long received = ours().statistics().receivedBytes();
    long end = System.nanoTime() + PATIENCE_NANOS;
    do {
      from.getOutputStream().write(1);
      if (to.getInputStream().read() != 1 || System.nanoTime() > end) {
        throw new IllegalStateException("the connection is not upgraded");
      }
    } while (ours().statistics().receivedBytes() == received);
  }

  private static RdmaSelectorProvider ours() {
    return (RdmaSelectorProvider) SelectorProvider.provider();
  }

  private static void awaitUpgraded(long count) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (upgraded() < count) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("the connection is not upgraded");
      }
      Thread.sleep(1);
    }
  }

  private Object toChannel() throws Exception {
    try (ServerSocketChannel channel =
            ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Socket client = new Socket()) {
      long before = upgraded();
      client.connect(channel.getLocalAddress());
      try (SocketChannel server = channel.accept()) {
        greet(client, server.socket(), before);
        return SocketChecks.named("both directions concurrently").run(client, server.socket());
      }
    }
  }

  private Object fromChannel() throws Exception {
    long before = upgraded();
    try (SocketChannel client = SocketChannel.open(listener.getLocalSocketAddress());
        Socket server = listener.accept()) {
      greet(client.socket(), server, before);
      return SocketChecks.named("both directions concurrently").run(client.socket(), server);
    }
  }

  /** Closes while a write to TCP is blocked: how much it has written is not known then. */
  @SuppressWarnings("try") // The close is what is checked.
  private Object closeMeanwhile() throws Exception {
    try (Socket client = new Socket()) {
      long before = upgraded();
      client.connect(listener.getLocalSocketAddress());
      try (Socket server = listener.accept()) {
        client.getOutputStream().write(new byte[GREETING]);
        Waiting writer =
            Waiting.in(
                () -> {
                  client.getOutputStream().write(new byte[50_000_000]);
                  return "written";
                });
        server.getOutputStream().write(server.getInputStream().readNBytes(GREETING));
        client.getInputStream().readNBytes(GREETING);
        if (overRdma) {
          awaitUpgraded(before + 2);
        }
        // Not before the writer has begun.
        boolean begun = server.getInputStream().read() >= 0;
        client.close();
        int read = server.getInputStream().readAllBytes().length;
        return writer.get() + " " + (begun && read < 50_000_000);
      }
    }
  }

  /** Stays on TCP, because RDMA has no urgent data. */
  private Object urgentInline() throws Exception {
    try (Socket client = new Socket()) {
      client.connect(listener.getLocalSocketAddress());
      try (Socket server = listener.accept()) {
        server.setOOBInline(true);
        byte[] greeting = new byte[GREETING];
        client.getOutputStream().write(greeting);
        server.getOutputStream().write(server.getInputStream().readNBytes(GREETING));
        client.getInputStream().readNBytes(GREETING);
        Thread.sleep(200);
        client.sendUrgentData(2);
        client.getOutputStream().write(3);
        client.shutdownOutput();
        return Arrays.toString(server.getInputStream().readAllBytes()) + server.getOOBInline();
      }
    }
  }

  /** The peer of a socket that is not in use any more sees its end. */
  private Object dropped() throws Exception {
    try (Socket server = accepted()) {
      server.setSoTimeout(100);
      for (int i = 0; i < 100; i++) {
        System.gc();
        String read = SocketChecks.outcome(() -> server.getInputStream().read());
        if (!read.contains("timed out")) {
          return read;
        }
      }
      return "no end";
    }
  }

  /** Connects, and forgets the client. */
  private Socket accepted() throws Exception {
    long before = upgraded();
    Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
    Socket server = listener.accept();
    greet(client, server, before);
    return server;
  }

  private Object tls(Socket client, Socket server) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (var file = Files.newInputStream(keys)) {
      store.load(file, KEYS_PASSWORD.toCharArray());
    }
    KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
    own.init(store, KEYS_PASSWORD.toCharArray());
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    var factory = context.getSocketFactory();
    SSLSocket secureClient = (SSLSocket) factory.createSocket(client, "localhost", 1, true);
    SSLSocket secureServer = (SSLSocket) factory.createSocket(server, null, true);
    var checked = SocketChecks.named("bytes go there and back").run(secureClient, secureServer);
    String protocol = secureClient.getSession().getProtocol();
    secureClient.close();
    return checked + " " + protocol + " " + secureServer.getInputStream().read();
  }

  private Object http() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, body.length);
          try (var output = exchange.getResponseBody()) {
            output.write(body);
          }
        });
    server.start();
    long before = upgraded();
    byte[] body = "x".repeat(10_000).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    int same = 0;
    for (int i = 0; i < 50; i++) {
      var url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/").toURL();
      HttpURLConnection connection = (HttpURLConnection) url.openConnection();
      connection.setDoOutput(true);
      connection.getOutputStream().write(body);
      try (var input = connection.getInputStream()) {
        same += Arrays.equals(input.readAllBytes(), body) ? 1 : 0;
      }
      if (i == 25 && overRdma) {
        awaitUpgraded(before + 2);
      }
    }
    server.stop(0);
    return same;
  }

  /** An object that is called over RMI. */
  interface Sum extends Remote {
    int of(int one, int other) throws RemoteException;
  }

  private static Object rmi() throws Exception {
    System.setProperty("java.rmi.server.hostname", "127.0.0.1");
    Sum object = (one, other) -> one + other;
    Remote exported = UnicastRemoteObject.exportObject(object, 0);
    Registry registry = LocateRegistry.createRegistry(0);
    registry.rebind("sum", exported);
    Sum stub = (Sum) registry.lookup("sum");
    int sum = 0;
    for (int i = 0; i < 200; i++) {
      sum = stub.of(sum, i);
    }
    return sum;
  }
}
