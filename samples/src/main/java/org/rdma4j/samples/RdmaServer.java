package org.rdma4j.samples;

import java.util.concurrent.Callable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.SynchronousCmId;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What rdma_server does, with whose peer it can play. */
@Command(
    description = {
      "Waits for a message of 16 bytes from rdma-client and sends one, as rdma_server does, by the"
          + " calls that wait for what they lead to."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class RdmaServer implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CmOptions common;

  @Option(
      names = "-s",
      paramLabel = "ADDRESS",
      description = "the own address to listen on (default: ${DEFAULT-VALUE}, any)")
  String server = "0.0.0.0";

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the port or service to listen on (default: ${DEFAULT-VALUE})")
  String port = "7471";

  @Override
  public Integer call() throws InterruptedException {
    return OneMessage.between(common, "rdma_server", this::play);
  }

  private void play() throws InterruptedException {
    try (SynchronousCmId listener = common.open(server, port, AddressHints.DEFAULT.passive(true))) {
      listener.id().listen(0);
      try (SynchronousCmId id = common.awaitClient(listener::awaitRequest, false);
          OneMessage message = new OneMessage(common, id)) {
        id.accept(ConnectionParameters.DEFAULT, common.timeout());
        message.receive();
        message.send();
        id.disconnect(common.timeout());
      }
    }
  }
}
