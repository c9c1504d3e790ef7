package org.rdma4j.samples.loops;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;

/**
 * Serves clients with an event loop for each processor, or asks such a server for a hundred
 * squares. Start the server without an argument, and end it with SIGTERM (Ctrl-C): it answers all
 * questions that it has got, and lets its clients ask their last ones.
 *
 * <pre>
 * java -jar samples/target/rdma4j-samples.jar loops [SERVER]
 * </pre>
 */
public final class Loops {
  private static final int PORT = 7473;
  private static final int QUESTIONS = 100;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private Loops() {}

  public static void main(String[] args) throws InterruptedException {
    int status = run(System.out, System.err, PORT, args);
    if (status != 0) {
      System.exit(status);
    }
  }

  /** Runs the program, and returns its exit status. */
  static int run(PrintStream out, PrintStream err, int port, String... args)
      throws InterruptedException {
    try {
      switch (args.length) {
        case 0 -> serve(out, new InetSocketAddress(port));
        case 1 -> ask(out, new InetSocketAddress(args[0], port));
        default -> {
          err.println("usage: loops [SERVER]");
          return 2;
        }
      }
      return 0;
    } catch (RdmaException | IllegalArgumentException | TimeoutException failure) {
      err.println("loops: " + failure.getMessage());
      return 1;
    } catch (CompletionException failed) {
      err.println("loops: " + failed.getCause());
      return 1;
    }
  }

  private static void serve(PrintStream out, InetSocketAddress address)
      throws InterruptedException {
    int loops = Runtime.getRuntime().availableProcessors();
    LoopServer server = new LoopServer(address, loops);
    // The process stays until the hook has returned, so no request is lost.
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  server.close();
                  out.println("ended; slow clients have missed " + server.skipped() + " ticks");
                }));
    out.println(loops + " loops wait for clients at " + server.address());
    new CountDownLatch(1).await();
  }

  private static void ask(PrintStream out, InetSocketAddress server)
      throws InterruptedException, TimeoutException {
    try (LoopClient client = new LoopClient(server, TIMEOUT)) {
      long sum = 0;
      for (long i = 0; i < QUESTIONS && !client.serverEnds(); i++) {
        sum += client.square(i).orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
        Thread.sleep(10);
      }
      out.println("the sum of the squares is " + sum + ", after " + client.ticks() + " ticks");
    }
  }
}
