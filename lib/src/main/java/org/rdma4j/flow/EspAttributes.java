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
 * How packets are encrypted or decrypted by ESP: {@code struct ibv_flow_action_esp_attr}.
 * Immutable; each method that takes a value returns a changed copy.
 *
 * @param securityParametersIndex the SPI
 * @param sequenceNumber the first sequence number
 * @param padding what pads packets for traffic flow confidentiality, {@code tfc_pad}
 * @param flags how it is done; default decrypting in tunnel mode
 * @param hardLimit after how many packets to stop, unsigned; 0, the default, for no limit
 * @param key the key; null, the default, to keep that which a flow action has
 * @param replayWindow how many packets may arrive out of their order, where the device looks for
 *     replays; 0, the default, where it does not
 * @param extendedSequenceNumber the high half of sequence numbers of 64 bits; empty, the default,
 *     where they have 32
 */
public record EspAttributes(
    int securityParametersIndex,
    int sequenceNumber,
    int padding,
    Set<EspFlag> flags,
    long hardLimit,
    @Nullable AesGcmKey key,
    int replayWindow,
    OptionalInt extendedSequenceNumber) {
  /**
   * Copies the flags.
   *
   * @throws IllegalArgumentException where the window is negative
   */
  public EspAttributes {
    Range.check("replayWindow", replayWindow, 0, Integer.MAX_VALUE);
    flags = Set.copyOf(flags);
  }

  /**
   * Attributes of an SPI.
   *
   * @param securityParametersIndex the SPI
   * @param flags how it is done
   * @return the attributes, everything else 0 or at its default
   */
  public static EspAttributes of(int securityParametersIndex, EspFlag... flags) {
    return new EspAttributes(
        securityParametersIndex, 0, 0, Set.of(flags), 0, null, 0, OptionalInt.empty());
  }

  /**
   * A copy with another {@link #key()}.
   *
   * @param key the key; null to keep that which a flow action has
   * @return the copy
   */
  public EspAttributes key(@Nullable AesGcmKey key) {
    return new EspAttributes(
        securityParametersIndex,
        sequenceNumber,
        padding,
        flags,
        hardLimit,
        key,
        replayWindow,
        extendedSequenceNumber);
  }

  /** What needs the C struct, while it is there; the key in it is cleared then. */
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
