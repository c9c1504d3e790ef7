package org.rdma4j.samples.keyvalue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.rdma4j.verbs.RemoteMemory;

/**
 * A slot of the table. It has a checksum (4 bytes), the length of the entry (4 bytes), and the
 * entry. An entry, which is also a PUT request, has the length of the key (4 bytes), the key and
 * the value.
 *
 * <p>A client may read a slot while the server writes it, and then gets a part of the old entry and
 * a part of the new one. Nothing locks the two out: the server does not even know of the read. So
 * the checksum says whether the bytes belong together. Version numbers before and after the entry
 * would not do: no rule says in which order a device reads the bytes of one request.
 */
final class CacheSlot {
  static final int BYTES = 4096;
  static final int MAX_KEY_BYTES = 128;
  static final int MAX_ENTRY_BYTES = BYTES - 2 * Integer.BYTES;

  private CacheSlot() {}

  /** Returns the slot of a key: always the same one, so a client needs one read to find it. */
  static RemoteMemory of(RemoteMemory table, byte[] key) {
    return table.slice(offset(table.length(), key), BYTES);
  }

  static long offset(long tableBytes, byte[] key) {
    return Math.floorMod(Arrays.hashCode(key), tableBytes / BYTES) * BYTES;
  }

  static ByteBuffer entry(byte[] key, byte[] value) {
    ByteBuffer entry = ByteBuffer.allocate(Integer.BYTES + key.length + value.length);
    return entry.putInt(key.length).put(key).put(value).flip();
  }

  /**
   * Returns the key of an entry that a client sent.
   *
   * @throws IllegalArgumentException if the entry does not fit: clients can send anything
   */
  static byte[] key(ByteBuffer entry) {
    int length = entry.remaining() < Integer.BYTES ? 0 : entry.getInt(entry.position());
    if (length < 1 || length > MAX_KEY_BYTES || length > entry.remaining() - Integer.BYTES) {
      throw new IllegalArgumentException(
          "the key has %d bytes, must have from 1 to %d".formatted(length, MAX_KEY_BYTES));
    }
    if (entry.remaining() > MAX_ENTRY_BYTES) {
      throw new IllegalArgumentException(
          "the entry has %d bytes, must have at most %d"
              .formatted(entry.remaining(), MAX_ENTRY_BYTES));
    }
    byte[] key = new byte[length];
    entry.get(entry.position() + Integer.BYTES, key);
    return key;
  }

  /** Writes an entry to a slot, and the checksum that makes it valid. */
  static void store(ByteBuffer slot, ByteBuffer entry) {
    int length = entry.remaining();
    slot.putInt(Integer.BYTES, length);
    slot.put(2 * Integer.BYTES, entry, entry.position(), length);
    slot.putInt(0, checksum(slot, length));
  }

  /** Returns the entry of a slot; empty if its bytes do not belong together. */
  static Optional<ByteBuffer> load(ByteBuffer slot) {
    int length = slot.getInt(Integer.BYTES);
    if (length < 0 || length > MAX_ENTRY_BYTES || checksum(slot, length) != slot.getInt(0)) {
      return Optional.empty();
    }
    return Optional.of(slot.slice(2 * Integer.BYTES, length));
  }

  private static int checksum(ByteBuffer slot, int length) {
    CRC32C sum = new CRC32C();
    sum.update(slot.slice(Integer.BYTES, Integer.BYTES + length));
    return (int) sum.getValue();
  }
}
