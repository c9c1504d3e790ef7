package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * Each way to post writes requests, doorbell records and doorbell registers in the order that an
 * adapter needs, with a fence on each side of the register.
 */
@Tag("mlx5")
final class AdapterOrderTest {
  private enum Way {
    ONE(false, 1),
    SEVERAL(false, 3),
    EXTENDED(true, 1),
    SEVERAL_EXTENDED(true, 3);

    private final boolean isExtended;
    private final int requests;

    Way(boolean isExtended, int requests) {
      this.isExtended = isExtended;
      this.requests = requests;
    }

    private QueuePairConfig of(QueuePairConfig config) {
      return isExtended ? config.extended(SendOperation.SEND) : config;
    }
  }

  private static void add(Loopback loopback, int requests, boolean isInline) {
    for (int i = 0; i < requests; i++) {
      loopback.b.receive(i, 0, 64);
      SendRequests request = loopback.a.sends.add(i).signaled();
      if (isInline) {
        request.inline(loopback.a.region, 0, 64);
      } else {
        request.from(loopback.a.region, 0, 64);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPostKeepsTheOrder(Way way) {
    try (Loopback loopback = Loopback.connected(way::of)) {
      for (int i = 0; i < 4; i++) {
        add(loopback, way.requests, i % 2 == 0);
        if (i < 2) {
          loopback.a.sends.post();
        } else {
          assertThat(SimulatedAdapter.watch(loopback.a.queuePair.number(), loopback.a.sends::post))
              .isZero();
          assertThat(SimulatedAdapter.doorbells()).isEqualTo(1);
        }
        loopback.a.await(way.requests);
        loopback.b.await(way.requests);
      }
    }
  }
}
