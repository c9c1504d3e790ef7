package org.rdma4j.docs.guide;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.MemoryRegion;

/** A server names memory, and a client reads it. DiSNI has this example with the same steps. */
@SuppressWarnings("ReturnValueIgnored") // what completed is known: there is one request at a time
final class RemoteRead {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private RemoteRead() {}

  // snippet: server
  static void serve(SynchronousCmId listener) throws InterruptedException, TimeoutException {
    try (SynchronousCmId peer = listener.awaitRequest(TIMEOUT).orElseThrow();
        SimpleMessages messages = SimpleMessages.create(peer.id(), 1, 1)) {
      MemoryRegion data = messages.registerRead(100); // the client may read this
      MemoryRegion buffer = messages.registerMessages(100);
      data.segment().setString(0, "This is an RDMA read");
      buffer.byteBuffer().putLong(data.remoteAddress()).putLong(100).putInt(data.remoteKey());

      messages.postReceive(1, buffer.slice(64, 36)); // for the final message
      peer.accept(ConnectionConfig.DEFAULT, TIMEOUT);
      messages.postSend(2, buffer.slice(0, 20));
      messages.awaitSend(TIMEOUT).orElseThrow();
      messages.awaitReceive(TIMEOUT).orElseThrow();
      peer.awaitDisconnected(TIMEOUT);
    }
  }

  static SynchronousCmId listen(InetSocketAddress address) {
    SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP);
    listener.id().bind(address);
    listener.id().listen(10);
    return listener;
  }

  // end

  // snippet: client
  static String read(InetSocketAddress server) throws InterruptedException, TimeoutException {
    try (SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP)) {
      id.resolveAddress(server, TIMEOUT);
      id.resolveRoute(TIMEOUT);
      try (SimpleMessages messages = SimpleMessages.create(id.id(), 1, 1)) {
        MemoryRegion data = messages.registerMessages(100);
        MemoryRegion buffer = messages.registerMessages(20);
        messages.postReceive(1, buffer.slice(0, 20));
        id.connect(ConnectionConfig.DEFAULT, TIMEOUT);
        messages.awaitReceive(TIMEOUT).orElseThrow();

        var info = buffer.byteBuffer();
        long address = info.getLong();
        long length = info.getLong();
        int key = info.getInt();
        for (long bytes = 10; bytes <= length; bytes += 10) {
          messages.postRead(2, address, key, data.slice(0, bytes));
          messages.awaitSend(TIMEOUT).orElseThrow();
        }
        messages.postSend(3, data.slice(0, 1)); // the final message
        messages.awaitSend(TIMEOUT).orElseThrow();
        id.disconnect(TIMEOUT);
        return data.segment().getString(0);
      }
    }
  }
  // end
}
