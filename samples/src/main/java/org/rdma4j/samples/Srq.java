package org.rdma4j.samples;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The tutorial's program: connections that receive from one shared queue. */
@Command(
    description = {
      "Makes two connections. The client sends messages over both, the server receives them from one"
          + " shared receive queue and answers each, and both check what they find. The server is to be"
          + " started first; both sides take the same -c and -l."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Srq implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CmOptions common;

  @Option(names = "-s", description = "be the server")
  boolean server;

  @Option(
      names = "-a",
      paramLabel = "ADDRESS",
      description = "the server's name or address (server's default: any of this machine)")
  @Nullable String address;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the port of the server (default: ${DEFAULT-VALUE})")
  int port = 51216;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description =
          "how many messages the client sends over each connection (default: ${DEFAULT-VALUE})")
  int count = 100;

  @Option(
      names = "-l",
      paramLabel = "BYTES",
      description = "the length of a message (default: ${DEFAULT-VALUE})")
  int length = 100_000;

  @Override
  public Integer call() throws InterruptedException {
    common.check();
    common.checkRange("-p", port, 1, 65535);
    common.checkRange("-c", count, 1, 1 << 30);
    common.checkRange("-l", length, 1, 1 << 24);
    List<SynchronousCmId> ids = new ArrayList<>();
    try {
      if (server) {
        serve(ids);
      } else {
        play(ids);
      }
    } finally {
      ids.forEach(SynchronousCmId::close);
    }
    return 0;
  }

  private void serve(List<SynchronousCmId> ids) throws InterruptedException {
    try (SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP)) {
      listener.id().bind(CmOptions.address(address, port));
      listener.id().listen(SrqSide.CONNECTIONS);
      ids.add(common.awaitClient(listener::awaitRequest, false));
      try (SrqSide side = new SrqSide(this, ids.get(0).id().device())) {
        side.accept(ids.get(0));
        ids.add(common.awaitClient(listener::awaitRequest, false));
        side.accept(ids.get(1));
        side.answer();
        end(ids, side);
      }
    }
  }

  private void play(List<SynchronousCmId> ids) throws InterruptedException {
    if (address == null) {
      throw new ParameterException(
          common.spec.commandLine(), "-a is missing: the server's name or address");
    }
    InetSocketAddress peer = CmOptions.address(address, port);
    for (int i = 0; i < SrqSide.CONNECTIONS; i++) {
      SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP);
      ids.add(id);
      id.resolveAddress(peer, common.timeout());
      id.resolveRoute(common.timeout());
    }
    try (SrqSide side = new SrqSide(this, ids.get(0).id().device())) {
      for (SynchronousCmId id : ids) {
        side.connect(id);
      }
      side.ask();
      end(ids, side);
    }
  }

  private void end(List<SynchronousCmId> ids, SrqSide side) throws InterruptedException {
    for (SynchronousCmId id : ids) {
      id.disconnect(common.timeout());
    }
    side.counts().forEach(common.spec.commandLine().getOut()::println);
  }
}
