package org.rdma4j.nio;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.nio.handover.HandoverException;
import org.rdma4j.nio.handover.Messages;

/**
 * Finds out what of a stream has reached the memory of the peer's process, so that it can be
 * forgotten here. An acknowledgement of the peer's device does not say that: the device, or the
 * connection, may fail before the process has taken the bytes.
 *
 * <p>The question is a request, which the peer answers once it has so many bytes, or the end. A
 * request may overtake messages, so it names their number.
 */
final class DeliveryReports {
  private final RdmaConnection connection;
  private final HeldBytes kept;

  /** What was asked for last; -1 if that was answered or refused. */
  private volatile long asked = -1;

  private volatile boolean endDelivered;

  /**
   * The question of the peer that was not answered yet. This guards it and what it asks for; it is
   * read without that for each message, of which most find no question.
   */
  private volatile @Nullable IncomingRequest question;

  private long wanted;

  DeliveryReports(RdmaConnection connection, HeldBytes kept) {
    this.connection = connection;
    this.kept = kept;
  }

  // ---- What this side has sent

  /** Returns whether the peer has all bytes, and the end. */
  boolean isEndDelivered() {
    return endDelivered;
  }

  /**
   * Asks the peer to answer when it has all bytes that were sent, unless it is being asked for
   * these. Called with the lock of writers.
   *
   * @param ended whether the end was sent, and is asked for, too
   * @param answered is called after an answer or a failure
   */
  void ask(boolean ended, Runnable answered) {
    long bytes = kept.sent();
    long what = Messages.delivered(bytes, ended);
    if (asked == what) {
      return;
    }
    asked = what;
    try {
      var unused =
          connection
              .request(Messages.deliveryQuestion(what))
              .whenComplete(
                  (answer, failure) -> {
                    if (asked == what) {
                      asked = -1;
                    }
                    if (failure == null) {
                      answered(answer, bytes, ended);
                    }
                    answered.run();
                  });
    } catch (RdmaException | IllegalStateException over) {
      // The end of the connection follows.
      asked = -1;
    }
  }

  private void answered(MessageBuffer answer, long bytes, boolean ended) {
    answer.close();
    kept.delivered(bytes);
    if (ended) {
      endDelivered = true;
    }
  }

  // ---- What the peer has sent

  /**
   * Takes a question of the peer. There is one at a time: a later one asks for more.
   *
   * @param delivered the number of bytes that came over RDMA
   * @param ended whether the end has come
   */
  synchronized void asked(IncomingRequest request, long delivered, boolean ended) {
    IncomingRequest before = question;
    if (before != null) {
      refuse(before, "a later question follows");
    }
    try {
      wanted = Messages.readDeliveryQuestion(request.message().byteBuffer());
    } catch (HandoverException wrong) {
      question = null;
      refuse(request, String.valueOf(wrong.getMessage()));
      return;
    }
    question = request;
    report(delivered, ended);
  }

  /**
   * Answers the question of the peer, if all that it asks for has come. The caller lets no question
   * come meanwhile.
   */
  void report(long delivered, boolean ended) {
    if (question != null) {
      answerIfDelivered(delivered, ended);
    }
  }

  private synchronized void answerIfDelivered(long delivered, boolean ended) {
    IncomingRequest request = question;
    if (request != null && Messages.isDelivered(wanted, delivered, ended)) {
      question = null;
      try {
        request.answer(ByteBuffer.allocate(0));
      } catch (RdmaException | IllegalStateException over) {
        request.message().close();
      }
    }
  }

  /** Forgets the question of the peer, because nothing more comes over RDMA. */
  synchronized void end() {
    IncomingRequest request = question;
    if (request != null) {
      question = null;
      refuse(request, "the connection has ended");
    }
  }

  private static void refuse(IncomingRequest request, String why) {
    try {
      request.refuse(why);
    } catch (RdmaException | IllegalStateException over) {
      request.message().close();
    }
  }
}
