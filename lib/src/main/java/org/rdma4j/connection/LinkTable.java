package org.rdma4j.connection;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The connections by the numbers of their queue pairs. To look one up takes no lock and allocates
 * nothing; to remove one copies the table.
 */
final class LinkTable {
  private static final int FIRST_SIZE = 16;

  /** A hash table, half full at most. Once it was published, links are added but never removed. */
  private static final class Table {
    final AtomicReferenceArray<@Nullable Link> links;
    int count;

    /** Creates an empty table; its size is a power of two. */
    Table(int size) {
      links = new AtomicReferenceArray<>(size);
    }

    /** Returns where the link of a queue pair is, or would be. */
    int slot(int number) {
      int mask = links.length() - 1;
      int slot = ((number * 0x9e3779b9) >>> 8) & mask;
      Link found = links.getAcquire(slot);
      while (found != null && found.queuePairNumber() != number) {
        slot = (slot + 1) & mask;
        found = links.getAcquire(slot);
      }
      return slot;
    }

    void put(Link link) {
      int slot = slot(link.queuePairNumber());
      if (links.getPlain(slot) == null) {
        count++;
      }
      links.setRelease(slot, link);
    }

    boolean isFull() {
      return 2 * (count + 1) > links.length();
    }

    /** Returns a copy of another size, without the link of one queue pair. */
    Table copy(int size, int without) {
      Table copy = new Table(size);
      for (int i = 0; i < links.length(); i++) {
        Link each = links.getPlain(i);
        if (each != null && each.queuePairNumber() != without) {
          copy.put(each);
        }
      }
      return copy;
    }
  }

  private volatile Table table = new Table(FIRST_SIZE);

  @Nullable Link get(int number) {
    Table now = table;
    return now.links.getAcquire(now.slot(number));
  }

  synchronized void add(Link link) {
    Table next = table;
    if (next.isFull()) {
      next = next.copy(2 * next.links.length(), link.queuePairNumber());
    }
    next.put(link);
    table = next;
  }

  synchronized void remove(Link link) {
    if (get(link.queuePairNumber()) == link) {
      table = table.copy(table.links.length(), link.queuePairNumber());
    }
  }
}
