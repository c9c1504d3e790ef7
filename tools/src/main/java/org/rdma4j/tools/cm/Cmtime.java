package org.rdma4j.tools.cm;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Does what cmtime does, and works with it. */
@Command(
    description = {
      "Makes many connections concurrently and measures how long each step takes, as cmtime does.",
      "The peer is this program or cmtime. Without -s this program is the server, which must be"
          + " started first and runs until it is killed."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Cmtime implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();

  @Option(
      names = "-s",
      paramLabel = "SERVER",
      description = "the server's name or address; without it, this program is the server")
  @Nullable String server;

  @Option(
      names = "-b",
      paramLabel = "ADDRESS",
      description = "the local name or address (default: chosen by the system)")
  @Nullable String source;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description = "the number of connections (default: ${DEFAULT-VALUE}; client only)")
  int connections = 100;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port or service (default: ${DEFAULT-VALUE})")
  String port = "7471";

  @Option(
      names = "-r",
      paramLabel = "COUNT",
      description =
          "how many times a step, or a packet of a connection, is retried (default:"
              + " ${DEFAULT-VALUE}; client only)")
  int retries = 2;

  @Option(
      names = "-t",
      paramLabel = "MILLISECONDS",
      description =
          "the longest time to resolve an address or a route (default: ${DEFAULT-VALUE}; client"
              + " only)")
  int resolveMillis = 2000;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "how many times to make all connections before they are measured (default:"
              + " ${DEFAULT-VALUE}; client only)")
  int warmup;

  @Override
  public Integer call() throws InterruptedException {
    common.check();
    common.checkRange("-c", connections, 1, 1 << 16);
    common.checkRange("-r", retries, 0, 7);
    common.checkRange("-t", resolveMillis, 1, Integer.MAX_VALUE);
    common.checkRange("--warmup", warmup, 0, Integer.MAX_VALUE - 1);
    if (server == null) {
      serve();
    } else {
      measure(AddressLookup.server(server, port, AddressHints.DEFAULT, source, common.timeout()));
    }
    return 0;
  }

  private void serve() throws InterruptedException {
    try (EventChannel channel = EventChannel.open()) {
      new CmtimeServer(common)
          .serve(
              channel, AddressLookup.local(source, port, AddressHints.DEFAULT, common.timeout()));
    }
  }

  private void measure(AddressInfo peer) throws InterruptedException {
    PrintWriter out = common.out();
    for (int i = 0; i <= warmup; i++) {
      try (EventChannel channel = EventChannel.open()) {
        PrintWriter shown = i < warmup ? new PrintWriter(Writer.nullWriter()) : out;
        new CmtimeClient(this, channel, peer, shown).run();
      }
    }
  }
}
