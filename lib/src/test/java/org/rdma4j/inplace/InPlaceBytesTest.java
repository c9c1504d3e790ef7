package org.rdma4j.inplace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AfterContainer;
import org.rdma4j.datapath.SendLayout;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.Loopback;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.StaticRate;

/**
 * Requests that are written in place equal, byte for byte, what libmlx5 writes: the request, the
 * doorbell record and the BlueFlame register. So are refusals of a full queue.
 */
@Tag("mlx5")
final class InPlaceBytesTest {
  private static final int TRIES = 10_000;

  private static final Map<Object, TwoQueuePairs> PAIRS = new HashMap<>();
  private static final List<AddressHandle> HANDLES = new ArrayList<>();

  @AfterContainer
  static void closePairs() {
    PAIRS.values().forEach(TwoQueuePairs::close);
  }

  private static TwoQueuePairs pairs(Object kind, QueuePairType type) {
    return PAIRS.computeIfAbsent(kind, unused -> new TwoQueuePairs(type));
  }

  private static void check(QueuePairType type, int opcode, long seed) {
    TwoQueuePairs pairs = pairs(List.of(type, opcode), type);
    RandomRequests requests = new RandomRequests(seed);
    requests.sends(opcode, 0);
    pairs.compareSends(requests);
    drainAtTimes(pairs, requests);
  }

  /** Mostly; otherwise the queue fills, and refuses requests. */
  private static void drainAtTimes(TwoQueuePairs pairs, RandomRequests requests) {
    if (requests.random().nextInt(6) == 0) {
      pairs.drain();
    }
  }

  private static void reliable(int opcode, long seed) {
    check(QueuePairType.RELIABLE_CONNECTION, opcode, seed);
  }

  private static void unreliable(int opcode, long seed) {
    check(QueuePairType.UNRELIABLE_CONNECTION, opcode, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void sendsAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.SEND, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void sendsWithImmediateDataAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.SEND_WITH_IMM, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void sendsWithInvalidationAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.SEND_WITH_INV, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void writesAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.RDMA_WRITE, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void writesWithImmediateDataAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.RDMA_WRITE_WITH_IMM, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void readsAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.RDMA_READ, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void comparesAndSwapsAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.COMPARE_AND_SWAP, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void fetchesAndAddsAreThoseOfLibmlx5(@ForAll long seed) {
    reliable(SendLayout.FETCH_AND_ADD, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void unreliableSendsAreThoseOfLibmlx5(@ForAll long seed) {
    unreliable(SendLayout.SEND, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void unreliableWritesAreThoseOfLibmlx5(@ForAll long seed) {
    unreliable(SendLayout.RDMA_WRITE, seed);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void datagramsAreThoseOfLibmlx5(@ForAll long seed) {
    TwoQueuePairs pairs = pairs("datagrams", QueuePairType.UNRELIABLE_DATAGRAM);
    RandomRequests requests = new RandomRequests(seed);
    int opcode = requests.random().nextBoolean() ? SendLayout.SEND : SendLayout.SEND_WITH_IMM;
    requests.sends(opcode, handle(pairs, requests.random().nextInt(8)));
    pairs.compareSends(requests);
    drainAtTimes(pairs, requests);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void receivesAreThoseOfLibmlx5(@ForAll long seed) {
    TwoQueuePairs pairs = pairs("receives", QueuePairType.RELIABLE_CONNECTION);
    RandomRequests requests = new RandomRequests(seed);
    requests.receives();
    pairs.compareReceives(requests);
    drainAtTimes(pairs, requests);
  }

  /** Each address handle has another route. */
  private static long handle(TwoQueuePairs pairs, int index) {
    while (HANDLES.size() <= index) {
      int made = HANDLES.size();
      int gid = Loopback.gidIndex(pairs.device);
      GlobalRoute route =
          new GlobalRoute(pairs.device.port(1).gid(gid), gid, 77 * made, 1 + made, 4 * made);
      AddressVector to = new AddressVector(1, 0, made, 0, StaticRate.UNLIMITED, route);
      HANDLES.add(pairs.domain.createAddressHandle(to));
    }
    return HANDLES.get(index).handle().address();
  }
}
