package org.rdma4j.connection;

import org.jspecify.annotations.Nullable;

/**
 * The connections by the numbers of their queue pairs. To look one up takes no lock and allocates
 * nothing; to add or to remove one copies the table.
 */
final class LinkTable {
  private static final int FIRST_SIZE = 16;

  /** A hash table that is never changed after it was published, half full at most. */
  private static final class Table {
    final @Nullable Link[] links;
    int count;

    /** Creates an empty table; its size is a power of two. */
    Table(int size) {
      links = new @Nullable Link[size];
    }

    /** Returns where the link of a queue pair is, or would be. */
    int slot(int number) {
      int mask = links.length - 1;
      int slot = ((number * 0x9e3779b9) >>> 8) & mask;
      Link found = links[slot];
      while (found != null && found.queuePairNumber() != number) {
        slot = (slot + 1) & mask;
        found = links[slot];
      }
      return slot;
    }

    void put(Link link) {
      links[slot(link.queuePairNumber())] = link;
      count++;
    }

    /** Returns a copy of another size, without the link of one queue pair. */
    Table copy(int size, int without) {
      Table copy = new Table(size);
      for (Link each : links) {
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
    return now.links[now.slot(number)];
  }

  synchronized void add(Link link) {
    int size = table.links.length;
    boolean full = 2 * (table.count + 1) > size;
    Table next = table.copy(full ? 2 * size : size, link.queuePairNumber());
    next.put(link);
    table = next;
  }

  synchronized void remove(Link link) {
    if (get(link.queuePairNumber()) == link) {
      table = table.copy(table.links.length, link.queuePairNumber());
    }
  }
}
