package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory that peers access: a window, which requests begin and end and through which only the peer
 * of one device comes, or a region, which all peers can access until it ends.
 */
final class Range implements Exposure {
  private enum State {
    NEW,
    ACCESSIBLE,
    INVALIDATED,
    ENDED
  }

  final MemorySegment segment;
  private final long address;
  private final int key;
  private final @Nullable Device device;
  private State state;
  private boolean closed;

  /**
   * Creates memory that peers access.
   *
   * @param device what binds it; null for a region
   */
  Range(MemorySegment segment, long address, int key, @Nullable Device device) {
    this.segment = segment;
    this.address = address;
    this.key = key;
    this.device = device;
    this.state = device == null ? State.ACCESSIBLE : State.NEW;
  }

  /** Binds the window; returns whether its device can. */
  boolean bind() {
    assertThat(state).as("of a window that is bound").isEqualTo(State.NEW);
    state = State.ACCESSIBLE;
    return !closed;
  }

  /** Invalidates the window; returns whether its device can. */
  boolean invalidate() {
    assertThat(state).as("of a window that is invalidated").isEqualTo(State.ACCESSIBLE);
    state = State.INVALIDATED;
    return !closed;
  }

  /** Records that the user has closed the region, which closes a window that is bound to it. */
  void closeRegion() {
    closed = true;
  }

  /** Returns whether a peer can access it, if that is the peer of this device. */
  boolean isAccessible(Device of, int withKey) {
    return isAccessible() && key == withKey && (device == null || device == of);
  }

  boolean isAccessible() {
    return state == State.ACCESSIBLE && !closed;
  }

  boolean hasEnded() {
    return state == State.ENDED;
  }

  /** Returns whether it is a part of some memory. */
  boolean isIn(MemorySegment memory) {
    return segment.asOverlappingSlice(memory).isPresent();
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public int key() {
    return key;
  }

  @Override
  public boolean isBound() {
    return device != null;
  }

  @Override
  public void release() {
    // Without an assertion of AssertJ, because a test counts what is allocated.
    if (state != State.NEW && state != State.INVALIDATED) {
      throw new AssertionError("a window is used again that is " + state);
    }
    state = State.ENDED;
  }

  @Override
  public void end() {
    state = State.ENDED;
  }
}
