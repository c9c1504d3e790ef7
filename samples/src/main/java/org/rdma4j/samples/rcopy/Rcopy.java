package org.rdma4j.samples.rcopy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.samples.command.CommonOptions;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.Progress;
import org.rdma4j.samples.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Copies a file as rcopy does, but with the messages of an {@link RdmaConnection}. It does not work
 * with rcopy in C, which uses the protocol of rsockets.
 *
 * <p>The client sends a {@link FileOffer}, then the content in messages of 1 MiB, of which eight
 * may be outstanding, then the SHA-256 checksum. The server answers the offer and the checksum with
 * an empty message, or with one that says what is wrong. It gives the file its name only if the
 * checksum is right.
 */
@Command(
    description = {
      "Copies a file to another machine and compares the SHA-256 checksums of both sides.",
      "Without arguments this program is the server, which must be started first. It does not work"
          + " with C's rcopy, which uses the protocol of rsockets."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Rcopy implements Callable<Integer> {

  /** Each has 10 MiB of registered memory. */
  private static final int MAX_CLIENTS = 16;

  @Mixin final CommonOptions common = new CommonOptions();

  @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = "the file to copy")
  @Nullable Path file;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "SERVER[:NAME]",
      description =
          "the server's name or address, with an IPv6 address in brackets, and the name of the copy"
              + " (default: the name of the file)")
  @Nullable String server;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port (default: ${DEFAULT-VALUE})")
  int port = 7427;

  @Option(
      names = "--directory",
      paramLabel = "DIRECTORY",
      description =
          "where the server stores the files (default: the current directory). It replaces files of"
              + " the same name. A file is called .rcopy-UUID until it is complete; a server"
              + " that is killed leaves such a file behind")
  Path directory = Path.of("");

  @Option(
      names = "-n",
      paramLabel = "COUNT",
      description =
          "the number of files the server receives before it exits, 0 for no limit (default:"
              + " ${DEFAULT-VALUE})")
  int count;

  @Option(
      names = "--progress",
      description = "print the progress to standard error even if that is not a terminal")
  boolean progress;

  @Override
  public Integer call() throws InterruptedException, IOException {
    common.check();
    common.checkRange("-p", port, 1, 65535);
    common.checkRange("-n", count, 0, Integer.MAX_VALUE);
    if (file == null) {
      return serve();
    }
    if (server == null) {
      throw common.misuse("the server is missing: give its name or address after the file");
    }
    if (!Files.isRegularFile(file)) {
      throw new Failure("\"%s\" is not a file".formatted(file));
    }
    try {
      copy(file, CopyTarget.parse(server, file));
    } catch (TimeoutException late) {
      throw common.late("a step of the copy");
    }
    return 0;
  }

  private void copy(Path source, CopyTarget target)
      throws InterruptedException, TimeoutException, IOException {
    FileOffer.checkName(target.name());
    try (RdmaConnection connection =
        RdmaConnection.connect(CommonOptions.address(target.host(), port), common.timeout())) {
      new FileSender(this, connection).send(source, target.name());
    }
  }

  private int serve() throws InterruptedException {
    if (!Files.isDirectory(directory)) {
      throw new Failure("\"%s\" is not a directory".formatted(directory));
    }
    AtomicBoolean failed = new AtomicBoolean();
    // A silent client does not keep the others waiting, unless there are too many of them.
    Semaphore places = new Semaphore(MAX_CLIENTS);
    try (RdmaServer listener = RdmaServer.bind(CommonOptions.address(null, port));
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int served = 0; count == 0 || served < count; served++) {
        places.acquire();
        RdmaConnection connection = count == 0 ? listener.accept() : accept(listener);
        clients.execute(
            () -> {
              try (connection) {
                if (!receive(connection)) {
                  failed.set(true);
                }
              } finally {
                places.release();
              }
            });
      }
    }
    return failed.get() ? 1 : 0;
  }

  private RdmaConnection accept(RdmaServer listener) throws InterruptedException {
    try {
      return listener.accept(common.timeout());
    } catch (TimeoutException late) {
      throw common.noClient();
    }
  }

  private boolean receive(RdmaConnection connection) {
    try {
      new FileReceiver(this, connection).receive(directory);
      return true;
    } catch (TimeoutException late) {
      return failed(common.late("a step of the copy"));
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      return failed(new Failure("interrupted", ended));
    } catch (IOException | RuntimeException failed) {
      return failed(failed);
    }
  }

  private boolean failed(Exception failure) {
    common.report("a file was not received", failure);
    return false;
  }

  FileProgress progress(long length) {
    return new FileProgress(new Progress(common.err(), progress), length);
  }

  void printResult(String name, FileProgress copied, String sum) {
    common.out().println(copied.total() + System.lineSeparator() + sum + "  " + name);
  }
}
