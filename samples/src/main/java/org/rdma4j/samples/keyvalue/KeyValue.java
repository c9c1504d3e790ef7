package org.rdma4j.samples.keyvalue;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;

/**
 * Puts values into the cache of a server, and gets them by reading the server's memory. Start the
 * server without an argument. A client with a value puts it; without one, it prints the value that
 * the key has.
 *
 * <pre>
 * java -jar samples/target/rdma4j-samples.jar key-value [SERVER KEY [VALUE]]
 * </pre>
 */
public final class KeyValue {
  private static final int PORT = 7472;
  private static final int SLOTS = 1024;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private KeyValue() {}

  public static void main(String[] args) throws InterruptedException {
    System.exit(run(System.out, System.err, PORT, args));
  }

  /** Runs the program, and returns its exit status. */
  static int run(PrintStream out, PrintStream err, int port, String... args)
      throws InterruptedException {
    try {
      switch (args.length) {
        case 0 -> serve(out, new InetSocketAddress(port));
        case 2 -> {
          Optional<byte[]> value = get(new InetSocketAddress(args[0], port), args[1]);
          if (value.isEmpty()) {
            err.println("key-value: the cache has no such key");
            return 1;
          }
          out.println(new String(value.get(), UTF_8));
        }
        case 3 -> put(new InetSocketAddress(args[0], port), args[1], args[2]);
        default -> {
          err.println("usage: key-value [SERVER KEY [VALUE]]");
          return 2;
        }
      }
      return 0;
    } catch (RdmaException | IllegalArgumentException | TimeoutException failure) {
      err.println("key-value: " + failure.getMessage());
      return 1;
    }
  }

  private static void serve(PrintStream out, InetSocketAddress address)
      throws InterruptedException {
    try (KeyValueServer cache = new KeyValueServer(address, SLOTS)) {
      out.println("waiting for clients at " + cache.address());
      new CountDownLatch(1).await(); // Handlers serve the clients until the process is killed.
    }
  }

  private static Optional<byte[]> get(InetSocketAddress server, String key)
      throws InterruptedException, TimeoutException {
    try (KeyValueClient client = new KeyValueClient(server, TIMEOUT)) {
      return client.get(key);
    }
  }

  private static void put(InetSocketAddress server, String key, String value)
      throws InterruptedException, TimeoutException {
    try (KeyValueClient client = new KeyValueClient(server, TIMEOUT)) {
      client.put(key, value.getBytes(UTF_8));
    }
  }
}
