package org.rdma4j.samples.rcopy;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;

/**
 * Copies a file to another machine with the messages of an {@link RdmaConnection}, and compares the
 * SHA-256 checksums of both sides. It does not work with rcopy in C, which uses the protocol of
 * rsockets. Start the server with the directory for the files, then the client with a file and the
 * server's name or address.
 *
 * <pre>
 * java -jar samples/target/rdma4j-samples.jar rcopy DIRECTORY
 * java -jar samples/target/rdma4j-samples.jar rcopy FILE SERVER[:NAME]
 * </pre>
 *
 * <p>The client sends a {@link FileOffer}, then the content in messages of 1 MiB, of which eight
 * may be outstanding, then the SHA-256 checksum. The server answers the offer and the checksum with
 * an empty message, or with a message about what is wrong. It gives the file its name only if the
 * checksum is right, and replaces a file of that name. Until then, the file is called .rcopy-UUID;
 * a server that is killed leaves such a file behind.
 */
public final class Rcopy {
  static final Duration TIMEOUT = Duration.ofMinutes(5);
  private static final int PORT = 7427;

  /** Each has 10 MiB of registered memory. */
  private static final int MAX_CLIENTS = 16;

  private final PrintStream out;
  private final PrintStream err;
  private final int port;
  private final int files;

  /**
   * Creates a run of the program.
   *
   * @param out its standard output
   * @param err its standard error
   * @param port the server's port
   * @param files the number of files after which a server ends
   */
  Rcopy(PrintStream out, PrintStream err, int port, int files) {
    this.out = out;
    this.err = err;
    this.port = port;
    this.files = files;
  }

  public static void main(String[] args) throws InterruptedException {
    System.exit(new Rcopy(System.out, System.err, PORT, Integer.MAX_VALUE).run(args));
  }

  /** Runs the program, and returns its exit status. */
  int run(String... args) throws InterruptedException {
    try {
      switch (args.length) {
        case 1 -> {
          return serve(Path.of(args[0]));
        }
        case 2 -> {
          Path file = Path.of(args[0]);
          copy(file, CopyTarget.parse(args[1], file));
          return 0;
        }
        default -> {
          err.println("usage: rcopy DIRECTORY, or rcopy FILE SERVER[:NAME]");
          return 2;
        }
      }
    } catch (CopyFailure | RdmaException | IOException | TimeoutException failure) {
      err.println("rcopy: " + failure.getMessage());
      return 1;
    }
  }

  private void copy(Path source, CopyTarget target)
      throws InterruptedException, TimeoutException, IOException {
    if (!Files.isRegularFile(source)) {
      throw new CopyFailure("\"%s\" is not a file".formatted(source));
    }
    FileOffer.checkName(target.name());
    try (RdmaConnection connection = RdmaConnection.connect(address(target.host()), TIMEOUT)) {
      new FileSender(this, connection).send(source, target.name());
    }
  }

  private InetSocketAddress address(String host) {
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException unknown) {
      throw new CopyFailure("no host is named \"%s\"".formatted(host), unknown);
    }
  }

  private int serve(Path directory) throws InterruptedException {
    if (!Files.isDirectory(directory)) {
      throw new CopyFailure("\"%s\" is not a directory".formatted(directory));
    }
    AtomicBoolean failed = new AtomicBoolean();
    // A silent client does not keep the others waiting, unless there are too many of them.
    Semaphore places = new Semaphore(MAX_CLIENTS);
    try (RdmaServer listener = RdmaServer.bind(new InetSocketAddress(port));
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int served = 0; served < files; served++) {
        places.acquire();
        RdmaConnection connection = listener.accept();
        clients.execute(
            () -> {
              try (connection) {
                new FileReceiver(this, connection).receive(directory);
              } catch (IOException
                  | RuntimeException
                  | TimeoutException
                  | InterruptedException failure) {
                failed.set(true);
                err.println("a file was not received: " + describe(failure));
              } finally {
                places.release();
              }
            });
      }
    }
    return failed.get() ? 1 : 0;
  }

  /** The message of an exception of the file system is only the name of a file. */
  private static String describe(Exception failure) {
    return failure instanceof CopyFailure || failure instanceof RdmaException
        ? String.valueOf(failure.getMessage())
        : failure.toString();
  }

  void printResult(String name, FileProgress copied, String sum) {
    out.println(copied.total() + System.lineSeparator() + sum + "  " + name);
  }
}
