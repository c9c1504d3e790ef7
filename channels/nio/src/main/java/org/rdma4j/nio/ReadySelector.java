package org.rdma4j.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Selects channels of this package and of the JDK. A selector of the JDK finds what is ready over
 * TCP, and waits. Channels that become ready over RDMA put their keys into a queue. So a selection
 * costs what the ready channels cost, however many there are.
 */
final class ReadySelector extends AbstractSelector {
  /** Lets a thread that selects find by itself what comes over RDMA. */
  interface Polling {
    /** Polls until something is done, as long as that pays, and then sleeps. */
    void pollUntil(BooleanSupplier done, Runnable sleep);
  }

  /** How long a thread that polls leaves TCP alone, at least. */
  private static final long LEAST_TCP_PAUSE = 20_000;

  /** How long it does at most: a look may take long only because the thread lost its processor. */
  private static final long LONGEST_TCP_PAUSE = 200_000;

  /** So that a thread that polls looks at TCP for a sixteenth of the time. */
  private static final int TCP_PAUSES = 16;

  private final Polling polling;
  private final Selector tcp;
  private final Consumer<SelectionKey> found = this::found;
  private final BooleanSupplier done = this::isDone;
  private final Runnable sleep = this::sleep;
  private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
  private final Set<SelectionKey> publicKeys = Collections.unmodifiableSet(keys);
  private final SelectedKeys selected = new SelectedKeys(this);

  /** The keys whose channels may have become ready over RDMA. */
  private final ConcurrentLinkedQueue<ReadyKey> changed = new ConcurrentLinkedQueue<>();

  /** Keys that were ready when they were processed last, and may still be. */
  private final ArrayList<ReadyKey> candidates = new ArrayList<>();

  private volatile boolean woken;

  /** Whether a change must wake the thread that selects. */
  private volatile boolean asleep;

  /**
   * The thread that selects, while it polls; null at other times. Without the lock of the selector,
   * a thread looks for itself.
   */
  private @Nullable Thread poller;

  /** The number of keys whose channels were upgraded to RDMA. */
  private final AtomicInteger overRdma = new AtomicInteger();

  /** The number of keys whose channels may become ready over TCP. */
  private final AtomicInteger overTcp = new AtomicInteger();

  /** When this selection must end, on the scale of {@link System#nanoTime}, if it must. */
  private long end;

  private boolean endless;

  /** When TCP was looked at last, on the same scale. */
  private long lookedAtTcp = System.nanoTime();

  /** How long a thread that polls leaves TCP alone, in nanoseconds. */
  private long tcpPause = LEAST_TCP_PAUSE;

  /** The number of this selection. */
  private long selection;

  /** The number of keys that this selection has added or changed. */
  private int count;

  /** Whether this selection has found a key that is ready, also if nothing has changed. */
  private boolean anyReady;

  ReadySelector(SelectorProvider provider, Selector tcp, Polling polling) {
    super(provider);
    this.polling = polling;
    this.tcp = tcp;
  }

  private void checkOpen() {
    if (!isOpen()) {
      throw new ClosedSelectorException();
    }
  }

  @Override
  public Set<SelectionKey> keys() {
    checkOpen();
    return publicKeys;
  }

  @Override
  public Set<SelectionKey> selectedKeys() {
    checkOpen();
    return selected;
  }

  // ---- Registration

  /** Registers a channel. This does not wait for a selection that another thread makes. */
  @Override
  protected SelectionKey register(
      AbstractSelectableChannel channel, int operations, @Nullable Object attachment) {
    checkOpen();
    ReadyKey key = new ReadyKey(channel, this, operations);
    key.attach(attachment);
    SelectableChannel below = channel;
    if (channel instanceof OverTcp ours) {
      below = ours.tcp();
      ours.watchers().add(key);
    }
    keys.add(key);
    try {
      key.registered(below.register(tcp, key.tcpOperations(operations), key));
      // What has changed since the channel was asked is looked at now.
      key.moved();
    } catch (ClosedChannelException closed) {
      // The close that has begun cancels this key, too.
      key.cancel();
    } catch (RuntimeException refused) {
      keys.remove(key);
      unwatch(key);
      throw refused;
    }
    if (!isOpen()) {
      keys.remove(key);
      key.cancel();
      throw new ClosedSelectorException();
    }
    return key;
  }

  private static void unwatch(ReadyKey key) {
    if (key.channel() instanceof OverTcp ours) {
      ours.watchers().remove(key);
    }
  }

  /** Removes what was cancelled, so that its channel can be registered again. */
  private void removeCancelled() throws IOException {
    Set<SelectionKey> cancelled = cancelledKeys();
    List<SelectionKey> removed;
    synchronized (cancelled) {
      if (cancelled.isEmpty()) {
        return;
      }
      removed = List.copyOf(cancelled);
      cancelled.clear();
    }
    // Without that lock: a thread that has the locks of a channel may be cancelling a key. A
    // channel
    // of the JDK that is closed gives its descriptor back when its last key is removed, which must
    // be the one of the JDK's selector.
    for (SelectionKey each : removed) {
      if (!(each.channel() instanceof OverTcp)) {
        remove((ReadyKey) each);
      }
    }
    // What is ready is found again by the next selection.
    tcp.selectNow(ready -> {});
    for (SelectionKey each : removed) {
      if (each.channel() instanceof OverTcp) {
        remove((ReadyKey) each);
      }
    }
  }

  private void remove(ReadyKey key) {
    keys.remove(key);
    selected.remove(key);
    candidates.remove(key);
    unwatch(key);
    key.removed();
    deregister(key);
  }

  // ---- Selection

  @Override
  public int selectNow() throws IOException {
    return select(false, 0);
  }

  @Override
  public int select(long timeout) throws IOException {
    checkTimeout(timeout);
    return select(true, timeout);
  }

  private static void checkTimeout(long timeout) {
    if (timeout < 0) {
      throw new IllegalArgumentException(
          "the timeout is " + timeout + " ms, must not be negative: 0 waits without a limit");
    }
  }

  @Override
  public int select() throws IOException {
    return select(true, 0);
  }

  @Override
  public int selectNow(Consumer<SelectionKey> action) throws IOException {
    return select(action, false, 0);
  }

  @Override
  public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
    checkTimeout(timeout);
    return select(action, true, timeout);
  }

  @Override
  public int select(Consumer<SelectionKey> action) throws IOException {
    return select(action, true, 0);
  }

  /** Does what the method of Selector does, which copies the keys into two new sets. */
  private int select(Consumer<SelectionKey> action, boolean wait, long timeout) throws IOException {
    Objects.requireNonNull(action, "action");
    synchronized (this) {
      checkOpen();
      synchronized (selected) {
        selected.clear();
        int changes = select(wait, timeout);
        try {
          while (!selected.isEmpty()) {
            action.accept(selected.take());
            checkOpen();
          }
        } finally {
          selected.clear();
        }
        return changes;
      }
    }
  }

  /**
   * Selects.
   *
   * @param wait whether to wait until something is ready
   * @param timeout how long, in milliseconds; 0 waits without a limit
   */
  private int select(boolean wait, long timeout) throws IOException {
    synchronized (this) {
      checkOpen();
      synchronized (selected) {
        selection++;
        count = 0;
        anyReady = false;
        removeCancelled();
        try {
          if (wait) {
            awaitReady(timeout);
          } else {
            look();
            lookAtTcp();
          }
        } catch (UncheckedIOException failed) {
          throw failed.getCause();
        }
        woken = false;
        if (!isOpen()) {
          return 0;
        }
        removeCancelled();
        return count;
      }
    }
  }

  private void awaitReady(long timeout) {
    endless = timeout == 0;
    if (!endless) {
      long nanos = TimeUnit.MILLISECONDS.toNanos(timeout);
      end = System.nanoTime() + Math.min(nanos, Long.MAX_VALUE / 2);
    }
    while (true) {
      look();
      pollOrSleep();
      if (!anyReady) {
        look();
      }
      if (anyReady || woken || !isOpen() || Thread.currentThread().isInterrupted() || isLate()) {
        return;
      }
    }
  }

  private boolean isLate() {
    return !endless && System.nanoTime() - end >= 0;
  }

  /**
   * Waits for TCP, or for a change. If channels were upgraded, the thread polls for them as long as
   * that pays, instead of being woken.
   */
  private void pollOrSleep() {
    if (anyReady) {
      lookAtTcp();
    } else if (overRdma.get() == 0) {
      sleep();
    } else {
      poller = Thread.currentThread();
      try {
        polling.pollUntil(done, sleep);
      } finally {
        poller = null;
      }
      if (overTcp.get() > 0 && isTcpDue()) {
        lookAtTcp();
      }
    }
  }

  /** Returns whether the thread must not poll any longer. Looks at TCP now and then. */
  private boolean isDone() {
    if (anyReady || !changed.isEmpty() || woken || !isOpen()) {
      return true;
    }
    if (isTcpDue()) {
      lookAtTcp();
      return anyReady || isLate() || Thread.currentThread().isInterrupted();
    }
    return false;
  }

  private boolean isTcpDue() {
    return System.nanoTime() - lookedAtTcp > tcpPause;
  }

  /** Looks for bytes received over TCP, unless no key asks for that. */
  private void lookAtTcp() {
    long before = System.nanoTime();
    if (overTcp.get() == 0) {
      lookedAtTcp = before;
      return;
    }
    try {
      tcp.selectNow(found);
      lookedAtTcp = System.nanoTime();
      tcpPause =
          Math.clamp(TCP_PAUSES * (lookedAtTcp - before), LEAST_TCP_PAUSE, LONGEST_TCP_PAUSE);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void sleep() {
    long millis = 0;
    if (!endless) {
      // Rounded up, because 0 would be without a limit.
      millis = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime() + 999_999);
    }
    asleep = true;
    try {
      if (woken || !isOpen() || !changed.isEmpty() || (!endless && millis <= 0)) {
        lookAtTcp();
      } else {
        tcp.select(found, millis);
        lookedAtTcp = System.nanoTime();
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } finally {
      asleep = false;
    }
  }

  /** The channel of one more key was upgraded, or of one less. Called by any thread. */
  void goneOver(int keys) {
    overRdma.addAndGet(keys);
  }

  /** TCP matters for one more key, or for one less. Called by any thread. */
  void watchesTcp(int keys) {
    overTcp.addAndGet(keys);
  }

  /** Something may have changed for a key. Called by any thread. */
  void changed(ReadyKey key) {
    if (poller == Thread.currentThread()) {
      look(key);
    } else if (key.queue()) {
      changed.add(key);
      if (asleep) {
        tcp.wakeup();
      }
    }
  }

  /** Looks which channels are ready over RDMA. */
  private void look() {
    int kept = 0;
    for (int i = 0; i < candidates.size(); i++) {
      ReadyKey key = candidates.get(i);
      int operations = key.readyOperations();
      if (operations != 0) {
        candidates.set(kept++, key);
        ready(key, operations);
      } else {
        key.candidate(false);
      }
    }
    while (candidates.size() > kept) {
      candidates.removeLast();
    }
    ReadyKey news = changed.poll();
    while (news != null) {
      news.looking();
      look(news);
      news = changed.poll();
    }
  }

  /** Looks whether a channel that may have become ready is. */
  private void look(ReadyKey key) {
    int operations = key.readyOperations();
    if (operations != 0) {
      if (!key.isCandidate()) {
        key.candidate(true);
        candidates.add(key);
      }
      ready(key, operations);
    }
  }

  /** Notes what the JDK's selector has found. */
  private void found(SelectionKey tcpKey) {
    try {
      if (tcpKey.attachment() instanceof ReadyKey key && key.isValid()) {
        int operations = key.tcpOperations(tcpKey.readyOps());
        if (operations != 0) {
          ready(key, operations);
        }
      }
    } catch (CancelledKeyException closed) {
      // Another thread has closed the channel meanwhile.
    }
  }

  private void ready(ReadyKey key, int operations) {
    anyReady = true;
    if (key.update(operations, selection)) {
      count++;
      if (!key.isSelected()) {
        selected.select(key);
      }
    }
  }

  @Override
  public Selector wakeup() {
    woken = true;
    if (asleep) {
      tcp.wakeup();
    }
    return this;
  }

  @Override
  protected void implCloseSelector() throws IOException {
    wakeup();
    synchronized (this) {
      synchronized (selected) {
        for (SelectionKey each : keys) {
          each.cancel();
          remove((ReadyKey) each);
        }
        // Cancels the keys of the JDK's channels, too.
        tcp.close();
      }
    }
  }
}
