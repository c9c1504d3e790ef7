package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The maximum payload of a packet on a path (MTU): {@code enum ibv_mtu}.
 *
 * @see PortAttributes
 * @see org.rdma4j.verbs.PathConfig#mtu()
 */
public enum Mtu implements NativeConstant {
  /** 256 bytes: {@code IBV_MTU_256}. */
  MTU_256(rdma_h.IBV_MTU_256(), 256),
  /** 512 bytes: {@code IBV_MTU_512}. */
  MTU_512(rdma_h.IBV_MTU_512(), 512),
  /** 1024 bytes: {@code IBV_MTU_1024}. */
  MTU_1024(rdma_h.IBV_MTU_1024(), 1024),
  /** 2048 bytes: {@code IBV_MTU_2048}. */
  MTU_2048(rdma_h.IBV_MTU_2048(), 2048),
  /** 4096 bytes: {@code IBV_MTU_4096}. */
  MTU_4096(rdma_h.IBV_MTU_4096(), 4096);

  private final int value;
  private final int bytes;

  Mtu(int value, int bytes) {
    this.value = value;
    this.bytes = bytes;
  }

  @Override
  public int value() {
    return value;
  }

  /**
   * Returns the maximum payload.
   *
   * @return the length in bytes
   */
  public int bytes() {
    return bytes;
  }

  /**
   * Returns the MTU of that many bytes.
   *
   * @param bytes 256, 512, 1024, 2048 or 4096
   * @return the constant
   * @throws IllegalArgumentException if it is another number
   */
  public static Mtu ofBytes(int bytes) {
    for (Mtu mtu : values()) {
      if (mtu.bytes == bytes) {
        return mtu;
      }
    }
    throw new IllegalArgumentException(
        "MTU is " + bytes + " bytes, must be 256, 512, 1024, 2048 or 4096");
  }
}
