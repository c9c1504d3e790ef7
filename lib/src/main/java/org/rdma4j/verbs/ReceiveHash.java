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
 * How the received packets of a queue pair are spread over work queues (receive side scaling):
 * {@code struct ibv_rx_hash_conf}. The device computes a hash over fields of each packet, which
 * selects an entry of an {@link IndirectionTable}.
 *
 * @see QueuePairConfig#spread
 * @see IndirectionTable
 */
public final class ReceiveHash {
  private static final int MAX_KEY_BYTES = 0xff;

  private final IndirectionTable table;
  private final ReceiveHashFunction function;
  private final byte[] key;
  private final Set<ReceiveHashField> fields;

  /**
   * Creates a description of a hash and the table that it selects work queues from.
   *
   * @param table the table of work queues
   * @param function the hash function
   * @param key the key of the hash function, 0 to 255 bytes; TOEPLITZ requires 40 bytes
   * @param fields the fields of a packet that are hashed
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
   * Returns the table that the hash selects work queues from.
   *
   * @return the table of work queues
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
