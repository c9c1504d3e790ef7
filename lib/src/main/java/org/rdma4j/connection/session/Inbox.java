package org.rdma4j.connection.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Arrivals;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.LargeBuffers;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.platform.TimeText;

/**
 * The messages of one connection that have arrived and that no thread has taken, in their order. A
 * message that is being fetched, or that waits for memory, holds up those behind it.
 */
final class Inbox {
  /**
   * A message has memory for so many times what the peer has offered of it: an offer that names a
   * great length costs no more than what it offers. Few enough that a message in pieces registers
   * its memory in a few steps.
   */
  static final int AHEAD = 8;

  private final LargeBuffers buffers;
  private final Arrivals arrivals;
  private final long maxBytes;
  private final Deque<Buffer> arrived = new ArrayDeque<>();

  /** The messages that are offered as a whole and are being fetched, in their order. */
  private final Deque<Incoming> whole = new ArrayDeque<>();

  /** The messages in pieces that are not complete, by their numbers. */
  private final Map<Integer, Incoming> inPieces = new HashMap<>();

  private final Deque<Unfetched> waiting = new ArrayDeque<>();

  /** Objects for the next messages. */
  private final Deque<Incoming> spareIncoming = new ArrayDeque<>();

  private final Deque<Unfetched> spareUnfetched = new ArrayDeque<>();

  /** The offers that have not been fetched. */
  private int offers;

  /** What the offer that waits first needs; null if it does not lack memory. */
  private @Nullable MemoryNeed need;

  /** Whether that was asked for. */
  private boolean asked;

  /** The buffer that was supplied for it. */
  private @Nullable Buffer supply;

  /** The bytes that the peer has still to offer of messages whose first piece it has offered. */
  private long unoffered;

  /** The bytes that are being fetched. */
  private long reading;

  /** How often a fetch has begun or ended, and what that was when something had moved last. */
  private long moves;

  private long seenMoves;
  private long movedAt;

  /**
   * Creates an empty inbox.
   *
   * @param arrivals what long messages count as
   * @param maxBytes the length of the longest message
   */
  Inbox(LargeBuffers buffers, Arrivals arrivals, long maxBytes) {
    this.buffers = buffers;
    this.arrivals = arrivals;
    this.maxBytes = maxBytes;
  }

  /** Adds a message that has arrived as a whole. */
  void add(Buffer message) {
    if (waiting.isEmpty()) {
      arrived.addLast(message);
    } else {
      Unfetched behind = newUnfetched();
      behind.arrived(message);
      waiting.addLast(behind);
    }
  }

  /** Returns what an offer can be read into, to be {@link #offer offered} or taken back. */
  Unfetched newUnfetched() {
    Unfetched known = spareUnfetched.pollLast();
    return known == null ? new Unfetched() : known;
  }

  /** Takes back what is no longer used. */
  void recycle(Unfetched unused) {
    unused.clear();
    spareUnfetched.addLast(unused);
  }

  /**
   * Takes the next message, with messages that have arrived together with it; null if none has
   * arrived, or the next one is still being fetched.
   */
  @Nullable Buffer poll() {
    return hasNext() ? arrived.removeFirst() : null;
  }

  /** Returns the next message without taking it; null as for {@link #poll}. */
  @Nullable Buffer peek() {
    return hasNext() ? arrived.peekFirst() : null;
  }

  /** Puts the message that was taken last back. */
  void putBack(Buffer message) {
    arrived.addFirst(message);
  }

  /** Returns whether a part of a message is being fetched. */
  boolean isFetching() {
    return reading > 0;
  }

  /** Returns whether the peer has still to offer a piece of a message. */
  boolean lacksPieces() {
    return unoffered > 0;
  }

  /** Returns whether no message has arrived or is being fetched. */
  boolean isEmpty() {
    return arrived.isEmpty() && waiting.isEmpty();
  }

  /** Returns whether the next message is there. */
  boolean hasNext() {
    Buffer next = arrived.peekFirst();
    return next != null && next.isComplete();
  }

  /**
   * Takes an offer of the peer.
   *
   * @return what is wrong with it; null if nothing is
   */
  @Nullable String offer(Unfetched unfetched) {
    Offer offer = unfetched.offer();
    if (offer.total() > maxBytes) {
      return "it offered a message of %d bytes, more than the %d of NodeConfig.maxMessageBytes"
          .formatted(offer.total(), maxBytes);
    }
    if (offers == Offer.MAX_UNFETCHED) {
      return "it made more than " + Offer.MAX_UNFETCHED + " offers at a time";
    }
    offers++;
    unoffered += (offer.offset() == 0 ? offer.total() : 0) - offer.length();
    waiting.addLast(unfetched);
    return null;
  }

  /**
   * Begins to fetch what was offered, as far as there is memory.
   *
   * @return what is wrong with an offer; null if nothing is
   */
  @Nullable String fetchOffered(Sending sending) {
    while (!waiting.isEmpty()) {
      Unfetched first = waiting.getFirst();
      if (!first.isOffer()) {
        arrived.addLast(Objects.requireNonNull(first.buffer()));
        recycle(waiting.removeFirst());
        continue;
      }
      Offer offer = first.offer();
      Incoming known = begun(offer);
      if (known == null) {
        if (offer.offset() != 0) {
          return "it offered a piece of a message without those before";
        }
        Buffer target = first.buffer() == null ? takeMemory(offer) : first.buffer();
        if (target == null) {
          return null;
        }
        known = begin(first, offer, target);
      } else if (offer.offset() != known.offered || offer.total() != known.total()) {
        return "it offered pieces that do not fit together";
      }
      if (!isRegistered(known, offer)) {
        return null;
      }
      moves++;
      known.offered += offer.length();
      sending.fetch(offer, known);
      reading += offer.length();
      recycle(waiting.removeFirst());
    }
    return null;
  }

  /** Returns the message that an offer goes on with; null if it begins one. */
  private @Nullable Incoming begun(Offer offer) {
    Incoming last = offer.isWhole() ? whole.peekLast() : null;
    if (last != null && last.offered == 0) {
      // It has waited for its memory to be registered.
      return last;
    }
    return inPieces.isEmpty() ? null : inPieces.get(offer.message());
  }

  /** Returns memory for a message; null if there is none yet. */
  private @Nullable Buffer takeMemory(Offer offer) {
    if (need != null) {
      Buffer supplied = supply;
      if (supplied != null) {
        supply = null;
        need = null;
      }
      return supplied;
    }
    Buffer kept = buffers.tryTake(arrivals, offer.total());
    if (kept == null) {
      ask(null, offer);
    }
    return kept;
  }

  /** Returns whether what is offered can be fetched; if not, asks for the memory that is needed. */
  private boolean isRegistered(Incoming message, Offer offer) {
    boolean registered = offer.end() <= message.target().registeredBytes();
    if (!registered && need == null) {
      ask(message.target(), offer);
    }
    return registered;
  }

  private void ask(@Nullable Buffer buffer, Offer offer) {
    // The length of an offer is at most that of the longest message, so this is no overflow.
    long first = Math.min(offer.total(), AHEAD * offer.end());
    need = new MemoryNeed(buffer, offer.total(), first);
    asked = false;
  }

  /** Returns the memory that has to be supplied, once; null if none has to be. */
  @Nullable MemoryNeed takeNeed() {
    if (asked) {
      return null;
    }
    asked = need != null;
    return need;
  }

  /** Takes the memory that was needed. */
  void supply(Buffer memory) {
    supply = memory;
  }

  /** Records that as much of a buffer is registered as was needed. */
  void registered() {
    need = null;
  }

  private Incoming begin(Unfetched first, Offer offer, Buffer target) {
    long total = offer.total();
    target.await(first.kind(), first.number(), total);
    if (first.kind() == MessageKind.MESSAGE) {
      arrived.addLast(target);
    }
    Incoming known = spareIncoming.pollLast();
    Incoming begun = known == null ? new Incoming() : known;
    begun.begin(offer.message(), offer.isWhole(), target, total);
    if (offer.isWhole()) {
      whole.addLast(begun);
    } else {
      inPieces.put(begun.number(), begun);
    }
    return begun;
  }

  /** Records that a part of an offer was fetched, and returns whether the message is complete. */
  boolean fetched(Incoming message, long length, boolean lastOfOffer) {
    moves++;
    reading -= length;
    message.missing -= length;
    if (lastOfOffer) {
      offers--;
    }
    boolean complete = message.missing == 0;
    if (complete) {
      message.target().completed();
      if (message.isWhole()) {
        // The first, because reads are done in their order.
        whole.remove(message);
      } else {
        inPieces.remove(message.number());
      }
    }
    return complete;
  }

  /** Takes back a message that is complete. */
  void recycle(Incoming complete) {
    complete.clear();
    spareIncoming.addLast(complete);
  }

  /**
   * Returns what is wrong if nothing of a message that is incomplete has arrived for a time; null
   * if nothing is. Its memory is lost for others as long as it is not complete.
   */
  @Nullable String checkProgress(long now, long maxNanos) {
    if ((whole.isEmpty() && inPieces.isEmpty()) || moves != seenMoves) {
      seenMoves = moves;
      movedAt = now;
      return null;
    }
    if (maxNanos == 0 || now - movedAt < maxNanos) {
      return null;
    }
    Incoming first = whole.isEmpty() ? inPieces.values().iterator().next() : whole.getFirst();
    return "nothing of a message of %d bytes, of which %d are missing, has arrived for %s: offer all of it, or raise NodeConfig.progressTimeout of the receiver"
        .formatted(first.total(), first.missing, TimeText.of(Duration.ofNanos(maxNanos)));
  }

  /** Removes all messages that no thread will take, whether they are complete or not. */
  List<Buffer> discard() {
    List<Buffer> all = new ArrayList<>(arrived);
    arrived.clear();
    for (Collection<Incoming> incoming : List.of(whole, inPieces.values())) {
      for (Incoming each : incoming) {
        if (each.target().kind() != MessageKind.MESSAGE) {
          all.add(each.target());
        }
      }
      incoming.clear();
    }
    for (Unfetched each : waiting) {
      if (each.buffer() != null) {
        all.add(each.buffer());
      }
    }
    waiting.clear();
    buffers.withdraw(arrivals);
    if (supply != null) {
      all.add(supply);
      supply = null;
    }
    return all;
  }
}
