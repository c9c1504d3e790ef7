package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;

/**
 * One end of a simulated connection: joins a session with a {@link Device} and a {@link User}. It
 * calls the session as a link does, and posts, wakes and disconnects at the same moments.
 */
final class End implements ReceiveWindow {
  /** Few bytes, so that a user has often too much in flight. */
  private static final long LOW = 100;

  private static final long HIGH = 1000;

  final String name;
  final Host host;
  final Session session;
  final Device device;
  final User user;
  final CallOrder order;
  final Limits limits;
  final PromisedReceives promises;
  private @Nullable End peer;

  /** The offers whose exposures another thread is to end. */
  private final Deque<Request> revocable = new ArrayDeque<>();

  private @Nullable MemoryNeed memoryNeed;
  private boolean awaitsReceives;
  private boolean receivesThere;
  private boolean bufferFreed;
  private boolean disconnected;
  private boolean stopping;
  private boolean destroyed;

  End(String name, Host host, Limits limits) {
    this.name = name;
    this.host = host;
    this.limits = limits;
    this.promises = new PromisedReceives(host.supply);
    assertThat(promises.add(Credits.FIRST_WINDOW + Session.CONTROL_RECEIVES))
        .as("receives of a new connection")
        .isTrue();
    this.session =
        new Session(
            name,
            new SessionLimits(limits.receives(), limits.sends(), Limits.MAX_MESSAGE, host.features),
            host.pool,
            host.largeBuffers,
            promises,
            this,
            UserRegion.asked(),
            () -> new IllegalStateException(name + " is closed"));
    this.order = new CallOrder(name);
    this.device = new Device(name, host, order);
    this.user = new User(this, order);
  }

  /** Returns the hello of this end. */
  Hello hello(boolean sendsFirst) {
    return new Hello(
        host.pool.bufferBytes(),
        sendsFirst ? 0 : Credits.FIRST_WINDOW,
        limits.receives(),
        Limits.MAX_MESSAGE,
        host.features);
  }

  void connect(End to, Hello hello, boolean grantsFirst) {
    peer = to;
    device.connect(to.device);
    session.connected(hello);
    session.wantRequests();
    session.wantWritability();
    session.watermarks(LOW, HIGH);
    if (grantsFirst) {
      session.grantFirstCredits();
    }
    flush();
  }

  End peer() {
    if (peer == null) {
      throw new AssertionError("not connected");
    }
    return peer;
  }

  // What the link does.

  void settle() {
    MemoryNeed need = session.takeMemoryNeed();
    if (need != null && need.buffer() != null) {
      memoryNeed = need;
    } else if (need != null) {
      host.largeBuffers.grant(session.arrivals(), need.total(), () -> memoryNeed = need);
    }
    if (session.lifecycle().takeChanged()) {
      post();
      user.wakeAll();
    }
    Request exposed = session.takeRevocable();
    while (exposed != null) {
      revocable.addLast(exposed);
      exposed = session.takeRevocable();
    }
    if (session.takeBufferLack()) {
      host.pool.whenFreed(() -> bufferFreed = true);
    }
  }

  private void post() {
    while (postChain()) {
      // There may be more now.
    }
  }

  private boolean postChain() {
    List<Request> chain = new ArrayList<>();
    session.beginChain();
    try {
      Request next = session.nextToPost();
      while (next != null) {
        chain.add(next);
        next = session.nextToPost();
      }
      device.post(chain);
    } catch (RdmaException noMemory) {
      session.notAccepted(chain.size(), noMemory);
      session.lost("requests could not be posted", noMemory);
    }
    return !chain.isEmpty();
  }

  void flush() {
    post();
    if (!awaitsReceives && lacksReceives()) {
      awaitsReceives = true;
      host.supply.whenPossible(() -> receivesThere = true);
    }
    user.wakeNext();
    settle();
  }

  private boolean lacksReceives() {
    try {
      return session.lacksReceives();
    } catch (RdmaException refused) {
      session.breakUp("receives could not be posted", refused);
      return false;
    }
  }

  /** Posts what a user has added, unless a completion will do that soon. */
  void submitted() {
    if (!session.shouldCollect()) {
      flush();
    }
    settle();
  }

  @Override
  public void left(Buffer buffer) {
    session.left(buffer);
    if (session.lifecycle().goesOn() && (session.isCreditDue() || session.outstanding() > 0)) {
      flush();
    }
    settle();
  }

  // What happens, one step at a time. Each returns whether there was anything to do.

  /** Delivers the message that has arrived first. */
  boolean deliver() {
    Device.Arrival next = device.pollArrival();
    if (next == null) {
      return false;
    }
    if (destroyed) {
      host.supply.lost();
      next.buffer().free();
      return true;
    }
    try {
      session.received(next.buffer(), true, true, next.bytes());
    } catch (RdmaException noMemory) {
      session.breakUp("what has arrived could not be handled", noMemory);
    }
    settle();
    flush();
    return true;
  }

  /** Delivers the completion of the request that was done first. */
  boolean complete() {
    return complete(device.pollCompletion());
  }

  /** Delivers one completion for all requests that are done. */
  boolean completeChain() {
    return complete(device.pollLastOfChain());
  }

  private boolean complete(Device.@Nullable Done next) {
    if (next == null) {
      return false;
    }
    switch (next.outcome()) {
      case DONE -> session.completed(next.number());
      case REFUSED -> failed(next.number(), Reason.BROKEN_HERE, "refused");
      case UNREACHABLE -> failed(next.number(), Reason.UNREACHABLE, "no answer");
      case FLUSHED -> failed(next.number(), Reason.RESET, "flushed");
    }
    settle();
    flush();
    return true;
  }

  private void failed(long number, Reason reason, String text) {
    session.failed(number, reason, new IllegalStateException(text));
  }

  /** Gets the memory that the session needs. */
  boolean supply() {
    MemoryNeed need = memoryNeed;
    if (need == null) {
      return false;
    }
    memoryNeed = null;
    try {
      supply(need);
    } catch (RuntimeException none) {
      session.breakUp("there is no memory", none);
      settle();
      return true;
    }
    flush();
    return true;
  }

  private void supply(MemoryNeed need) {
    if (need.buffer() != null) {
      host.largeBuffers.register(need.buffer(), need.first());
      session.registered();
      return;
    }
    Buffer memory = host.largeBuffers.takeGranted(session.arrivals(), need.total(), need.first());
    if (!session.supplied(memory)) {
      memory.free();
    }
  }

  /** Ends the exposure of an offer that no request ends. */
  boolean endExposure() {
    Request offer = revocable.pollFirst();
    if (offer == null) {
      return false;
    }
    offer.exposure().end();
    session.revoked(offer);
    settle();
    return true;
  }

  /** Does what was put off until there are receives. */
  boolean flushAgain() {
    if (!receivesThere) {
      return false;
    }
    receivesThere = false;
    awaitsReceives = false;
    flush();
    return true;
  }

  /** Goes on with a message that waited for a buffer. */
  boolean goOnWithBuffer() {
    boolean goesOn = bufferFreed;
    bufferFreed = false;
    if (goesOn) {
      session.bufferFreed();
      settle();
    }
    return goesOn;
  }

  void tick(long quietNanos) {
    session.tick(0, quietNanos, Long.MAX_VALUE, 0);
    flush();
    session.ping();
    flush();
  }

  /** A moment passes; returns whether this end does anything then. */
  boolean timePasses() {
    session.tick(0, 0, Long.MAX_VALUE, 0);
    flush();
    return !device.isIdle();
  }

  /** Two quiet seconds pass; returns whether this end does anything then. */
  boolean giveBack() {
    session.tick(0, 2_000_000_000, Long.MAX_VALUE, 0);
    flush();
    return !device.isIdle();
  }

  // How it ends.

  void endOutput() {
    if (user.canSend()) {
      session.endOutput();
      flush();
    }
  }

  void close() {
    if (!session.lifecycle().isClosing()) {
      session.beginClose();
      flush();
    }
  }

  void breakUp() {
    session.breakUp("its user breaks it", null);
    settle();
  }

  /** The device stops, as it does when the connection below is disconnected. */
  void stopDevice() {
    device.stop();
    session.stopped();
  }

  /** Does what follows once nothing moves any more; returns whether there was anything to do. */
  boolean goOnWithEnd() {
    if (!disconnected && (session.lifecycle().failure() != null || device.isStopped())) {
      disconnected = true;
      stopDevice();
      peer().device.stop();
      if (!session.lifecycle().isPeerClosed()) {
        session.fail(session.because(Reason.RESET, "disconnected"));
      }
      settle();
      return true;
    }
    if (!stopping && session.lifecycle().isClosing() && hasAllArrived()) {
      stopping = true;
      session.stop();
      settle();
      stopDevice();
      peer().device.stop();
      return true;
    }
    if (stopping && !destroyed) {
      destroy();
      return true;
    }
    return false;
  }

  /** Returns whether a close waits no more. */
  private boolean hasAllArrived() {
    return session.isIdle()
        || session.lifecycle().failure() != null
        || session.lifecycle().isPeerClosed()
        || session.lifecycle().goneWhileClosing() != null;
  }

  /** Returns whether it has ended, so that nothing is left for its user to wait for. */
  boolean hasEnded() {
    return session.lifecycle().isUseless();
  }

  boolean isDestroyed() {
    return destroyed;
  }

  /** Ends everything, as the last step of a close does. */
  void destroy() {
    assertThat(session.postedCount()).as("a close waits for the device: " + this).isZero();
    destroyed = true;
    session.stop();
    settle();
    session.discard(new IllegalStateException("closed"));
    session.closed();
    user.closeAll();
    for (Device.Arrival each : device.takeArrivals()) {
      host.supply.lost();
      each.buffer().free();
    }
  }

  /** Returns whether nothing is in flight to or from this end. */
  boolean isIdle() {
    return session.isIdle() && device.isIdle() && user.isIdle();
  }

  @Override
  public String toString() {
    return "%s: %s, outstanding %d, posted %d, credits %d, granted %d, promised %d, device %d, arrivals %d, need %s%s%s"
        .formatted(
            name,
            user,
            session.outstanding(),
            session.postedCount(),
            session.credits(),
            session.grantedCredits(),
            promises.count(),
            device.requests(),
            device.arrivals(),
            memoryNeed,
            session.lifecycle().isClosing() ? ", closing" : "",
            session.lifecycle().failure() == null
                ? ""
                : ", broken: " + session.lifecycle().failure().getMessage());
  }
}
