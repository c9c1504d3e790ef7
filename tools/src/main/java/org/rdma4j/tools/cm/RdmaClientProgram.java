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

/** Does what rdma_client does, and works with it. */
@Command(
    description = {
      "Sends a message of 16 bytes to rdma-server or rdma_server and waits for one, as rdma_client"
          + " does.",
      "It uses the calls that wait for their result."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class RdmaClientProgram implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();

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
  public Integer call() throws InterruptedException, TimeoutException {
    return OneMessage.run(common, "rdma_client", this::exchange);
  }

  private void exchange() throws InterruptedException, TimeoutException {
    try (SynchronousCmId id = OneMessage.open(common, server, port, AddressHints.DEFAULT);
        OneMessage message = new OneMessage(common, id)) {
      id.connect(ConnectionConfig.DEFAULT, common.timeout());
      message.send();
      message.receive();
      id.disconnect(common.timeout());
    }
  }
}
