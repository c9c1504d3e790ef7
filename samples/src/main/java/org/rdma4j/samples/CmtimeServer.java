package org.rdma4j.samples;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.EventChannel;

/**
 * The server of cmtime: one thread reads the events, one accepts, and one ends what the peers have
 * ended.
 */
final class CmtimeServer {
  private static final Duration LOOK_AGAIN = Duration.ofHours(1);

  private final CmOptions options;

  /** Of the thread that accepts. */
  private final CmtimeQueuePairs queuePairs = new CmtimeQueuePairs();

  CmtimeServer(CmOptions options) {
    this.options = options;
  }

  /** Serves without end. */
  void serve(EventChannel channel, AddressInfo local) throws InterruptedException {
    CmId listener = channel.createId(local.space());
    if (local.source() != null) {
      listener.bind(local.source());
    }
    listener.listen(0);
    try (queuePairs;
        ExecutorService accepting = Executors.newSingleThreadExecutor();
        ExecutorService ending = Executors.newSingleThreadExecutor()) {
      while (true) {
        Optional<CmEvent> event = channel.awaitEvent(LOOK_AGAIN);
        if (event.isEmpty()) {
          continue;
        }
        CmId id = event.get().id();
        if (event.get() instanceof CmEvent.ConnectRequest) {
          accepting.execute(() -> accept(id));
        } else if (event.get() instanceof CmEvent.Disconnected) {
          ending.execute(() -> end(id));
        }
      }
    }
  }

  /** What goes wrong with one client concerns no other. */
  private void accept(CmId id) {
    try {
      queuePairs.create(id);
      id.accept(ConnectionParameters.DEFAULT);
    } catch (RdmaException failed) {
      options.spec.commandLine().getErr().println("failure accepting: " + failed.getMessage());
      options.spec.commandLine().getOut().println("failing connection request");
      reject(id);
    }
  }

  private void reject(CmId id) {
    try {
      id.reject(ByteBuffer.allocate(0));
    } catch (RdmaException gone) {
      // It has nothing to be told any more.
    }
    id.close();
  }

  private void end(CmId id) {
    try {
      id.disconnect();
    } catch (RdmaException ended) {
      // It is to be closed all the same.
    }
    id.close();
  }
}
