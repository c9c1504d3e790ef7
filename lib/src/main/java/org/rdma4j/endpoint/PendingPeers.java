package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Deadline;

/**
 * The peers that connect to a TCP port, and the server's part of the handshake with all of them at
 * once: a peer that is slow or silent does not keep another one waiting. The calling threads do all
 * the work; one of them reads, while others make what a peer gets.
 *
 * <p>Nothing is made for a peer before its address has arrived.
 *
 * @param <T> what this side makes for a peer
 */
final class PendingPeers<T> {
  /** What this side makes for a peer. */
  interface Preparation<T> {
    /**
     * Makes it, so that it can receive what the peer sends.
     *
     * @throws HandshakeException if the address of the peer cannot be used
     */
    T prepare(SocketAddress peer, EndpointAddress remote) throws HandshakeException;

    /** Returns the address to send to the peer. */
    EndpointAddress local(T prepared);

    /** Releases it, if the peer does not complete the handshake. */
    void discard(T prepared);
  }

  /** If there are more, those that have waited longest are discarded. */
  private static final int MAX_SILENT = 512;

  private static final int MAX_ANSWERED = 64;

  /** Linux cuts it down to {@code net.core.somaxconn}, 4096 by default. */
  private static final int BACKLOG = 1024;

  private static final System.Logger LOG = System.getLogger("org.rdma4j");

  private final ServerSocketChannel listening;
  private final Selector selector;
  private final InetSocketAddress address;
  private final Preparation<T> preparation;
  private final Duration limit;
  private final ConcurrentHashMap<SelectionKey, PendingPeer<T>> peers = new ConcurrentHashMap<>();

  /** Held by the thread that reads. */
  private final ReentrantLock reading = new ReentrantLock();

  private PendingPeers(
      ServerSocketChannel listening, Selector selector, Preparation<T> preparation, Duration limit)
      throws IOException {
    this.listening = listening;
    this.selector = selector;
    this.address = (InetSocketAddress) listening.getLocalAddress();
    this.preparation = preparation;
    this.limit = limit;
  }

  /**
   * Listens on a port.
   *
   * @param limit how long a peer may take for each of its messages
   */
  static <T> PendingPeers<T> on(InetSocketAddress local, Preparation<T> preparation, Duration limit)
      throws IOException {
    if (local.isUnresolved()) {
      throw new UnknownHostException(local.getHostString());
    }
    ServerSocketChannel listening = ServerSocketChannel.open();
    Selector selector = null;
    try {
      listening.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      listening.bind(local, BACKLOG);
      listening.configureBlocking(false);
      selector = Selector.open();
      listening.register(selector, SelectionKey.OP_ACCEPT);
      return new PendingPeers<>(listening, selector, preparation, limit);
    } catch (IOException failed) {
      listening.close();
      if (selector != null) {
        selector.close();
      }
      throw new IOException("cannot listen on " + local + " (" + failed.getMessage() + ")", failed);
    }
  }

  InetSocketAddress address() {
    return address;
  }

  /**
   * Waits for a peer that completes the handshake.
   *
   * @param timeout the longest time to wait for peers. The time that this side takes to make
   *     something for them comes in addition
   */
  T accept(Duration timeout) throws IOException, InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    while (true) {
      PendingPeer<T> peer = next(deadline, timeout);
      if (peer.state() == PendingPeer.State.HEARD) {
        Duration left = deadline.remaining();
        answer(peer);
        deadline = Deadline.after(left);
      } else {
        T prepared = accept(peer);
        if (prepared != null) {
          return prepared;
        }
      }
    }
  }

  /** Waits for a peer that has sent its next message. */
  private PendingPeer<T> next(Deadline deadline, Duration timeout)
      throws IOException, InterruptedException {
    if (!reading.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
      throw nobody(timeout);
    }
    try {
      while (true) {
        Optional<PendingPeer<T>> heard = read();
        if (heard.isPresent()) {
          return heard.get();
        }
        endLate();
        if (deadline.isOver()) {
          throw nobody(timeout);
        }
        selector.select(millisToWait(deadline));
        if (Thread.interrupted()) {
          throw new InterruptedException("interrupted while waiting for an endpoint");
        }
      }
    } catch (ClosedSelectorException closed) {
      throw closed(closed);
    } finally {
      reading.unlock();
    }
  }

  /** Reads from the peers that have sent something, until one has completed a message. */
  private Optional<PendingPeer<T>> read() throws IOException {
    selector.selectNow();
    Set<SelectionKey> selected = selector.selectedKeys();
    while (!selected.isEmpty()) {
      // No iterator is kept, since giving up a peer selects again.
      SelectionKey key = selected.iterator().next();
      selected.remove(key);
      if (key.channel() == listening) {
        acceptAll();
      } else if (key.isValid()) {
        PendingPeer<T> peer = peers.get(key);
        if (peer != null && read(peer)) {
          key.interestOps(0);
          return Optional.of(peer);
        }
      }
    }
    return Optional.empty();
  }

  private boolean read(PendingPeer<T> peer) throws IOException {
    try {
      return peer.read();
    } catch (IOException failed) {
      discard(peer);
      throw failed;
    }
  }

  private void acceptAll() throws IOException {
    for (SocketChannel channel = acceptOne(); channel != null; channel = acceptOne()) {
      boolean pending = false;
      try {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        PendingPeer<T> peer = new PendingPeer<>(channel, limit);
        peers.put(channel.register(selector, SelectionKey.OP_READ), peer);
        pending = true;
      } catch (IOException gone) {
        LOG.log(System.Logger.Level.DEBUG, "a peer was gone at once", gone);
      } finally {
        if (!pending) {
          channel.close();
        }
      }
      discardOldest(PendingPeer.State.SILENT, MAX_SILENT);
    }
  }

  /** If the process has too many open files, a silent peer gives up its own. */
  private @Nullable SocketChannel acceptOne() throws IOException {
    while (true) {
      try {
        return listening.accept();
      } catch (ClosedChannelException closed) {
        throw closed(closed);
      } catch (IOException failed) {
        if (!discardOldest(PendingPeer.State.SILENT, 0)) {
          throw failed;
        }
        // Only now the system closes the file.
        selector.selectNow();
      }
    }
  }

  /** Makes what a peer gets, and sends it the address. */
  private void answer(PendingPeer<T> peer) throws HandshakeException {
    boolean answered = false;
    try {
      T prepared = preparation.prepare(peer.address(), peer.remote());
      if (!peer.answer(prepared, preparation.local(prepared))) {
        preparation.discard(prepared);
        throw closed(new ClosedChannelException());
      }
      answered = true;
    } finally {
      if (!answered) {
        discard(peer);
      }
    }
    awaitMessage(peer);
    selector.wakeup();
    discardOldest(PendingPeer.State.ANSWERED, MAX_ANSWERED);
  }

  /** Accepts a peer that can receive. Returns what was made for it; null if it was discarded. */
  private @Nullable T accept(PendingPeer<T> peer) throws HandshakeException {
    try {
      return peer.accept();
    } finally {
      discard(peer);
    }
  }

  private void awaitMessage(PendingPeer<T> peer) {
    try {
      peers.forEach(
          (key, each) -> {
            if (each == peer) {
              key.interestOps(SelectionKey.OP_READ);
            }
          });
    } catch (CancelledKeyException ended) {
      LOG.log(System.Logger.Level.DEBUG, "a peer was given up while it was answered", ended);
    }
  }

  /** Discards the peer that came first of those in a state, if there are more than a number. */
  private boolean discardOldest(PendingPeer.State state, int max) {
    List<PendingPeer<T>> found =
        peers.values().stream().filter(peer -> peer.state() == state).toList();
    if (found.size() <= max) {
      return false;
    }
    PendingPeer<T> oldest =
        Collections.min(found, Comparator.comparingLong(PendingPeer::nanosLeft));
    LOG.log(System.Logger.Level.DEBUG, "too many peers are pending, gave up {0}", oldest.address());
    discard(oldest);
    return true;
  }

  private void endLate() throws HandshakeException {
    for (PendingPeer<T> peer : peers.values()) {
      if (peer.nanosLeft() <= 0) {
        HandshakeException late = peer.late();
        discard(peer);
        throw late;
      }
    }
  }

  /**
   * Ends the TCP connection of a peer, and releases what was made for it, if that is still here.
   */
  private void discard(PendingPeer<T> peer) {
    peers.values().remove(peer);
    T prepared = peer.end();
    if (prepared != null) {
      preparation.discard(prepared);
    }
    // The selector keeps the file open until it selects again, here or in the thread that waits.
    if (!reading.tryLock()) {
      selector.wakeup();
      return;
    }
    try {
      selector.selectNow();
    } catch (ClosedSelectorException closed) {
      LOG.log(System.Logger.Level.DEBUG, "the listener was closed, and its files with it", closed);
    } catch (IOException failed) {
      LOG.log(System.Logger.Level.WARNING, "the selector failed; the next wait reports it", failed);
    } finally {
      reading.unlock();
    }
  }

  private long millisToWait(Deadline deadline) {
    long nanos = deadline.nanos();
    for (PendingPeer<T> peer : peers.values()) {
      nanos = Math.min(nanos, peer.nanosLeft());
    }
    return Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  private SocketTimeoutException nobody(Duration timeout) {
    int pending = peers.size();
    return new SocketTimeoutException(
        "no endpoint connected to %s within %s%s"
            .formatted(
                address,
                timeout,
                pending == 0
                    ? ""
                    : "; %d came and did not complete the handshake so far".formatted(pending)));
  }

  private IllegalStateException closed(Exception cause) {
    return new IllegalStateException("the listener on " + address + " is closed", cause);
  }

  /** Stops listening, ends the waits of other threads, and discards all pending peers. */
  void close() throws IOException {
    selector.close();
    reading.lock();
    try (listening) {
      for (PendingPeer<T> peer : peers.values()) {
        discard(peer);
      }
    } finally {
      reading.unlock();
    }
  }
}
