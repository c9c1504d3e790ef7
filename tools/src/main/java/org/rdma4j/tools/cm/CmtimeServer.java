package org.rdma4j.tools.cm;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.tools.command.CommonOptions;

/**
 * The server of cmtime: one thread reads the events, one accepts connections, and one closes
 * connections that the peers have ended.
 */
final class CmtimeServer {
  private static final Duration UNLIMITED = Duration.ofHours(1);

  private final CommonOptions options;

  /** Used only by the thread that accepts connections. */
  private final CmtimeQueuePairs queuePairs = new CmtimeQueuePairs();

  CmtimeServer(CommonOptions options) {
    this.options = options;
  }

  /** Serves clients forever. */
  void serve(EventChannel channel, AddressInfo local) throws InterruptedException {
    CmId listener = channel.createId(local.space());
    if (local.source() != null) {
      listener.bind(local.source());
    }
    listener.listen(0);
    try (queuePairs;
        ExecutorService accepting = Executors.newSingleThreadExecutor();
        ExecutorService closing = Executors.newSingleThreadExecutor()) {
      while (true) {
        Optional<CmEvent> event = channel.awaitEvent(UNLIMITED);
        if (event.isEmpty()) {
          continue;
        }
        CmId id = event.get().id();
        if (event.get() instanceof CmEvent.ConnectRequest) {
          accepting.execute(() -> accept(id));
        } else if (event.get() instanceof CmEvent.Disconnected) {
          closing.execute(() -> close(id));
        }
      }
    }
  }

  /** Accepts a connection. A failure concerns only this client. */
  private void accept(CmId id) {
    try {
      queuePairs.create(id);
      id.accept(ConnectionConfig.DEFAULT);
    } catch (RdmaException failed) {
      options.err().println("failure accepting: " + failed.getMessage());
      options.out().println("failing connection request");
      reject(id);
    }
  }

  private void reject(CmId id) {
    try {
      id.reject(ByteBuffer.allocate(0));
    } catch (RdmaException gone) {
      // The client has gone, so there is no client to reject.
    }
    id.close();
  }

  private static void close(CmId id) {
    try {
      id.disconnect();
    } catch (RdmaException alreadyEnded) {
      // Already disconnected: only the close is left.
    }
    id.close();
  }
}
