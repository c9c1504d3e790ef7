package org.rdma4j.samples;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What rping does, with which it can play. */
@Command(
    description = {
      "Has a server read text from the client's memory and write it back, as rping does and with it or"
          + " itself as the peer. The server is to be started first, and takes a -S at least as"
          + " large as the client's."
    },
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Rping implements Callable<Integer> {
  private static final int BACKLOG = 3;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CmOptions common;

  @ArgGroup(multiplicity = "1")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Side side;

  /** Which of the two this is. */
  static final class Side {
    @Option(names = "-s", description = "be the server")
    boolean server;

    @Option(names = "-c", description = "be the client")
    boolean client;
  }

  @Option(
      names = "-a",
      paramLabel = "ADDRESS",
      description = "the server's name or address (server's default: any of this machine)")
  @Nullable String address;

  @Option(
      names = "-I",
      paramLabel = "ADDRESS",
      description = "the client's own name or address (default: the one that leads there)")
  @Nullable String source;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the port of the server (default: ${DEFAULT-VALUE})")
  int port = 7174;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      description = "how many pings the client sends, 0 for no end (default: ${DEFAULT-VALUE})")
  int count;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      description = "the length of a ping, 23 to 65535 (default: ${DEFAULT-VALUE})")
  int size = 64;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "send that many pings before the others, and print how long one of those took (client)")
  @Nullable Integer warmup;

  @Option(names = "-v", description = "print the text of each ping")
  boolean verbose;

  @Option(names = "-V", description = "look at each byte that comes back (client)")
  boolean validate;

  @Option(names = "-d", description = "print each step")
  boolean steps;

  @Option(names = "-P", description = "serve any number of clients at once, without end")
  boolean persistent;

  @Option(
      names = "-q",
      description = "create the queue pair and change its states without the connection manager")
  boolean ownQueuePair;

  // The standard ones would take -V, which is another one here.
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this help message and exit")
  boolean help;

  @Option(
      names = "--version",
      versionHelp = true,
      description = "print version information and exit")
  boolean version;

  @Override
  public Integer call() throws InterruptedException {
    common.check();
    common.checkRange("-p", port, 1, 65535);
    common.checkRange("-C", count, 0, Integer.MAX_VALUE);
    common.checkRange("-S", size, 23, 65535);
    common.checkRange("--warmup", warmup == null ? 0 : warmup, 0, Integer.MAX_VALUE);
    if (side.server) {
      serve();
    } else {
      ping();
    }
    return 0;
  }

  private void serve() throws InterruptedException {
    try (SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP)) {
      listener.id().bind(CmOptions.address(address, port));
      step("rdma_bind_addr successful");
      listener.id().listen(BACKLOG);
      step("rdma_listen");
      if (persistent) {
        serveAll(listener);
      } else {
        serve(common.awaitClient(listener::awaitRequest, false));
      }
    }
  }

  private void serveAll(SynchronousCmId listener) throws InterruptedException {
    while (true) {
      SynchronousCmId client = common.awaitClient(listener::awaitRequest, true);
      Thread.ofPlatform().daemon().start(() -> serveOne(client));
    }
  }

  private void serveOne(SynchronousCmId client) {
    try {
      serve(client);
    } catch (RuntimeException failed) {
      common.tell("a client was lost", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(SynchronousCmId id) throws InterruptedException {
    try (id;
        RpingSide ours = new RpingSide(this, id)) {
      ours.accept();
      ours.answer();
      err().println("server DISCONNECT EVENT...");
      id.disconnect(common.timeout());
    }
  }

  private void ping() throws InterruptedException {
    if (address == null) {
      throw new ParameterException(
          common.spec.commandLine(), "-a is missing: the server's name or address");
    }
    InetSocketAddress local = source == null ? null : CmOptions.address(source, 0);
    try (SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP)) {
      id.resolveAddress(local, CmOptions.address(address, port), common.timeout());
      id.resolveRoute(common.timeout());
      step("rdma_resolve_addr - rdma_resolve_route successful");
      try (RpingSide ours = new RpingSide(this, id)) {
        ours.connect();
        step("rdma_connect successful");
        ours.ping();
        id.disconnect(common.timeout());
        err().println("client DISCONNECT EVENT...");
      }
    }
  }

  void step(String what) {
    if (steps) {
      out().println(what);
    }
  }

  PrintWriter out() {
    return common.spec.commandLine().getOut();
  }

  private PrintWriter err() {
    return common.spec.commandLine().getErr();
  }
}
