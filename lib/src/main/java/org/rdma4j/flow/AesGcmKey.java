package org.rdma4j.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rdma4j.bindings.generated.ib_uverbs_flow_action_esp_keymat_aes_gcm;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.Range;

/**
 * An AES-GCM key for ESP: {@code struct ib_uverbs_flow_action_esp_keymat_aes_gcm}. The
 * initialization vector is a counter, {@code IBV_FLOW_ACTION_IV_ALGO_SEQ}.
 *
 * @see EspConfig
 */
public final class AesGcmKey {
  private final byte[] key;
  private final long initializationVector;
  private final int salt;
  private final int checkValueBytes;

  /**
   * Creates a key.
   *
   * @param key the key, with 16, 24 or 32 bytes; it is copied
   * @param initializationVector the first initialization vector
   * @param salt the salt
   * @param checkValueBytes the length of the integrity check value in bytes, 8 to 16
   * @throws IllegalArgumentException if the key has another length, or {@code checkValueBytes} is
   *     out of its range
   */
  public AesGcmKey(byte[] key, long initializationVector, int salt, int checkValueBytes) {
    if (key.length != 16 && key.length != 24 && key.length != 32) {
      throw new IllegalArgumentException(
          "the key has " + key.length + " bytes, must have 16, 24 or 32");
    }
    Range.check("checkValueBytes", checkValueBytes, 8, 16);
    this.key = key.clone();
    this.initializationVector = initializationVector;
    this.salt = salt;
    this.checkValueBytes = checkValueBytes;
  }

  /** Writes the struct, which the caller clears after use. */
  MemorySegment write(Arena arena) {
    MemorySegment material = arena.allocate(ib_uverbs_flow_action_esp_keymat_aes_gcm.layout());
    ib_uverbs_flow_action_esp_keymat_aes_gcm.iv(material, initializationVector);
    ib_uverbs_flow_action_esp_keymat_aes_gcm.iv_algo(
        material, rdma_h.IBV_FLOW_ACTION_IV_ALGO_SEQ());
    ib_uverbs_flow_action_esp_keymat_aes_gcm.salt(material, salt);
    ib_uverbs_flow_action_esp_keymat_aes_gcm.icv_len(material, checkValueBytes);
    ib_uverbs_flow_action_esp_keymat_aes_gcm.key_len(material, key.length);
    MemorySegment.copy(
        key,
        0,
        ib_uverbs_flow_action_esp_keymat_aes_gcm.aes_key(material),
        ValueLayout.JAVA_BYTE,
        0,
        key.length);
    return material;
  }

  /**
   * Returns a description that does not contain the key.
   *
   * @return the length of the key, in words
   */
  @Override
  public String toString() {
    return "AES-GCM key of " + key.length + " bytes";
  }
}
