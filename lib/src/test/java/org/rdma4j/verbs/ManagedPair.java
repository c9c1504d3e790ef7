package org.rdma4j.verbs;

import java.net.InetSocketAddress;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.testing.DeviceAddress;

/**
 * The identifiers of two queue pairs that the connection manager connects. Create the queue pair of
 * the client, {@link #request}, create that of the server, then {@link #accept}.
 */
final class ManagedPair implements AutoCloseable {
  private final SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP);
  private final SynchronousCmId client = SynchronousCmId.open(PortSpace.TCP);
  private FutureTask<CmEvent.Established> connecting = new FutureTask<>(() -> null);
  private SynchronousCmId server = client;

  ManagedPair() {
    listener.id().bind(new InetSocketAddress(DeviceAddress.ipv4(), 0));
    listener.id().listen(1);
    try {
      client.resolveAddress(listener.id().localAddress(), Loopback.PATIENCE);
      client.resolveRoute(Loopback.PATIENCE);
    } catch (InterruptedException | TimeoutException ended) {
      throw new IllegalStateException(ended);
    }
  }

  RdmaDevice device() {
    return client.id().device();
  }

  QueuePair createClient(ProtectionDomain domain, QueuePairConfig config) {
    return client.id().createQueuePair(domain, config);
  }

  QueuePair createServer(ProtectionDomain domain, QueuePairConfig config) {
    return server.id().createQueuePair(domain, config);
  }

  void request() {
    connecting =
        new FutureTask<>(() -> client.connect(ConnectionConfig.DEFAULT, Loopback.PATIENCE));
    Thread.ofPlatform().daemon().start(connecting);
    try {
      server = listener.awaitRequest(Loopback.PATIENCE).orElseThrow();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  void accept() {
    try {
      server.accept(ConnectionConfig.DEFAULT, Loopback.PATIENCE);
      connecting.get(Loopback.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  @Override
  public void close() {
    client.close();
    server.close();
    listener.close();
  }
}
