package org.rdma4j.tools.cm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.tools.command.Version;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Does what rping does, and works with it. */
@Command(
    description = {
      "Makes a server read text from the client's memory and write it back, as rping does.",
      "The peer is this program or rping. Start the server first, with a -S that is at least as"
          + " large as the client's."
    },
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Rping implements Callable<Integer> {
  private static final int BACKLOG = 3;

  @Mixin final CommonOptions common = new CommonOptions();

  @ArgGroup(multiplicity = "1")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Side side;

  /** Server or client. */
  static final class Side {
    @Option(names = "-s", description = "run as the server")
    boolean server;

    @Option(names = "-c", description = "run as the client")
    boolean client;
  }

  @Option(
      names = "-a",
      paramLabel = "ADDRESS",
      description =
          "the server's name or address (default of the server: all addresses of this"
              + " machine)")
  @Nullable String address;

  @Option(
      names = "-I",
      paramLabel = "ADDRESS",
      description = "the client's name or address (default: chosen by the system)")
  @Nullable String source;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port (default: ${DEFAULT-VALUE})")
  int port = 7174;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      description =
          "the number of pings the client sends, 0 for no limit (default:" + " ${DEFAULT-VALUE})")
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
          "send this many pings before the counted ones, and print how long one of the counted ones"
              + " took (client only)")
  @Nullable Integer warmup;

  @Option(names = "-v", description = "print the text of each ping")
  boolean verbose;

  @Option(names = "-V", description = "check every byte that comes back (client only)")
  boolean validate;

  @Option(names = "-d", description = "print each step")
  boolean steps;

  @Option(names = "-P", description = "serve any number of clients concurrently, until killed")
  boolean persistent;

  @Option(
      names = "-q",
      description = "create the queue pair and change its state without the connection manager")
  boolean ownQueuePair;

  // Not picocli's standard options, which include -V.
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
  public Integer call() throws InterruptedException, TimeoutException {
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

  private void serve() throws InterruptedException, TimeoutException {
    try (SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP)) {
      listener.id().bind(CommonOptions.address(address, port));
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
      Thread.ofPlatform().daemon().start(() -> serveAndReport(client));
    }
  }

  private void serveAndReport(SynchronousCmId client) {
    try {
      serve(client);
    } catch (RuntimeException | TimeoutException failed) {
      common.report("a client failed", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(SynchronousCmId id) throws InterruptedException, TimeoutException {
    try (id;
        RpingSide rping = new RpingSide(this, id)) {
      rping.accept();
      rping.answer();
      err().println("server DISCONNECT EVENT...");
      id.disconnect(common.timeout());
    }
  }

  private void ping() throws InterruptedException, TimeoutException {
    if (address == null) {
      throw common.misuse("-a is missing: give the server's name or address");
    }
    InetSocketAddress local = source == null ? null : CommonOptions.address(source, 0);
    try (SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP)) {
      id.resolveAddress(local, CommonOptions.address(address, port), common.timeout());
      id.resolveRoute(common.timeout());
      step("rdma_resolve_addr - rdma_resolve_route successful");
      try (RpingSide rping = new RpingSide(this, id)) {
        rping.connect();
        step("rdma_connect successful");
        rping.ping();
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
    return common.out();
  }

  private PrintWriter err() {
    return common.err();
  }
}
