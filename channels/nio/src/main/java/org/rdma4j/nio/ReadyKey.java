package org.rdma4j.nio;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A channel in a {@link ReadySelector}. */
final class ReadyKey extends AbstractSelectionKey {
  private static final int NOT_SELECTED = -1;

  private final SelectableChannel channel;
  private final ReadySelector selector;
  private volatile int interest;
  private volatile int ready;

  /** The key of the JDK's channel in the JDK's selector; null if the channel was just closed. */
  private volatile @Nullable SelectionKey tcp;

  /** Whether it waits in the selector for a look, because something may have changed. */
  private final AtomicBoolean queued = new AtomicBoolean();

  /** Whether it was ready over RDMA. Used with the lock of the selector. */
  private boolean candidate;

  /** Whether the selector counts it among upgraded ones, and never will again. */
  private boolean overRdma;

  /** Whether the selector counts it among those for which it looks at TCP. */
  private boolean overTcp;

  private boolean removed;

  /** The place among the keys that are selected. Used only with the lock of these. */
  private int place = NOT_SELECTED;

  /** The selection in which this key was counted last. Used only with the lock of the selector. */
  private long counted;

  ReadyKey(SelectableChannel channel, ReadySelector selector, int interest) {
    this.channel = channel;
    this.selector = selector;
    this.interest = interest;
  }

  void registered(SelectionKey key) {
    tcp = key;
    if (!isValid()) {
      key.cancel();
    }
  }

  /**
   * Also cancels the key of the JDK's channel, if this one is cancelled. {@link #cancel} is final,
   * but {@link java.nio.channels.spi.AbstractSelector} adds the cancelled key to a hash set. A
   * channel of the JDK can be blocking again only if none of its keys is valid.
   */
  @Override
  public int hashCode() {
    if (!isValid()) {
      cancelTcp();
    }
    return System.identityHashCode(this);
  }

  /** Takes the channel out of the JDK's selector, at its next selection. */
  private void cancelTcp() {
    SelectionKey known = tcp;
    if (known != null) {
      known.cancel();
    }
  }

  /** Returns the part of the operations for which TCP decides whether the channel is ready. */
  int tcpOperations(int operations) {
    return channel instanceof OverTcp ours ? operations & ours.tcpOperations() : operations;
  }

  /** Returns what the channel is ready for over RDMA; nothing if the key is cancelled. */
  int readyOperations() {
    return isValid() && channel instanceof OverTcp ours ? ours.readyOperations() & interest : 0;
  }

  /** The channel may have become ready for some operations, apart from TCP. */
  void changed(int operations) {
    if ((interest & operations) != 0) {
      selector.changed(this);
    }
  }

  /** Records that it waits for a look, and returns whether it did not before. */
  boolean queue() {
    return !queued.getAndSet(true);
  }

  /** The channel has another way for some operations. */
  void moved() {
    countOverRdma();
    try {
      watchTcp();
      changed(interest);
    } catch (CancelledKeyException closed) {
      // Then this key is or will be cancelled, too.
    }
  }

  private synchronized void countOverRdma() {
    if (!overRdma && !removed && channel instanceof OverTcp ours && ours.isOverRdma()) {
      overRdma = true;
      selector.goneOver(1);
    }
  }

  /** The selector has removed this key. */
  synchronized void removed() {
    if (overRdma && !removed) {
      selector.goneOver(-1);
    }
    removed = true;
    countOverTcp(0);
  }

  /**
   * Lets the JDK's selector look for what comes over TCP. One thread at a time, because otherwise a
   * thread that has read the operations before another one changed them could be the last to write.
   */
  private synchronized void watchTcp() {
    SelectionKey known = tcp;
    if (known != null) {
      int operations = tcpOperations(interest);
      known.interestOps(operations);
      countOverTcp(removed ? 0 : operations);
    }
  }

  private void countOverTcp(int operations) {
    if (overTcp != (operations != 0)) {
      overTcp = !overTcp;
      selector.watchesTcp(overTcp ? 1 : -1);
    }
  }

  /** The selector looks at it now. Later changes are new ones. */
  void looking() {
    queued.set(false);
  }

  boolean isCandidate() {
    return candidate;
  }

  void candidate(boolean ready) {
    candidate = ready;
  }

  boolean isSelected() {
    return place != NOT_SELECTED;
  }

  int place() {
    return place;
  }

  void select(int atPlace) {
    place = atPlace;
  }

  void deselect() {
    place = NOT_SELECTED;
  }

  /**
   * Notes what the channel is ready for, as {@link Selector} prescribes for a key that is selected
   * already, or for a key that is not.
   *
   * @return whether the key is newly ready, and this selection must count it
   */
  boolean update(int operations, long selection) {
    int now = operations & interest;
    if (now == 0 || (isSelected() && (ready | now) == ready)) {
      return false;
    }
    ready = isSelected() ? ready | now : now;
    boolean first = counted != selection;
    counted = selection;
    return first;
  }

  @Override
  public SelectableChannel channel() {
    return channel;
  }

  @Override
  public Selector selector() {
    return selector;
  }

  private void checkValid() {
    if (!isValid()) {
      throw new CancelledKeyException();
    }
  }

  @Override
  public int interestOps() {
    checkValid();
    return interest;
  }

  @Override
  public SelectionKey interestOps(int operations) {
    checkValid();
    if ((operations & ~channel.validOps()) != 0) {
      throw new IllegalArgumentException(
          "the operations "
              + operations
              + " contain an operation that the channel does not have: it has "
              + channel.validOps());
    }
    interest = operations;
    watchTcp();
    changed(operations & ~tcpOperations(operations));
    return this;
  }

  @Override
  public int readyOps() {
    checkValid();
    return ready;
  }
}
