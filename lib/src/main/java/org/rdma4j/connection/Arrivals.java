package org.rdma4j.connection;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What arrives over one connection: reads the header of each message, and does what it says.
 *
 * <p>The lock of the connection guards this: every method requires it.
 */
final class Arrivals {
  private final Link link;
  private final Ending ending;
  private final Credits credits;
  private final PromisedReceives promises;
  private final SendQueue sends;
  private final Inbox inbox;
  private final UserCalls users;

  /** The messages that arrived before it was known what the peer tells about itself. */
  private final Deque<Slot> early = new ArrayDeque<>();

  private Hello peer = Hello.NONE;
  private volatile boolean connected;

  /** Whether a message of the peer has arrived. */
  private boolean heard;

  /** The number of reads that fetch what the peer offered. */
  private int reading;

  private long messages;
  private long bytes;

  Arrivals(
      Link link,
      Ending ending,
      Credits credits,
      PromisedReceives promises,
      SendQueue sends,
      Inbox inbox,
      UserCalls users) {
    this.link = link;
    this.ending = ending;
    this.credits = credits;
    this.promises = promises;
    this.sends = sends;
    this.inbox = inbox;
    this.users = users;
  }

  /** Notes what the peer tells about itself, and handles what it has sent meanwhile. */
  void connected(Hello told) {
    peer = told;
    connected = true;
    credits.begin(told.credits(), told.receives());
    Slot next = early.pollFirst();
    while (next != null) {
      acceptOrBreak(next);
      next = early.pollFirst();
    }
  }

  /**
   * Returns whether requests may be posted: what the peer tells about itself is known, and this
   * side does not wait for the peer's first message.
   */
  boolean mayPost() {
    return connected && !awaitsFirst();
  }

  /** Returns whether this side has to wait for the first message of the peer before it sends. */
  boolean awaitsFirst() {
    return connected && !heard && peer.credits() == 0;
  }

  boolean isConnected() {
    return connected;
  }

  Hello peer() {
    return peer;
  }

  /** Returns the number of messages that have arrived. */
  long messages() {
    return messages;
  }

  /** Returns the number of bytes of those messages. */
  long bytes() {
    return bytes;
  }

  /** Returns whether something that the peer offered is being fetched. */
  boolean isFetching() {
    return reading > 0;
  }

  /**
   * Handles the arrival of a message.
   *
   * @param succeeded whether it fits into its buffer
   * @param isSend whether it is what a send of the peer sent
   * @param length its length, with the header
   */
  void arrived(Slot buffer, boolean succeeded, boolean isSend, long length) {
    promises.used();
    heard = true;
    if (ending.failure() != null || ending.isPeerClosed()) {
      buffer.free();
    } else if (!succeeded) {
      buffer.free();
      breakUp("it sent a message that is longer than the buffers of this side");
    } else if (!isSend || length < MessageHeader.BYTES) {
      buffer.free();
      breakUp("it sent something that is not a message of this protocol");
    } else {
      buffer.become(MessageKind.MESSAGE, 0, length - MessageHeader.BYTES, null);
      if (connected) {
        acceptOrBreak(buffer);
      } else {
        early.addLast(buffer);
      }
    }
  }

  private void acceptOrBreak(Slot buffer) {
    boolean needed = false;
    try {
      String violation = accept(buffer);
      needed = violation == null && buffer.isComplete();
      if (violation != null) {
        breakUp(violation);
      }
    } finally {
      if (!needed) {
        buffer.leavePlace();
        buffer.free();
        promises.renewOwed();
      }
    }
    if (needed) {
      deliver(buffer);
    }
  }

  /** Breaks the connection because the peer broke the protocol, and tells it so. */
  void breakUp(String violation) {
    ending.violated(violation);
  }

  /**
   * Handles a message with its header.
   *
   * @return what is wrong with it; null if nothing is. The buffer is incomplete afterwards if it is
   *     no longer needed; otherwise it is to be delivered
   */
  private @Nullable String accept(Slot buffer) {
    long at = buffer.header();
    MessageKind kind = MessageKind.of(MessageHeader.kind(buffer.regionMemory(), at));
    int flags = MessageHeader.flags(buffer.regionMemory(), at);
    int granted = MessageHeader.credits(buffer.regionMemory(), at);
    int fetched = MessageHeader.fetched(buffer.regionMemory(), at);
    long number = MessageHeader.number(buffer.regionMemory(), at);
    if (kind == null) {
      return "it sent a message of kind " + MessageHeader.kind(buffer.regionMemory(), at);
    }
    if (!credits.restore(granted)) {
      return "it granted %d credits, but says that it grants at most %d"
          .formatted(granted, peer.receives());
    }
    for (int i = 0; i < fetched; i++) {
      Outgoing offer = sends.pollOffer();
      if (offer == null) {
        return "it fetched more than it was offered";
      }
      promises.withdraw(1);
      offer.fetched = true;
      if (offer.buffer == null) {
        link.finish(offer, null);
      } // Otherwise its own completion is still to come, with that of a later request.
    }
    if (!kind.takesCredit()) {
      buffer.complete(false);
      // Its receive is set aside again for the next one, at the latest when this buffer is free.
      promises.renew();
      return kind == MessageKind.END
          ? ending.peerEnded(flags, buffer.message())
          : granted + fetched > 0 ? null : "it sent an empty message of the protocol";
    }
    if (!credits.arrived()) {
      return "it sent a message without a credit";
    }
    if (kind == MessageKind.RETURN) {
      credits.freed();
      buffer.complete(false);
      if (!credits.takeBack(number)) {
        return "it gave back %d credits, but has %d".formatted(number, credits.granted());
      }
      promises.withdraw((int) number);
      return null;
    }
    if ((flags & MessageHeader.OFFER) != 0) {
      Offer offer = buffer.length() == Offer.BYTES ? Offer.read(buffer.message()) : null;
      credits.freed();
      buffer.complete(false);
      String wrong =
          offer == null || kind == MessageKind.NOTICE
              ? "it sent an offer that is not valid"
              : inbox.offer(offer, kind, number);
      if (wrong == null) {
        fetchOffered();
      }
      return wrong;
    }
    messages++;
    bytes += buffer.length();
    buffer.become(kind, number, kind == MessageKind.NOTICE ? 0 : buffer.length(), link);
    return null;
  }

  /** Puts a complete message where its receiver finds it. */
  private void deliver(Slot message) {
    if (message.kind() == MessageKind.MESSAGE || message.kind() == MessageKind.NOTICE) {
      inbox.add(message);
      link.wakeReceiver();
      users.messageArrived();
    } else {
      users.arrived(message);
    }
  }

  /** Begins to fetch what was offered, as far as there is memory. */
  void fetchOffered() {
    String wrong = inbox.fetchOffered(link, this::fetch);
    if (wrong != null) {
      breakUp(wrong);
    } else if (inbox.hasNext()) {
      // A message that has arrived behind the offer may be the next one now.
      link.wakeReceiver();
      users.messageArrived();
    }
  }

  /**
   * Takes memory for the offer that waits for it; returns whether there still is one. If not, the
   * caller gives the memory back.
   */
  boolean supplied(Slot memory) {
    if (ending.isClosing() || ending.failure() != null) {
      return false;
    }
    inbox.supply(memory);
    fetchOffered();
    return true;
  }

  private void fetch(Offer offer, Incoming into) {
    long done = 0;
    while (done < offer.length()) {
      long length = Math.min(SendQueue.MAX_TRANSFER, offer.length() - done);
      Outgoing read = sends.newRequest();
      read.operation = Outgoing.Operation.READ;
      read.remoteAddress = offer.address() + done;
      read.remoteKey = offer.key();
      read.local = into.target.part(offer.offset() + done, length);
      read.incoming = into;
      done += length;
      read.flags = done == offer.length() ? MessageHeader.OFFER : 0;
      reading++;
      sends.addFetch(read);
    }
  }

  /** Handles the completion of a read that fetched a part of a message. */
  void fetched(Incoming message, long length, boolean lastOfOffer) {
    reading--;
    if (lastOfOffer) {
      sends.offerFetched();
    }
    if (inbox.fetched(message, length, lastOfOffer)) {
      messages++;
      bytes += message.total;
      if (message.target.kind() == MessageKind.MESSAGE) {
        // Its place among the messages was taken when the first piece was offered.
        link.wakeReceiver();
        users.messageArrived();
      } else {
        deliver(message.target);
      }
    }
  }

  /** Frees what has arrived and that nobody will take. */
  void discard() {
    for (Slot call : users.removeArrived()) {
      free(call);
    }
    early.forEach(Arrivals::free);
    early.clear();
    inbox.discard().forEach(Arrivals::free);
  }

  private static void free(Slot slot) {
    slot.leavePlace();
    slot.free();
  }
}
