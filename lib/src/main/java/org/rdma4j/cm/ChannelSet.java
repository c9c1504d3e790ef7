package org.rdma4j.cm;

import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.Waits;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.platform.WaitSet;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * Completion channels and event channels for which a thread waits together, and which other threads
 * can wake: {@code epoll} and {@code eventfd}. In C, a program calls poll with the descriptors of
 * its channels. So one thread can wait for the completions and for the end of a connection:
 *
 * <pre>{@code
 * ChannelSet channels = ChannelSet.open();
 * channels.add(completionChannel);
 * channels.add(eventChannel);
 * while (running) {
 *   int polled = completions.pollBeforeWait();
 *   if (polled == 0 && channels.awaitReady(timeout)) {
 *     eventChannel.pollEvent().ifPresent(this::handle);
 *     polled = completions.poll();
 *   }
 *   // ... handle the completions
 * }
 * }</pre>
 *
 * <p>A wait takes no event. An event that no thread takes from its channel ends each further wait
 * immediately.
 *
 * <p>All methods may be called from any thread. If several threads wait, an event ends the wait of
 * at least one of them. A channel that is closed leaves the set, which ends no wait. Closing the
 * set closes no channel.
 *
 * @see org.rdma4j.verbs.Completions#pollBeforeWait
 * @see CompletionChannel
 * @see EventChannel
 */
public final class ChannelSet implements AutoCloseable {
  private final WaitSet descriptors;
  private final Waits waits;
  private final Lifetime lifetime;

  /**
   * Whether {@link #wakeup} was called, so that a wait makes one more system call only then. This
   * guards its changes.
   */
  private volatile boolean woken;

  private ChannelSet() {
    WaitSet created = new WaitSet();
    Waits waiting = new Waits();
    descriptors = created;
    waits = waiting;
    lifetime =
        new Lifetime(
            "channel set",
            () -> {
              waiting.wake();
              created.wake();
            },
            created::close);
    Leaks.watch(this, lifetime);
  }

  /**
   * Creates an empty set: {@code epoll_create1}, {@code eventfd}.
   *
   * @return the set
   * @throws RdmaException if it cannot be created: EMFILE if this process has too many files open
   */
  public static ChannelSet open() {
    NativeLibraries.requireNativeAccess();
    return new ChannelSet();
  }

  /**
   * Adds a completion channel, also for threads that wait already: {@code epoll_ctl}. Does nothing
   * if it is in the set.
   *
   * @param channel the channel
   * @throws IllegalStateException if the channel or this is closed
   * @throws RdmaException if it cannot be added
   */
  public void add(CompletionChannel channel) {
    add(VerbsAccess.get().lifetime(channel), channel::fileDescriptor);
  }

  /**
   * Adds an event channel, also for threads that wait already: {@code epoll_ctl}. Does nothing if
   * it is in the set.
   *
   * @param channel the channel
   * @throws IllegalStateException if the channel or this is closed
   * @throws RdmaException if it cannot be added
   */
  public void add(EventChannel channel) {
    add(channel.lifetime(), channel::fileDescriptor);
  }

  /** Keeps both open, because another file may get the number of a closed descriptor. */
  private void add(Lifetime channel, IntSupplier descriptor) {
    Lifetime.whileAllOpen(
        List.of(lifetime, channel),
        () -> {
          descriptors.add(descriptor.getAsInt());
          return true;
        });
  }

  /**
   * Waits until a channel has an event, or {@link #wakeup} is called. It takes no event. A virtual
   * thread does not block its carrier while it waits.
   *
   * @param timeout the maximum time to wait; zero does not wait
   * @return true if a channel has an event, which another thread may take first, or this was woken
   *     up; false if time is up
   * @throws InterruptedException if the thread is interrupted before or while it waits, which it
   *     notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if this is closed, also while waiting
   * @throws RdmaException if the wait fails
   */
  public boolean awaitReady(Duration timeout) throws InterruptedException {
    boolean ready = waits.awaitReady(timeout, descriptors.descriptor(), lifetime);
    if (!lifetime.isOpen()) {
      // Its close may be what made it ready.
      throw lifetime.closed();
    }
    if (ready && woken) {
      forgetWakeup();
    }
    return ready;
  }

  private synchronized void forgetWakeup() {
    woken = false;
    descriptors.reset();
  }

  /**
   * Makes {@link #awaitReady} return true immediately: in a thread that waits, or if none does, in
   * the next one.
   *
   * @throws IllegalStateException if this is closed
   */
  public void wakeup() {
    lifetime.run(this::wake);
  }

  /** Both under the lock, so that a wait which this ends forgets both. */
  private synchronized void wake() {
    woken = true;
    descriptors.wake();
  }

  /**
   * Ends the waits, with an IllegalStateException, and forgets the channels. Does nothing if it is
   * closed.
   */
  @Override
  public void close() {
    lifetime.close();
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
