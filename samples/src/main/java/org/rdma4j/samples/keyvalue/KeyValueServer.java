package org.rdma4j.samples.keyvalue;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.rdma4j.ConnectionException;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.NodeMemory;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.RemoteMemory;

/** The server: it has the table, sends each client its address, and stores what clients put. */
final class KeyValueServer implements AutoCloseable {
  private final RdmaNode node = RdmaNode.open();
  private final NodeMemory table;
  private final RdmaServer listener;

  KeyValueServer(InetSocketAddress address, int slots) {
    // Clients may read the table, and nothing else.
    table = node.register((long) slots * CacheSlot.BYTES, AccessFlag.REMOTE_READ);
    for (int i = 0; i < slots; i++) {
      CacheSlot.store(slot((long) i * CacheSlot.BYTES), ByteBuffer.allocate(0));
    }
    listener = node.bind(address);
    // No thread accepts, and none serves one client: so thousands of clients need no thread each.
    listener.onAccept(this::welcome);
  }

  InetSocketAddress address() {
    return listener.localAddress();
  }

  /**
   * Sends a client the name of the table. This must not wait, as the handlers must not: a client
   * that takes no messages would hold up what runs in the same thread.
   */
  private void welcome(RdmaConnection client) {
    client.onRequest(this::put);
    // A machine can have several devices; this is the table as the client's device sees it.
    ByteBuffer letter = ByteBuffer.allocate(RemoteMemory.BYTES);
    RemoteMemory.of(table.region(client)).write(letter);
    try {
      // The client then gets values by itself. This program does not even learn of it.
      var unused = client.sendAsync(letter.flip());
    } catch (ConnectionException gone) {
      System.err.println("a client left before it was served: " + gone.getMessage());
    }
    // A letter that cannot arrive ends the connection, too.
    var unusedToo = client.ended().whenComplete((ended, broken) -> client.close());
  }

  /** Handles a PUT. This runs in a thread that delivers for many clients: it must not wait. */
  private void put(IncomingRequest request) {
    try {
      store(request.message().byteBuffer());
      request.answer(ByteBuffer.allocate(0));
    } catch (IllegalArgumentException doesNotFit) {
      request.refuse(String.valueOf(doesNotFit.getMessage()));
    }
  }

  /**
   * Stores an entry. Requests of several clients come in several threads, so only one may write.
   * This is a cache: the slot forgets the entry that it had, even if that one has another key.
   */
  synchronized void store(ByteBuffer entry) {
    CacheSlot.store(
        slot(CacheSlot.offset(table.segment().byteSize(), CacheSlot.key(entry))), entry);
  }

  private ByteBuffer slot(long offset) {
    return table.segment().asSlice(offset, CacheSlot.BYTES).asByteBuffer();
  }

  /** Ends everything immediately: the listener, the connections and the registrations. */
  @Override
  public void close() {
    node.close();
  }
}
