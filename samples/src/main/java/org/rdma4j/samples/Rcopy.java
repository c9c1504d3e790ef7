package org.rdma4j.samples;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.ConnectionConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/**
 * What rcopy does, in messages of a {@link RdmaConnection}: C's runs over rsockets, whose protocol
 * this does not speak.
 *
 * <p>The client sends a {@link FileOffer}, the bytes in messages of 1 MiB, of which eight may be on
 * their way, and their SHA-256. The server answers the offer and the sum by an empty message, or by
 * one that says what is wrong. It writes under another name until the sum was right.
 */
@Command(
    description = {
      "Copies a file to another machine and compares the SHA-256 of both sides. Without arguments"
          + " it is the server, which is to be started first. It does not talk to C's rcopy, whose"
          + " protocol is that of rsockets."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Rcopy implements Callable<Integer> {
  static final int MESSAGE_BYTES = 1 << 20;
  private static final int IN_FLIGHT = 8;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CmOptions common;

  @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = "the file to copy")
  @Nullable Path file;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "SERVER[:NAME]",
      description =
          "the server's name or address, an IPv6 one in brackets, and what the copy is to be called"
              + " (default: what the file is)")
  @Nullable String server;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the port of the server (default: ${DEFAULT-VALUE})")
  int port = 7427;

  @Option(
      names = "--directory",
      paramLabel = "DIRECTORY",
      description =
          "where the server puts the files, in place of those of the same names (default: the"
              + " current one); it writes them as .rcopy-UUID first, which one that is killed"
              + " leaves there")
  Path directory = Path.of("");

  @Option(
      names = "-n",
      paramLabel = "COUNT",
      description =
          "how many files the server takes, one after the other, 0 for no end (default:"
              + " ${DEFAULT-VALUE})")
  int count;

  @Option(
      names = "--progress",
      description = "print every second how far it has come, also where that is no terminal")
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
      throw new ParameterException(
          common.spec.commandLine(), "which server? Its name or address comes behind the file");
    }
    if (!Files.isRegularFile(file)) {
      throw new Failure("\"%s\" is no file".formatted(file));
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
    ConnectionConfig config =
        ConnectionConfig.DEFAULT.messageBytes(MESSAGE_BYTES).sends(IN_FLIGHT).receives(2);
    try (RdmaConnection connection =
        RdmaConnection.connect(CmOptions.address(target.host(), port), config, common.timeout())) {
      new FileSender(this, connection).send(source, target.name());
    }
  }

  private int serve() throws InterruptedException {
    if (!Files.isDirectory(directory)) {
      throw new Failure("\"%s\" is no directory".formatted(directory));
    }
    ConnectionConfig config =
        ConnectionConfig.DEFAULT.messageBytes(MESSAGE_BYTES).receives(IN_FLIGHT).sends(2);
    int status = 0;
    try (RdmaServer listener = RdmaServer.bind(CmOptions.address(null, port), config)) {
      for (int taken = 0; count == 0 || taken < count; taken++) {
        if (!take(listener)) {
          status = 1;
        }
      }
    }
    return status;
  }

  private boolean take(RdmaServer listener) throws InterruptedException {
    try (RdmaConnection connection = common.awaitClient(listener::accept, count == 0)) {
      return receive(connection);
    }
  }

  private boolean receive(RdmaConnection connection) throws InterruptedException {
    try {
      new FileReceiver(this, connection).receive(directory);
      return true;
    } catch (TimeoutException late) {
      return failed(common.late("a step of the copy"));
    } catch (IOException | RuntimeException failed) {
      return failed(failed);
    }
  }

  private boolean failed(Exception failure) {
    common.tell("a file was not received", failure);
    return false;
  }

  FileProgress progress(long length) {
    return new FileProgress(new Progress(common.spec.commandLine().getErr(), progress), length);
  }

  void done(String name, FileProgress copied, String sum) {
    PrintWriter out = common.spec.commandLine().getOut();
    out.println(copied.total());
    out.println(sum + "  " + name);
  }
}
