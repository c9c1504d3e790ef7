package org.rdma4j.connection;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The clients of a poller by the numbers of their queue pairs. To look one up takes no lock and
 * allocates nothing; to remove one copies the table.
 */
final class ClientTable {
  private static final int FIRST_SIZE = 16;

  /**
   * A hash table, half full at most. Once it was published, clients are added but never removed.
   */
  private static final class Table {
    final AtomicReferenceArray<@Nullable CompletionClient> clients;
    int count;

    /** Creates an empty table; its size is a power of two. */
    Table(int size) {
      clients = new AtomicReferenceArray<>(size);
    }

    /** Returns where the client of a queue pair is, or would be. */
    int slot(int number) {
      int mask = clients.length() - 1;
      int slot = ((number * 0x9e3779b9) >>> 8) & mask;
      CompletionClient found = clients.getAcquire(slot);
      while (found != null && found.queuePairNumber() != number) {
        slot = (slot + 1) & mask;
        found = clients.getAcquire(slot);
      }
      return slot;
    }

    void put(CompletionClient client) {
      int slot = slot(client.queuePairNumber());
      if (clients.getPlain(slot) == null) {
        count++;
      }
      clients.setRelease(slot, client);
    }

    boolean isFull() {
      return 2 * (count + 1) > clients.length();
    }

    /** Returns a copy of another size, without the client of one queue pair. */
    Table copy(int size, int without) {
      Table copy = new Table(size);
      for (int i = 0; i < clients.length(); i++) {
        CompletionClient each = clients.getPlain(i);
        if (each != null && each.queuePairNumber() != without) {
          copy.put(each);
        }
      }
      return copy;
    }
  }

  private volatile Table table = new Table(FIRST_SIZE);

  @Nullable CompletionClient get(int number) {
    Table now = table;
    return now.clients.getAcquire(now.slot(number));
  }

  synchronized boolean isEmpty() {
    return table.count == 0;
  }

  synchronized int size() {
    return table.count;
  }

  synchronized void add(CompletionClient client) {
    Table next = table;
    if (next.isFull()) {
      next = next.copy(2 * next.clients.length(), client.queuePairNumber());
    }
    next.put(client);
    table = next;
  }

  synchronized void remove(CompletionClient client) {
    if (get(client.queuePairNumber()) == client) {
      table = table.copy(table.clients.length(), client.queuePairNumber());
    }
  }
}
