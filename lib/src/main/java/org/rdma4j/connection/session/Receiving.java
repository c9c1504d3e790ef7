package org.rdma4j.connection.session;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.connection.wire.PrintableText;

/**
 * What arrives over one connection: reads the header of each message, and does what it says. The
 * methods that return a text return what is wrong with what the peer has sent; null if nothing is.
 */
final class Receiving {
  private final String connection;
  private final int features;
  private final Credits credits;
  private final PromisedReceives promises;
  private final ReceiveWindow window;
  private final Sending sending;
  private final Inbox inbox;
  private final Deliveries deliveries;
  private final Lifecycle lifecycle;
  private final Counts counts;

  /** The messages that arrived before the hello of the peer was known. */
  private final Deque<Buffer> early = new ArrayDeque<>();

  private final OpenRequests requests = new OpenRequests();

  private Hello peer = Hello.NONE;
  private volatile boolean connected;

  /** Whether both sides know packed messages. */
  private boolean packs;

  /** Whether both sides have one receive for messages of the protocol itself. */
  private boolean oneReceive;

  /** Whether a message of the peer has arrived. */
  private boolean heard;

  /** Whether nothing that arrives is delivered any more. */
  private boolean ended;

  /** The length of the longest message that the user allows, and where that is set. */
  private long allowedBytes = Long.MAX_VALUE;

  private String allowedWhere = "";

  Receiving(
      String connection,
      int features,
      Credits credits,
      PromisedReceives promises,
      ReceiveWindow window,
      Sending sending,
      Inbox inbox,
      Deliveries deliveries,
      Lifecycle lifecycle,
      Counts counts) {
    this.connection = connection;
    this.features = features;
    this.credits = credits;
    this.promises = promises;
    this.window = window;
    this.sending = sending;
    this.inbox = inbox;
    this.deliveries = deliveries;
    this.lifecycle = lifecycle;
    this.counts = counts;
  }

  /** Notes the hello of the peer, and handles what it has sent meanwhile. */
  @Nullable String connected(Hello hello) {
    peer = hello;
    packs = (features & hello.features() & Hello.PACKED) != 0;
    oneReceive = (features & hello.features() & Hello.ONE_RECEIVE) != 0;
    connected = true;
    credits.begin(hello.credits(), hello.receives(), packs, oneReceive);
    if (oneReceive) {
      sending.takeOneReceive();
      promises.withdraw(Session.CONTROL_RECEIVES - 1);
    }
    String wrong = null;
    while (!early.isEmpty()) {
      Buffer next = early.removeFirst();
      if (wrong == null) {
        wrong = accept(next);
      } else {
        next.free();
      }
    }
    return wrong;
  }

  /**
   * Delivers nothing of what arrives from now on: a message was lost, or may be, and one behind it
   * would be taken for its successor.
   */
  void end() {
    ended = true;
  }

  void allowMessages(long maxBytes, String where) {
    allowedBytes = maxBytes;
    allowedWhere = where;
  }

  boolean isConnected() {
    return connected;
  }

  Hello peer() {
    return peer;
  }

  boolean packs() {
    return packs;
  }

  boolean hasOneReceive() {
    return oneReceive;
  }

  /** Returns whether requests may be posted: not before both sides know what the other receives. */
  boolean mayPost() {
    return connected && !awaitsFirst();
  }

  /** Returns whether this side has to wait for the first message of the peer before it sends. */
  boolean awaitsFirst() {
    return connected && !heard && peer.credits() == 0;
  }

  /** Handles the arrival of a message, as {@link Session#received} describes. */
  @Nullable String arrived(Buffer buffer, boolean succeeded, boolean isSend, long length) {
    promises.used();
    heard = true;
    if (ended || lifecycle.failure() != null || lifecycle.isPeerClosed()) {
      buffer.free();
      return null;
    }
    if (!succeeded) {
      buffer.free();
      return "it sent a message that is longer than the buffers of this side";
    }
    if (!isSend || length < MessageHeader.BYTES) {
      buffer.free();
      return "it sent something that is not a message of this protocol";
    }
    buffer.become(MessageKind.MESSAGE, 0, length - MessageHeader.BYTES);
    if (connected) {
      return accept(buffer);
    }
    early.addLast(buffer);
    return null;
  }

  private @Nullable String accept(Buffer buffer) {
    MessageKind kind = MessageKind.of(MessageHeader.kind(buffer.segment(), buffer.header()));
    int flags = MessageHeader.flags(buffer.segment(), buffer.header());
    boolean delivered = false;
    try {
      String wrong = checkHeader(buffer, kind, flags);
      wrong = wrong == null && kind != null ? acceptCounts(buffer, kind, flags) : wrong;
      if (wrong != null || kind == null) {
        return wrong;
      }
      boolean isEndOfOutput = oneReceive && kind.isEndOfOutput(flags);
      if (!kind.takesCredit() && !isEndOfOutput) {
        return acceptControl(buffer, kind, flags);
      }
      if (!credits.arrived()) {
        return "it sent a message without a credit";
      }
      if ((flags & MessageHeader.LACKED_CREDIT) != 0) {
        credits.widen();
      }
      if (isEndOfOutput) {
        credits.freed();
        return acceptEnd(buffer, flags);
      }
      long number = MessageHeader.number(buffer.segment(), buffer.header());
      if (kind == MessageKind.RETURN) {
        return acceptReturn(number);
      }
      if (kind == MessageKind.CANCEL) {
        credits.freed();
        requests.cancelled(number);
        return null;
      }
      if ((flags & MessageHeader.OFFER) != 0) {
        Unfetched unfetched = kind == MessageKind.NOTICE ? null : readOffer(buffer);
        if (unfetched == null) {
          return "it sent an offer that is not valid";
        }
        Offer offer = unfetched.offer();
        if (offer.total() > allowedBytes) {
          return tooLong(offer.total());
        }
        // A short message is fetched into the buffer that its offer took, and counts as others do.
        delivered = offer.offset() == 0 && offer.total() <= buffer.capacity();
        unfetched.offer(kind, number, delivered ? buffer : null);
        wrong = inbox.offer(unfetched);
        delivered &= wrong == null;
        begun(kind, number);
        if (delivered) {
          buffer.enter(window);
        } else {
          credits.freed();
        }
        return wrong == null ? fetchOffered() : wrong;
      }
      wrong =
          (flags & MessageHeader.PACKED) == 0
              ? acceptOne(buffer, kind, number)
              : acceptPacked(buffer);
      if (wrong != null) {
        return wrong;
      }
      buffer.enter(window);
      begun(kind, number);
      delivered = true;
    } finally {
      if (!delivered) {
        buffer.free();
        promises.renewOwed();
      }
    }
    return deliver(buffer);
  }

  /** Returns the offer in a message; null if no honest peer sends it. */
  private @Nullable Unfetched readOffer(Buffer buffer) {
    Unfetched read = inbox.newUnfetched();
    boolean valid = buffer.length() == Offer.BYTES && read.read(buffer.segment(), buffer.payload());
    return valid ? read : null;
  }

  private @Nullable String acceptOne(Buffer buffer, MessageKind kind, long number) {
    if (buffer.length() > allowedBytes) {
      return tooLong(buffer.length());
    }
    counts.receivedMessages++;
    counts.receivedBytes += buffer.length();
    buffer.become(kind, number, kind == MessageKind.NOTICE ? 0 : buffer.length());
    return null;
  }

  /** Checks all lengths of packed messages, of which none is delivered before. */
  private @Nullable String acceptPacked(Buffer buffer) {
    long bytes = buffer.length();
    long first = MessageHeader.firstLength(buffer.segment(), buffer.header());
    int messages = buffer.becomePacked(first, bytes);
    if (messages == 0) {
      return "it sent packed messages of %d bytes, the first of %d, whose lengths do not fit together"
          .formatted(bytes, first);
    }
    if (bytes > allowedBytes && buffer.longest() > allowedBytes) {
      return tooLong(buffer.longest());
    }
    counts.receivedMessages += messages;
    counts.receivedBytes += bytes - (messages - 1L) * MessageHeader.LENGTH_BYTES;
    return null;
  }

  private String tooLong(long bytes) {
    return "it sent a message of %d bytes, more than the %d of %s"
        .formatted(bytes, allowedBytes, allowedWhere);
  }

  private void begun(MessageKind kind, long number) {
    if (kind == MessageKind.REQUEST) {
      requests.add(number);
    }
  }

  /** Returns the requests of the peer that have not been answered. */
  OpenRequests requests() {
    return requests;
  }

  /** Checks what a later version of the protocol might use, which both sides would have to know. */
  private @Nullable String checkHeader(Buffer buffer, @Nullable MessageKind kind, int flags) {
    if (kind == null) {
      return "it sent a message of kind " + MessageHeader.kind(buffer.segment(), buffer.header());
    }
    boolean isPacked = packs && (flags & MessageHeader.PACKED) != 0;
    int unknown =
        isPacked
            ? MessageHeader.OFFER
            : packs ? 0 : MessageHeader.PACKED | MessageHeader.LACKED_CREDIT;
    unknown |= oneReceive ? 0 : MessageHeader.PROTOCOL_READ;
    int known = kind.flags() & ~unknown;
    int reserved = isPacked ? 0 : MessageHeader.firstLength(buffer.segment(), buffer.header());
    if ((flags & ~known) != 0 || reserved != 0) {
      return "it sent a message of kind %d with the flags %d and the reserved bytes %d"
          .formatted(kind.code(), flags, reserved);
    }
    return kind.isOutput() && lifecycle.isInputEnded()
        ? "it sent a message of kind %d after the end of its output".formatted(kind.code())
        : null;
  }

  /** Handles what each message has: credits, and the number of offers that the peer has fetched. */
  private @Nullable String acceptCounts(Buffer buffer, MessageKind kind, int flags) {
    if ((flags & MessageHeader.PROTOCOL_READ) != 0 && !sending.readByPeer()) {
      return "it has read a message of the protocol that was not sent";
    }
    int granted = MessageHeader.credits(buffer.segment(), buffer.header());
    if (!credits.restore(granted)) {
      return "it granted %d credits, but says that it grants at most %d"
          .formatted(granted, peer.receives());
    }
    int fetched = MessageHeader.fetched(buffer.segment(), buffer.header());
    if (!sending.fetchedByPeer(fetched)) {
      return "it fetched more than it was offered";
    }
    if (kind == MessageKind.CONTROL && granted + fetched == 0) {
      return "it sent an empty message of the protocol";
    }
    return null;
  }

  private @Nullable String acceptControl(Buffer buffer, MessageKind kind, int flags) {
    // Its receive is set aside again for the next one, at the latest when this buffer is free.
    promises.renew();
    if (kind == MessageKind.END) {
      return acceptEnd(buffer, flags);
    }
    boolean reports = MessageHeader.fetched(buffer.segment(), buffer.header()) > 0;
    return oneReceive && !reports && !sending.readProtocol()
        ? "it sent credits before it knew that the last ones were read"
        : null;
  }

  private @Nullable String acceptEnd(Buffer buffer, int flags) {
    return lifecycle.peerEnded(
        flags & ~MessageHeader.PROTOCOL_READ,
        inbox.lacksPieces(),
        () -> PrintableText.of(buffer.message()));
  }

  private @Nullable String acceptReturn(long number) {
    credits.freed();
    if ((number == 0 && !oneReceive) || !credits.takeBack(number)) {
      return "it gave back %d credits, but has %d".formatted(number, credits.granted());
    }
    promises.withdraw((int) number);
    return null;
  }

  /** Puts a complete message where its receiver finds it. */
  private @Nullable String deliver(Buffer message) {
    switch (message.kind()) {
      case MESSAGE, NOTICE -> {
        inbox.add(message);
        messagesArrived();
        return null;
      }
      case REQUEST -> {
        deliveries.requestArrived(message);
        if (lifecycle.isClosing()) {
          dropUnread();
        }
        return null;
      }
      default -> {
        return deliverAnswer(message);
      }
    }
  }

  /** Records that messages may have arrived in the inbox. */
  private void messagesArrived() {
    deliveries.messageArrived();
    if (lifecycle.isClosing()) {
      dropUnread();
    }
  }

  /**
   * Drops what has arrived and that no thread takes any more, once a close has begun: the close of
   * the peer may wait for the credits.
   */
  void dropUnread() {
    Buffer next = deliveries.pollUnwanted();
    while (next != null) {
      next.leaveWindow();
      next.free();
      left(next);
      next = deliveries.pollUnwanted();
    }
  }

  private @Nullable String deliverAnswer(Buffer message) {
    // It counts against no window: this side has made no more requests than it wants answers.
    message.leaveWindow();
    left(message);
    Object listener = deliveries.pending().remove(message.number());
    if (listener == null) {
      message.free();
      return "it answered the request %d, which does not wait for an answer"
          .formatted(message.number());
    }
    if (message.kind() == MessageKind.REFUSAL) {
      String reason = PrintableText.of(message.message());
      message.free();
      deliveries.answered(new Answer(listener, null, refused(reason)));
    } else {
      deliveries.answered(new Answer(listener, message, null));
    }
    return null;
  }

  private RdmaException refused(String reason) {
    return new RdmaException(connection, 0, "The peer refused the request: " + reason);
  }

  /** Begins to fetch what was offered, as far as there is memory. */
  private @Nullable String fetchOffered() {
    String wrong = inbox.fetchOffered(sending);
    // A message that has arrived behind the offer may be the next one now.
    if (wrong == null && inbox.hasNext()) {
      messagesArrived();
    }
    return wrong;
  }

  /** Takes memory for the offer that waits for it. */
  @Nullable String supplied(Buffer memory) {
    inbox.supply(memory);
    return fetchOffered();
  }

  /** Goes on after more of the buffer of a message was registered. */
  @Nullable String registered() {
    inbox.registered();
    return fetchOffered();
  }

  /** Handles the completion of a read that fetched a part of a message. */
  @Nullable String fetched(Request fetch) {
    Incoming message = fetch.incoming;
    if (message == null) {
      throw new AssertionError("a fetch without a message");
    }
    if (fetch.lastOfOffer) {
      sending.offerFetched();
    }
    if (!inbox.fetched(message, fetch.bytes(), fetch.lastOfOffer)) {
      return null;
    }
    counts.receivedMessages++;
    counts.receivedBytes += message.total();
    Buffer target = message.target();
    inbox.recycle(message);
    if (target.kind() == MessageKind.MESSAGE) {
      // Its place among the messages was taken when the first piece was offered.
      messagesArrived();
      return null;
    }
    return deliver(target);
  }

  /** Records that a message no longer counts against the receive window. Long ones never do. */
  void left(Buffer buffer) {
    if (!buffer.isLong()) {
      credits.freed();
    }
  }

  /** Frees what has arrived and that no thread will take. */
  void discard(RuntimeException reason) {
    while (!early.isEmpty()) {
      early.removeFirst().free();
    }
    for (Buffer each : inbox.discard()) {
      each.leaveWindow();
      each.free();
    }
    deliveries.discard(reason);
  }
}
