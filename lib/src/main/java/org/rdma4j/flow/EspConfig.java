package org.rdma4j.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ib_uverbs_flow_action_esp;
import org.rdma4j.bindings.generated.ib_uverbs_flow_action_esp_replay_bmp;
import org.rdma4j.bindings.generated.ibv_flow_action_esp_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.Range;

/**
 * How ESP encrypts or decrypts packets: {@code struct ibv_flow_action_esp_attr}. Immutable: a
 * method that takes a value returns a changed copy.
 *
 * @param securityParametersIndex the SPI
 * @param sequenceNumber the first sequence number
 * @param padding the padding for traffic flow confidentiality, {@code tfc_pad}
 * @param flags the flags; without flags, packets are decrypted in tunnel mode
 * @param hardLimit the number of packets after which to stop, as an unsigned number; 0, the
 *     default, for no limit
 * @param key the key; null, the default, to keep the key of a flow action that is modified
 * @param replayWindow the number of packets by which a packet may be out of order if the device
 *     detects replays; 0, the default, if it does not
 * @param extendedSequenceNumber the high half of 64-bit sequence numbers; empty, the default, if
 *     they have 32 bits
 * @see FlowAction
 * @see EspFlag
 */
public record EspConfig(
    int securityParametersIndex,
    int sequenceNumber,
    int padding,
    Set<EspFlag> flags,
    long hardLimit,
    @Nullable AesGcmKey key,
    int replayWindow,
    OptionalInt extendedSequenceNumber) {
  /**
   * Copies the flags, and checks the replay window.
   *
   * @throws IllegalArgumentException if the replay window is negative
   */
  public EspConfig {
    Range.check("replayWindow", replayWindow, 0, Integer.MAX_VALUE);
    flags = Set.copyOf(flags);
  }

  /**
   * Returns the configuration for an SPI.
   *
   * @param securityParametersIndex the SPI
   * @param flags the flags
   * @return the configuration; everything else is 0 or has its default
   */
  public static EspConfig of(int securityParametersIndex, EspFlag... flags) {
    return new EspConfig(
        securityParametersIndex, 0, 0, Set.of(flags), 0, null, 0, OptionalInt.empty());
  }

  /**
   * Returns a copy with another {@link #key()}.
   *
   * @param key the key; null to keep the key of a flow action that is modified
   * @return the copy
   */
  public EspConfig key(@Nullable AesGcmKey key) {
    return new EspConfig(
        securityParametersIndex,
        sequenceNumber,
        padding,
        flags,
        hardLimit,
        key,
        replayWindow,
        extendedSequenceNumber);
  }

  /** A function that uses the C struct, which is valid only during the call. */
  interface Use<T> {
    T with(MemorySegment attributes);
  }

  <T> T use(Use<T> use) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment material = key == null ? MemorySegment.NULL : key.write(arena);
      try {
        return use.with(write(arena, material));
      } finally {
        material.fill((byte) 0);
      }
    }
  }

  private MemorySegment write(Arena arena, MemorySegment material) {
    MemorySegment esp = arena.allocate(ib_uverbs_flow_action_esp.layout());
    ib_uverbs_flow_action_esp.spi(esp, securityParametersIndex);
    ib_uverbs_flow_action_esp.seq(esp, sequenceNumber);
    ib_uverbs_flow_action_esp.tfc_pad(esp, padding);
    ib_uverbs_flow_action_esp.flags(esp, NativeConstants.mask(flags));
    ib_uverbs_flow_action_esp.hard_limit_pkts(esp, hardLimit);
    MemorySegment attributes = arena.allocate(ibv_flow_action_esp_attr.layout());
    ibv_flow_action_esp_attr.esp_attr(attributes, esp);
    ibv_flow_action_esp_attr.keymat_proto(attributes, rdma_h.IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM());
    ibv_flow_action_esp_attr.keymat_len(attributes, (short) material.byteSize());
    ibv_flow_action_esp_attr.keymat_ptr(attributes, material);
    ibv_flow_action_esp_attr.replay_proto(attributes, rdma_h.IBV_FLOW_ACTION_ESP_REPLAY_NONE());
    if (replayWindow != 0) {
      MemorySegment replay = arena.allocate(ib_uverbs_flow_action_esp_replay_bmp.layout());
      ib_uverbs_flow_action_esp_replay_bmp.size(replay, replayWindow);
      ibv_flow_action_esp_attr.replay_proto(attributes, rdma_h.IBV_FLOW_ACTION_ESP_REPLAY_BMP());
      ibv_flow_action_esp_attr.replay_len(attributes, (short) replay.byteSize());
      ibv_flow_action_esp_attr.replay_ptr(attributes, replay);
    }
    if (extendedSequenceNumber.isPresent()) {
      ibv_flow_action_esp_attr.comp_mask(attributes, rdma_h.IBV_FLOW_ACTION_ESP_MASK_ESN());
      ibv_flow_action_esp_attr.esn(attributes, extendedSequenceNumber.getAsInt());
    }
    return attributes;
  }
}
