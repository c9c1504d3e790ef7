package org.rdma4j.tools.cm;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Does what rdma_server does, and works with it. */
@Command(
    description = {
      "Waits for a message of 16 bytes from rdma-client or rdma_client and sends one back, as"
          + " rdma_server does.",
      "It uses the calls that wait for their result."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class RdmaServerProgram implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();

  @Option(
      names = "-s",
      paramLabel = "ADDRESS",
      description =
          "the local address to listen on (default: ${DEFAULT-VALUE}, which stands for" + " all)")
  String server = "0.0.0.0";

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the port or service to listen on (default: ${DEFAULT-VALUE})")
  String port = "7471";

  @Override
  public Integer call() throws InterruptedException, TimeoutException {
    return OneMessage.run(common, "rdma_server", this::exchange);
  }

  private void exchange() throws InterruptedException, TimeoutException {
    try (SynchronousCmId listener =
        OneMessage.open(common, server, port, AddressHints.DEFAULT.passive(true))) {
      listener.id().listen(0);
      try (SynchronousCmId id = common.awaitClient(listener::awaitRequest, false);
          OneMessage message = new OneMessage(common, id)) {
        id.accept(ConnectionConfig.DEFAULT, common.timeout());
        message.receive();
        message.send();
        id.disconnect(common.timeout());
      }
    }
  }
}
