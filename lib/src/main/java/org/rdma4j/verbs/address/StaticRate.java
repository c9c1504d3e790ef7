package org.rdma4j.verbs.address;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A limit for the rate of a path: {@code enum ibv_rate}. The rates are those of InfiniBand links,
 * so 100 Gbit/s is 103125 Mbit/s.
 *
 * @see AddressVector
 */
public enum StaticRate implements NativeConstant {
  /** The rate of the port: {@code IBV_RATE_MAX}. */
  UNLIMITED(rdma_h.IBV_RATE_MAX(), StaticRate.NONE, StaticRate.NONE),
  /** 2.5 Gbit/s: {@code IBV_RATE_2_5_GBPS}. */
  GBPS_2_5(rdma_h.IBV_RATE_2_5_GBPS(), 2_500, 1),
  /** 5 Gbit/s: {@code IBV_RATE_5_GBPS}. */
  GBPS_5(rdma_h.IBV_RATE_5_GBPS(), 5_000, 2),
  /** 10 Gbit/s: {@code IBV_RATE_10_GBPS}. */
  GBPS_10(rdma_h.IBV_RATE_10_GBPS(), 10_000, 4),
  /** 14 Gbit/s: {@code IBV_RATE_14_GBPS}. */
  GBPS_14(rdma_h.IBV_RATE_14_GBPS(), 14_062, StaticRate.NONE),
  /** 20 Gbit/s: {@code IBV_RATE_20_GBPS}. */
  GBPS_20(rdma_h.IBV_RATE_20_GBPS(), 20_000, 8),
  /** 25 Gbit/s: {@code IBV_RATE_25_GBPS}. */
  GBPS_25(rdma_h.IBV_RATE_25_GBPS(), 25_781, StaticRate.NONE),
  /** 28 Gbit/s: {@code IBV_RATE_28_GBPS}. */
  GBPS_28(rdma_h.IBV_RATE_28_GBPS(), 28_125, 11),
  /** 30 Gbit/s: {@code IBV_RATE_30_GBPS}. */
  GBPS_30(rdma_h.IBV_RATE_30_GBPS(), 30_000, 12),
  /** 40 Gbit/s: {@code IBV_RATE_40_GBPS}. */
  GBPS_40(rdma_h.IBV_RATE_40_GBPS(), 40_000, 16),
  /** 50 Gbit/s: {@code IBV_RATE_50_GBPS}. */
  GBPS_50(rdma_h.IBV_RATE_50_GBPS(), 53_125, 20),
  /** 56 Gbit/s: {@code IBV_RATE_56_GBPS}. */
  GBPS_56(rdma_h.IBV_RATE_56_GBPS(), 56_250, StaticRate.NONE),
  /** 60 Gbit/s: {@code IBV_RATE_60_GBPS}. */
  GBPS_60(rdma_h.IBV_RATE_60_GBPS(), 60_000, 24),
  /** 80 Gbit/s: {@code IBV_RATE_80_GBPS}. */
  GBPS_80(rdma_h.IBV_RATE_80_GBPS(), 80_000, 32),
  /** 100 Gbit/s: {@code IBV_RATE_100_GBPS}. */
  GBPS_100(rdma_h.IBV_RATE_100_GBPS(), 103_125, StaticRate.NONE),
  /** 112 Gbit/s: {@code IBV_RATE_112_GBPS}. */
  GBPS_112(rdma_h.IBV_RATE_112_GBPS(), 112_500, StaticRate.NONE),
  /** 120 Gbit/s: {@code IBV_RATE_120_GBPS}. */
  GBPS_120(rdma_h.IBV_RATE_120_GBPS(), 120_000, 48),
  /** 168 Gbit/s: {@code IBV_RATE_168_GBPS}. */
  GBPS_168(rdma_h.IBV_RATE_168_GBPS(), 168_750, StaticRate.NONE),
  /** 200 Gbit/s: {@code IBV_RATE_200_GBPS}. */
  GBPS_200(rdma_h.IBV_RATE_200_GBPS(), 206_250, StaticRate.NONE),
  /** 300 Gbit/s: {@code IBV_RATE_300_GBPS}. */
  GBPS_300(rdma_h.IBV_RATE_300_GBPS(), 309_375, StaticRate.NONE),
  /** 400 Gbit/s: {@code IBV_RATE_400_GBPS}. */
  GBPS_400(rdma_h.IBV_RATE_400_GBPS(), 425_000, 160),
  /** 600 Gbit/s: {@code IBV_RATE_600_GBPS}. */
  GBPS_600(rdma_h.IBV_RATE_600_GBPS(), 637_500, 240),
  /** 800 Gbit/s: {@code IBV_RATE_800_GBPS}. */
  GBPS_800(rdma_h.IBV_RATE_800_GBPS(), 850_000, 320),
  /** 1200 Gbit/s: {@code IBV_RATE_1200_GBPS}. */
  GBPS_1200(rdma_h.IBV_RATE_1200_GBPS(), 1_275_000, 480);

  /** The result of the C functions for a rate without such a number. */
  private static final int NONE = -1;

  private final int value;
  private final int megabits;
  private final int multiplier;

  StaticRate(int value, int megabits, int multiplier) {
    this.value = value;
    this.megabits = megabits;
    this.multiplier = multiplier;
  }

  @Override
  public int value() {
    return value;
  }

  /**
   * Returns the rate as a number: {@code ibv_rate_to_mbps}.
   *
   * @return the rate in Mbit/s; empty for UNLIMITED
   */
  public OptionalInt megabits() {
    return optional(megabits);
  }

  /**
   * Returns the rate as a multiple of 2.5 Gbit/s: {@code ibv_rate_to_mult}.
   *
   * @return the rate divided by 2.5 Gbit/s, rounded down; empty for UNLIMITED, and for rates for
   *     which libibverbs has no multiple
   */
  public OptionalInt multiplier() {
    return optional(multiplier);
  }

  /**
   * Returns the rate of a number of Mbit/s: {@code mbps_to_ibv_rate}.
   *
   * @param megabits the rate in Mbit/s
   * @return the rate with exactly these {@link #megabits}; empty if there is none
   */
  public static Optional<StaticRate> ofMegabits(int megabits) {
    return find(StaticRate::megabits, megabits);
  }

  /**
   * Returns the rate of a multiple of 2.5 Gbit/s: {@code mult_to_ibv_rate}.
   *
   * @param multiplier the multiple of 2.5 Gbit/s
   * @return the first rate with exactly this {@link #multiplier}; empty if there is none
   */
  public static Optional<StaticRate> ofMultiplier(int multiplier) {
    return find(StaticRate::multiplier, multiplier);
  }

  private static Optional<StaticRate> find(Function<StaticRate, OptionalInt> number, int expected) {
    return Arrays.stream(values())
        .filter(rate -> number.apply(rate).equals(OptionalInt.of(expected)))
        .findFirst();
  }

  private static OptionalInt optional(int number) {
    return number == NONE ? OptionalInt.empty() : OptionalInt.of(number);
  }
}
