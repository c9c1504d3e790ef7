package org.rdma4j.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.platform.Deadline;

/**
 * Establishes connections. Each side creates its queues and posts its receives first, so a message
 * that the peer sends as soon as it is connected finds one.
 */
final class ConnectionSetup {
  /** 6 rather than the maximum of 7, which soft-RoCE treats as "retry forever". */
  private static final int RETRIES = 6;

  private ConnectionSetup() {}

  /** The step that connects the queues, and returns what the peer tells about itself. */
  private interface Handshake {
    Hello perform(ConnectionParameters parameters) throws InterruptedException;
  }

  /** Connects to a server, as {@link RdmaConnection#connect} describes. */
  static RdmaConnection connect(InetSocketAddress server, ConnectionConfig config, Duration timeout)
      throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP);
    try {
      id.resolveAddress(server, deadline.remaining());
      id.resolveRoute(deadline.remaining());
      return establish(
          id,
          config,
          parameters -> {
            CmEvent.Established answer = id.connect(parameters, deadline.remaining());
            return Hello.read(answer.parameters().privateData())
                .orElseThrow(() -> notAnRdmaServer(server));
          });
    } catch (RuntimeException | InterruptedException failed) {
      id.close();
      throw failed;
    }
  }

  private static RdmaException notAnRdmaServer(InetSocketAddress server) {
    return new RdmaException(
        "rdma_connect(" + server + ")",
        ErrorNumber.EPROTO.value(),
        "The program that listens there is not an RdmaServer, or uses another version of its protocol");
  }

  /** Accepts a request; closes its identifier if that fails. */
  static RdmaConnection accept(
      SynchronousCmId id, ConnectionConfig config, Hello peer, Duration timeout)
      throws InterruptedException {
    try {
      return establish(
          id,
          config,
          parameters -> {
            id.accept(parameters, timeout);
            return peer;
          });
    } catch (RuntimeException | InterruptedException failed) {
      id.close();
      throw failed;
    }
  }

  private static RdmaConnection establish(
      SynchronousCmId id, ConnectionConfig config, Handshake handshake)
      throws InterruptedException {
    ConnectionQueues queues = new ConnectionQueues(id, config);
    try {
      ConnectionParameters parameters =
          ConnectionParameters.DEFAULT.retryCount(RETRIES).privateData(Hello.of(config).write());
      return new RdmaConnection(queues, config, handshake.perform(parameters));
    } catch (RuntimeException | InterruptedException failed) {
      queues.lifetime().close();
      throw failed;
    }
  }
}
