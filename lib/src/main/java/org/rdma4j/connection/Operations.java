package org.rdma4j.connection;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.session.Exposure;
import org.rdma4j.connection.session.Request;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemorySlice;

/**
 * What users of one connection do with the memory of the peer, and what they let the peer do with
 * theirs. Checks each operation, and adds it to the session.
 *
 * <p>All methods may be called from any thread, without the lock of the connection.
 */
final class Operations {
  private final Link link;
  private final DeviceShare share;
  private final Session session;
  private final Awaited room;

  Operations(Link link, Session session) {
    this.link = link;
    this.share = link.share();
    this.session = session;
    this.room = link.waits().until(() -> session.hasRoom() || session.lifecycle().isUseless());
  }

  /** Wakes a thread for which there is room, which wakes the next. */
  void wakeNext() {
    room.wakeNext();
  }

  /** Wakes all threads that wait to begin an operation. */
  void wakeAll() {
    room.wakeAll();
  }

  private void awaitRoom(long end, Duration timeout) throws InterruptedException, TimeoutException {
    session.lifecycle().checkCanSend();
    if (!link.waits().await(room, end)) {
      throw link.waits().timedOut("none of the outstanding requests completed", timeout);
    }
    session.lifecycle().checkCanSend();
  }

  /**
   * Exposes memory of the user with this access, and waits until that has begun, unless the calling
   * thread must not wait. What this connection sends later arrives after that in any case.
   */
  Exposure expose(MemorySlice memory, Set<AccessFlag> access) {
    Exposure exposure = share.exposures().forUser(memory, access, link.queuePair());
    if (exposure.isBound()) {
      boolean begun = false;
      link.lock();
      try {
        session.lifecycle().checkCanSend();
        Request bind = session.newRequest();
        Awaited done = link.waits().until(() -> bind.isDone() || session.lifecycle().isClosing());
        bind.awaitedBy(done);
        session.addBind(bind, exposure);
        begun = true;
        link.flush();
        awaitBind(bind, done);
      } finally {
        link.unlock();
        if (!begun) {
          exposure.end();
        }
      }
    }
    return exposure;
  }

  private void awaitBind(Request bind, Awaited done) {
    try {
      if (!link.isHandler()) {
        link.waits().await(done, Deadline.after(share.config().closeTimeout()).end());
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!bind.isDone()) {
      // It is recycled when it is done.
      bind.awaitedBy(null);
      return;
    }
    RuntimeException failed = bind.failure();
    session.recycle(bind);
    if (failed != null) {
      throw failed;
    }
  }

  void checkLocal(MemorySlice local, AccessFlag needed, String purpose) {
    checkDomain(local);
    if (!local.region().access().contains(needed)) {
      throw new IllegalArgumentException(
          "%s has the access %s, must have %s %s"
              .formatted(local.region(), local.region().access(), needed, purpose));
    }
  }

  void checkDomain(MemorySlice local) {
    if (!local.region().domain().equals(share.domain())) {
      throw new IllegalArgumentException(
          local.region()
              + " belongs to another domain than the connection: register it with"
              + " RdmaConnection.register or RdmaNode.register");
    }
    local.region().checkOpen();
  }

  /** Returns a request to be filled for {@link #operate} or {@link #operateAndWait}. */
  Request newRequest() {
    link.lock();
    try {
      return session.newRequest();
    } finally {
      link.unlock();
    }
  }

  /** Returns a message that notifies the peer of a write, which goes before it. */
  Request newNotice(Request write, long value) {
    Request notice = newRequest();
    notice.notice(value, write);
    return notice;
  }

  /** Adds an operation, of whose end a handler or a future is notified. */
  void operate(Request filled) {
    link.lock();
    try {
      if (filled.takesCredit()) {
        session.lifecycle().checkOutputOpen();
      } else {
        session.lifecycle().checkCanSend();
      }
      addOperation(filled);
      link.flushAndLeave();
    } finally {
      link.unlock();
    }
  }

  private void addOperation(Request operation) {
    if (operation.takesCredit()) {
      Buffer empty = share.buffers().take();
      empty.become(MessageKind.NOTICE, 0, 0);
      boolean added = false;
      try {
        operation.isAnswer(link.isHandler());
        session.add(operation.takeWrite(empty));
        added = true;
      } finally {
        if (!added) {
          empty.free();
        }
      }
    }
    session.add(operation);
  }

  /**
   * Adds an operation and waits until it is done. If the time is over before that, the operation
   * goes on.
   */
  void operateAndWait(Request request, Duration timeout)
      throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    link.lock();
    try {
      link.waits().checkAllowed();
      if (request.takesCredit()) {
        link.sends().awaitRoomForMessage(end, timeout);
      } else {
        awaitRoom(end, timeout);
      }
      Awaited done = link.waits().until(() -> request.isDone() || session.lifecycle().isClosing());
      request.awaitedBy(done);
      addOperation(request);
      link.flush();
      try {
        link.waits().await(done, end);
      } finally {
        if (!request.isDone()) {
          // It is recycled when it is done.
          request.awaitedBy(null);
        }
      }
      if (!request.isDone()) {
        session.lifecycle().checkOpen();
        throw link.waits().timedOut("the operation did not complete", timeout);
      }
      RuntimeException failed = request.failure();
      session.recycle(request);
      if (failed != null) {
        throw failed;
      }
    } finally {
      link.sends().wakeNext();
      wakeNext();
      link.unlock();
    }
  }
}
