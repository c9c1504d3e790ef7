package org.rdma4j.samples;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.EventChannel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What cmtime does, with which it can play. */
@Command(
    description = {
      "Measures how long each step takes of many connections that are made at once, as cmtime does and"
          + " with it or itself as the peer. Without -s it is the server, which is to be started"
          + " first, and does not end."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Cmtime implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CmOptions common;

  @Option(
      names = "-s",
      paramLabel = "SERVER",
      description = "the server's name or address (default: be the server)")
  @Nullable String server;

  @Option(
      names = "-b",
      paramLabel = "ADDRESS",
      description = "the own name or address (default: any that will do)")
  @Nullable String source;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description = "how many connections there are (default: ${DEFAULT-VALUE}; client)")
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
          "how often a step, and a packet of a connection, is tried again (default: ${DEFAULT-VALUE};"
              + " client)")
  int retries = 2;

  @Option(
      names = "-t",
      paramLabel = "MILLISECONDS",
      description =
          "how long an address or a route may take to be resolved (default: ${DEFAULT-VALUE};"
              + " client)")
  int resolveMillis = 2000;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "how often all is done and not shown before it is measured (default: ${DEFAULT-VALUE};"
              + " client)")
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
      measure(common.peer(server, port, AddressHints.DEFAULT, source));
    }
    return 0;
  }

  private void serve() throws InterruptedException {
    try (EventChannel channel = EventChannel.open()) {
      new CmtimeServer(common).serve(channel, common.local(source, port, AddressHints.DEFAULT));
    }
  }

  private void measure(AddressInfo peer) throws InterruptedException {
    PrintWriter out = common.spec.commandLine().getOut();
    for (int i = 0; i <= warmup; i++) {
      try (EventChannel channel = EventChannel.open()) {
        PrintWriter shown = i < warmup ? new PrintWriter(Writer.nullWriter()) : out;
        new CmtimeClient(this, channel, peer, shown).play();
      }
    }
  }
}
