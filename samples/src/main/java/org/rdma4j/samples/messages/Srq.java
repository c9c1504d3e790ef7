package org.rdma4j.samples.messages;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.samples.command.CommonOptions;
import org.rdma4j.samples.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Makes two connections that receive from one shared queue. */
@Command(
    description = {
      "Sends messages over two connections, whose server receives from one shared receive queue.",
      "The server answers each message, and both sides check the contents. Start the server first."
          + " Both sides need the same -c and -l."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Srq implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();

  @Option(names = "-s", description = "run as the server")
  boolean server;

  @Option(
      names = "-a",
      paramLabel = "ADDRESS",
      description =
          "the server's name or address (default of the server: all addresses of this"
              + " machine)")
  @Nullable String address;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port (default: ${DEFAULT-VALUE})")
  int port = 51216;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description =
          "the number of messages that the client sends over each connection (default:"
              + " ${DEFAULT-VALUE})")
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
        connect(ids);
      }
    } finally {
      ids.forEach(SynchronousCmId::close);
    }
    return 0;
  }

  private void serve(List<SynchronousCmId> ids) throws InterruptedException {
    try (SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP)) {
      listener.id().bind(CommonOptions.address(address, port));
      listener.id().listen(SrqSide.CONNECTIONS);
      ids.add(common.awaitClient(listener::awaitRequest, false));
      try (SrqSide side = new SrqSide(this, ids.get(0).id().device())) {
        side.accept(ids.get(0));
        ids.add(common.awaitClient(listener::awaitRequest, false));
        side.accept(ids.get(1));
        side.answer();
        disconnect(ids, side);
      }
    }
  }

  private void connect(List<SynchronousCmId> ids) throws InterruptedException {
    if (address == null) {
      throw common.misuse("-a is missing: give the server's name or address");
    }
    InetSocketAddress peer = CommonOptions.address(address, port);
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
      disconnect(ids, side);
    }
  }

  private void disconnect(List<SynchronousCmId> ids, SrqSide side) throws InterruptedException {
    for (SynchronousCmId id : ids) {
      id.disconnect(common.timeout());
    }
    side.counts().forEach(common.out()::println);
  }
}
