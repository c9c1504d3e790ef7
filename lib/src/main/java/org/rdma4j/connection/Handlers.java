package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.session.Session;

/** What the program has given a connection to call, and when that is called. */
final class Handlers {
  private final Link link;
  private final Session session;
  private final Telling telling;

  /** What users hold. If handlers do all the work, only this refers to it. */
  @SuppressWarnings("UnusedVariable")
  private @Nullable Object held;

  Handlers(Link link, Session session, Telling telling) {
    this.link = link;
    this.session = session;
    this.telling = telling;
  }

  void ofMessages(MessageHandler handler, Object holder) {
    set(() -> telling.handleMessages(handler), holder);
  }

  void ofMessageBytes(Consumer<ByteBuffer> handler, LongConsumer noticeHandler, Object holder) {
    long longest = link.share().config().maxMessageBytes();
    if (longest > Integer.MAX_VALUE) {
      throw new IllegalStateException(
          "NodeConfig.maxMessageBytes is %d, more than a ByteBuffer can have: lower it, or use onMessage"
              .formatted(longest));
    }
    set(() -> telling.handleMessageBytes(handler, noticeHandler), holder);
  }

  void ofRequests(RequestHandler handler, Object holder) {
    set(() -> telling.handleRequests(handler), holder);
  }

  void ofWritability(WritabilityHandler handler, Object holder) {
    set(() -> telling.handleWritability(handler), holder);
  }

  private void set(Runnable setHandler, Object holder) {
    link.lock();
    try {
      session.lifecycle().checkOpen();
      setHandler.run();
      held = holder;
    } finally {
      link.unlock();
    }
    telling.tell();
  }

  /** Makes the delivery of messages and requests wait, or not any more. */
  void pause(boolean whether) {
    link.lock();
    try {
      session.pause(whether);
    } finally {
      link.unlock();
    }
    if (!whether) {
      link.later(telling::tell);
    }
  }

  /** Sets when users should send no more, and when they should go on. */
  void watermarks(long low, long high) {
    link.lock();
    try {
      session.watermarks(low, high);
    } finally {
      link.unlock();
    }
    link.later(telling::tell);
  }
}
