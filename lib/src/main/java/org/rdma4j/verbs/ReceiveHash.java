package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_rx_hash_conf;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.attribute.ReceiveHashField;
import org.rdma4j.verbs.attribute.ReceiveHashFunction;

/**
 * How received packets are spread over work queues, receive side scaling: {@code struct
 * ibv_rx_hash_conf}.
 */
public final class ReceiveHash {
  private static final int MAX_KEY_BYTES = 0xff;

  private final IndirectionTable table;
  private final ReceiveHashFunction function;
  private final byte[] key;
  private final Set<ReceiveHashField> fields;

  /**
   * A hash and the table that it leads to.
   *
   * @param table the work queues
   * @param function the hash
   * @param key its key of 0 to 255 bytes, as many as the hash wants; 40 for TOEPLITZ
   * @param fields what of a packet is hashed
   * @throws IllegalArgumentException if the key is too long
   */
  public ReceiveHash(
      IndirectionTable table,
      ReceiveHashFunction function,
      byte[] key,
      ReceiveHashField... fields) {
    Range.check("key length", key.length, 0, MAX_KEY_BYTES);
    this.table = table;
    this.function = function;
    this.key = key.clone();
    this.fields = Set.of(fields);
  }

  /**
   * The table that it leads to.
   *
   * @return the work queues
   */
  public IndirectionTable table() {
    return table;
  }

  void write(MemorySegment conf, Arena arena) {
    ibv_rx_hash_conf.rx_hash_function(conf, (byte) function.value());
    ibv_rx_hash_conf.rx_hash_key_len(conf, (byte) key.length);
    ibv_rx_hash_conf.rx_hash_key(conf, arena.allocateFrom(ValueLayout.JAVA_BYTE, key));
    ibv_rx_hash_conf.rx_hash_fields_mask(
        conf, Integer.toUnsignedLong(NativeConstants.mask(fields)));
  }

  @Override
  public String toString() {
    return function + " of " + fields + " over " + table;
  }
}
