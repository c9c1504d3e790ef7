package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The receives of a shared receive queue reserve entries in the completion queue of each queue pair
 * that uses it.
 */
final class ReceiveReservationsTest {
  private static final int ENTRIES = 10;

  private final Reservations capacity = new Reservations(ENTRIES);
  private final ReceiveReservations places =
      new ReceiveReservations(SharedReceiveQueueConfig.of(4));

  @BeforeEach
  void grant() {
    places.reserveOwn(4);
  }

  private static void assertFree(Reservations capacity, int entries) {
    capacity.reserve(entries);
    assertThatThrownBy(() -> capacity.reserve(1)).isInstanceOf(IllegalArgumentException.class);
    capacity.release(entries);
  }

  @Test
  void queuePairsOfOneCompletionQueueReserveEntriesOnce() {
    places.reserve(capacity);
    places.reserve(capacity);
    assertFree(capacity, 6);
    places.release(capacity);
    assertFree(capacity, 6);
    places.release(capacity);
    assertFree(capacity, ENTRIES);
  }

  @Test
  void moreEntriesAreReservedBeforeTheQueueIsMadeDeeper() {
    places.reserve(capacity);
    places.change(8, () -> 8);
    assertThat(places.depth()).isEqualTo(8);
    assertFree(capacity, 2);
  }

  @Test
  void aCompletionQueueThatIsTooShortLeavesTheReservationsUnchanged() {
    Reservations full = new Reservations(4);
    places.reserve(capacity);
    places.reserve(full);
    assertThatThrownBy(() -> places.change(8, () -> 8))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(places.depth()).isEqualTo(4);
    assertFree(capacity, 6);
    assertFree(full, 0);
  }

  @Test
  void aRefusalByTheDeviceReleasesTheEntries() {
    places.reserve(capacity);
    assertThatThrownBy(
            () ->
                places.change(
                    8,
                    () -> {
                      throw new IllegalStateException("refused");
                    }))
        .hasMessage("refused");
    assertThat(places.depth()).isEqualTo(4);
    assertFree(capacity, 6);
  }
}
