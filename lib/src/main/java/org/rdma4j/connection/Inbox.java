package org.rdma4j.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one connection that have arrived and that nobody has taken, in their order. A
 * message that is being fetched, or that waits for memory, holds up those behind it.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it.
 */
final class Inbox {
  private final LargeBuffers buffers;
  private final long maxBytes;
  private final Deque<Slot> arrived = new ArrayDeque<>();
  private final Map<Integer, Incoming> incoming = new HashMap<>();
  private final Deque<Waiting> waiting = new ArrayDeque<>();

  /** The offers that have not been fetched. */
  private int offers;

  /** Whether memory was asked for, for the offer that waits first, and what was supplied then. */
  private boolean asked;

  private @Nullable Slot supply;

  /** The bytes of all long messages that have not been closed. */
  private long bytes;

  /** An offer for which there is no memory yet, or a message that has arrived behind one. */
  private record Waiting(
      @Nullable Offer offer, MessageKind kind, long number, @Nullable Slot message) {}

  /** Fetches a piece of a message from the peer. */
  interface Fetch {
    void fetch(Offer offer, Incoming into);
  }

  /**
   * Creates an empty inbox.
   *
   * @param maxBytes the length of the longest message, and of all long messages together
   */
  Inbox(LargeBuffers buffers, long maxBytes) {
    this.buffers = buffers;
    this.maxBytes = maxBytes;
  }

  /** Adds a message that has arrived as a whole. */
  void add(Slot message) {
    if (waiting.isEmpty()) {
      arrived.addLast(message);
    } else {
      waiting.addLast(new Waiting(null, message.kind(), message.number(), message));
    }
  }

  /** Takes the next message; null if none has arrived, or the next one is still being fetched. */
  @Nullable Slot poll() {
    return hasNext() ? arrived.removeFirst() : null;
  }

  /** Returns the next message without taking it; null as for {@link #poll}. */
  @Nullable Slot peek() {
    return hasNext() ? arrived.peekFirst() : null;
  }

  /** Puts the message that was taken last back. */
  void putBack(Slot message) {
    arrived.addFirst(message);
  }

  /** Returns whether no message has arrived or is being fetched. */
  boolean isEmpty() {
    return arrived.isEmpty() && waiting.isEmpty();
  }

  /** Returns whether the next message is there. */
  boolean hasNext() {
    Slot next = arrived.peekFirst();
    return next != null && next.isComplete();
  }

  /**
   * Takes an offer of the peer.
   *
   * @return what is wrong with it; null if nothing is
   */
  @Nullable String offer(Offer offer, MessageKind kind, long number) {
    if (offer.total() > maxBytes) {
      return "it offered a message of %d bytes, more than the %d of NodeConfig.maxMessageBytes"
          .formatted(offer.total(), maxBytes);
    }
    if (offers == Offer.MAX_UNFETCHED) {
      return "it made more than " + Offer.MAX_UNFETCHED + " offers at a time";
    }
    offers++;
    waiting.addLast(new Waiting(offer, kind, number, null));
    return null;
  }

  /**
   * Begins to fetch what was offered, as far as there is memory.
   *
   * @return what is wrong with an offer; null if nothing is
   */
  @Nullable String fetchOffered(Link link, Fetch fetch) {
    while (!waiting.isEmpty()) {
      Waiting first = waiting.getFirst();
      Offer offer = first.offer();
      if (offer == null) {
        arrived.addLast(Objects.requireNonNull(first.message()));
        waiting.removeFirst();
        continue;
      }
      Incoming known = incoming.get(offer.message());
      if (known == null) {
        if (offer.offset() != 0) {
          return "it offered a piece of a message without those before";
        }
        Slot target = takeMemory(offer.total(), link);
        if (target == null) {
          return null;
        }
        known = begin(first, offer, target, link);
      } else if (offer.offset() != known.offered || offer.total() != known.total) {
        return "it offered pieces that do not fit together";
      }
      waiting.removeFirst();
      known.offered += offer.length();
      fetch.fetch(offer, known);
    }
    return null;
  }

  /** Returns memory for a message; null if there is none yet, and then asks for it. */
  private @Nullable Slot takeMemory(long total, Link link) {
    if (bytes > 0 && bytes + total > maxBytes) {
      return null;
    }
    if (asked) {
      Slot supplied = supply;
      supply = null;
      asked = supplied == null;
      return supplied;
    }
    Slot kept = buffers.tryTake(total);
    if (kept == null) {
      asked = true;
      link.supplyMemory(total);
    }
    return kept;
  }

  /** Takes the memory that was asked for. */
  void supply(Slot memory) {
    supply = memory;
  }

  private Incoming begin(Waiting first, Offer offer, Slot target, Link link) {
    long total = offer.total();
    target.become(first.kind(), first.number(), total, link);
    target.complete(false);
    bytes += target.capacity();
    if (first.kind() == MessageKind.MESSAGE) {
      arrived.addLast(target);
    }
    Incoming begun = new Incoming(offer.message(), target, total);
    incoming.put(begun.number, begun);
    return begun;
  }

  /** Notes that a part of an offer was fetched, and returns whether the message is complete. */
  boolean fetched(Incoming message, long length, boolean lastOfOffer) {
    message.missing -= length;
    if (lastOfOffer) {
      offers--;
    }
    boolean complete = message.missing == 0;
    if (complete) {
      message.target.complete(true);
      incoming.remove(message.number);
    }
    return complete;
  }

  /** Notes that the memory of a long message was given back. */
  void closed(Slot message) {
    bytes -= message.capacity();
  }

  /** Removes all messages that nobody will take, whether they are complete or not. */
  List<Slot> discard() {
    List<Slot> all = new ArrayList<>(arrived);
    arrived.clear();
    for (Incoming each : incoming.values()) {
      if (each.target.kind() != MessageKind.MESSAGE) {
        all.add(each.target);
      }
    }
    incoming.clear();
    for (Waiting each : waiting) {
      if (each.message() != null) {
        all.add(each.message());
      }
    }
    waiting.clear();
    if (supply != null) {
      all.add(supply);
      supply = null;
    }
    return all;
  }
}
