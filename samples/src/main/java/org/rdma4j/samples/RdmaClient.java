package org.rdma4j.samples;

import java.util.concurrent.Callable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.SynchronousCmId;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What rdma_client does, with whose peer it can play. */
@Command(
    description = {
      "Sends a message of 16 bytes to rdma-server and waits for one, as rdma_client does, by the calls"
          + " that wait for what they lead to."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class RdmaClient implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CmOptions common;

  @Option(
      names = "-s",
      paramLabel = "SERVER",
      description = "the server's name or address (default: ${DEFAULT-VALUE})")
  String server = "127.0.0.1";

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port or service (default: ${DEFAULT-VALUE})")
  String port = "7471";

  @Override
  public Integer call() throws InterruptedException {
    return OneMessage.between(common, "rdma_client", this::play);
  }

  private void play() throws InterruptedException {
    try (SynchronousCmId id = common.open(server, port, AddressHints.DEFAULT);
        OneMessage message = new OneMessage(common, id)) {
      id.connect(ConnectionParameters.DEFAULT, common.timeout());
      message.send();
      message.receive();
      id.disconnect(common.timeout());
    }
  }
}
