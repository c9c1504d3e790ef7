package org.rdma4j.connection;

import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.session.Request;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.PostException;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * Posts what the session of a connection wants, in chains, of which only the last request is
 * signaled: its completion is that of all before it.
 *
 * <p>That does not hold over soft-iWARP. There, a send completes when TCP has it, also before an
 * earlier read; and TCP still reads the memory of a request that is not signaled. So over iWARP all
 * requests are signaled, and requests other than reads wait for the reads before them.
 *
 * <p>The lock of the connection guards this. If a post enters the kernel, it is free meanwhile, so
 * that completions can be handled; one thread at a time posts.
 */
final class Posting {
  private final SendRequests requests;
  private final Session session;
  private final ReentrantLock lock;
  private final MemorySlice nothing;
  private final int inlineBytes;
  private final boolean iwarp;
  private final boolean inUserSpace;

  /** Whether a thread posts a chain, without the lock. */
  private boolean posting;

  /**
   * Creates what posts to a queue pair.
   *
   * @param depth the number of requests that the queue pair holds
   * @param nothing memory of length 0
   * @param inlineBytes the longest message, with its header, that the device copies into the
   *     request
   * @param inUserSpace whether a post never enters the kernel, so that the lock is kept meanwhile
   */
  Posting(
      QueuePair queuePair,
      int depth,
      Session session,
      ReentrantLock lock,
      MemorySlice nothing,
      int inlineBytes,
      boolean inUserSpace) {
    this.requests = queuePair.sendRequests(depth);
    this.session = session;
    this.lock = lock;
    this.nothing = nothing;
    this.inlineBytes = inlineBytes;
    this.iwarp = queuePair.domain().device().info().transport() == TransportType.IWARP;
    this.inUserSpace = inUserSpace;
  }

  /**
   * Posts until the session wants to post nothing more. Does nothing while another thread posts,
   * which looks again afterwards. A failure breaks the connection.
   */
  void postAll() {
    if (posting) {
      return;
    }
    while (postChain()) {
      // There may be more now.
    }
  }

  /** Posts a chain; returns whether there was one. */
  private boolean postChain() {
    int chain = 0;
    session.beginChain();
    try {
      Request next = session.nextToPost();
      while (next != null) {
        chain++;
        describe(next);
        next = session.nextToPost();
      }
      if (chain > 0) {
        requests.signaled();
        if (inUserSpace) {
          requests.post();
          requests.release();
        } else {
          postWithoutLock();
        }
      }
    } catch (RuntimeException | Error failed) {
      takeBack(chain, failed);
    }
    return chain > 0;
  }

  private void postWithoutLock() {
    posting = true;
    lock.unlock();
    try {
      requests.post();
      requests.release();
    } finally {
      lock.lock();
      posting = false;
    }
  }

  private void takeBack(int chain, Throwable failed) {
    dropChain();
    int accepted = 0;
    if (failed instanceof PostException inC) {
      accepted = inC.index() == PostException.UNKNOWN ? chain : inC.index();
    }
    RuntimeException reason =
        failed instanceof RuntimeException unchecked
            ? unchecked
            : new IllegalStateException(failed);
    session.notAccepted(chain - accepted, reason);
    session.lost("requests could not be posted: " + failed.getMessage(), failed);
  }

  private void dropChain() {
    try {
      requests.clear();
      requests.release();
    } catch (IllegalStateException closed) {
      // The node was closed meanwhile, and the queue pair with it, which posts nothing any more.
    }
  }

  private void describe(Request request) {
    requests.add(request.postNumber());
    switch (request.operation()) {
      case SEND -> describeSend(request.buffer());
      case READ -> into(local(request), requests.read(address(request), request.remoteKey()));
      case WRITE -> requests.write(address(request), request.remoteKey()).from(local(request));
      case COMPARE_AND_SWAP ->
          into(
              local(request),
              requests.compareAndSwap(
                  address(request), request.remoteKey(), request.first(), request.second()));
      case FETCH_AND_ADD ->
          into(
              local(request),
              requests.fetchAndAdd(address(request), request.remoteKey(), request.first()));
      case FETCH -> describeFetch(request);
      case PING -> requests.write(address(request), request.remoteKey()).from(nothing);
      case BIND -> bound(request).bind(requests);
      case INVALIDATE -> bound(request).invalidate(requests);
    }
    if (iwarp) {
      requests.signaled();
      if (!isRead(request)) {
        requests.fenced();
      }
    }
  }

  private static long address(Request request) {
    return request.remoteAddress();
  }

  private static MemorySlice local(Request request) {
    return (MemorySlice) request.local();
  }

  private static Exposures.Bound bound(Request request) {
    return (Exposures.Bound) request.exposure();
  }

  private static boolean isRead(Request request) {
    return request.operation() == Request.Operation.READ
        || request.operation() == Request.Operation.FETCH;
  }

  private static void into(MemorySlice target, SendRequests described) {
    described.into(target.region(), target.offset(), target.length());
  }

  private void describeFetch(Request request) {
    Buffer target = request.target();
    requests
        .read(address(request), request.remoteKey())
        .into(BufferRegion.of(target), target.start() + request.targetOffset(), request.bytes());
  }

  private void describeSend(Buffer buffer) {
    long header = buffer.payload() - MessageHeader.BYTES;
    long length = MessageHeader.BYTES + buffer.length();
    requests.send();
    if (length <= inlineBytes) {
      requests.inline(BufferRegion.of(buffer), header, length);
    } else {
      requests.from(BufferRegion.of(buffer), header, length);
    }
  }
}
