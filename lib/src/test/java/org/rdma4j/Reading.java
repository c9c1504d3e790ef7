package org.rdma4j;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.rdma4j.verbs.address.Gid;

/** What Java reads of a struct, in the form of the transcript of C on the {@link StandIn}. */
public final class Reading {
  private final StringBuilder text = new StringBuilder();

  /** Creates an empty text. */
  public Reading() {}

  /** Begins a line. */
  public Reading line(String function) {
    text.append(text.isEmpty() ? "" : "\n").append(function);
    return this;
  }

  /** Adds a number of at most 32 bits. */
  public Reading number(String name, int value) {
    return number(name, Integer.toUnsignedLong(value));
  }

  /** Adds a number. */
  public Reading number(String name, long value) {
    text.append(' ').append(name).append('=');
    // As the format %#lx of C.
    text.append(value == 0 ? "0" : "0x" + Long.toHexString(value));
    return this;
  }

  /** Adds bytes. */
  public Reading bytes(String name, MemorySegment bytes) {
    long size = bytes.byteSize();
    text.append(' ').append(name).append('=').append(size).append('{');
    for (long at = 0; at < size; at += Integer.BYTES) {
      byte[] group = new byte[Integer.BYTES];
      MemorySegment.copy(
          bytes, ValueLayout.JAVA_BYTE, at, group, 0, (int) Math.min(group.length, size - at));
      if ((group[0] | group[1] | group[2] | group[3]) != 0) {
        text.append(' ').append(at).append(':').append(HexFormat.of().formatHex(group));
      }
    }
    text.append('}');
    return this;
  }

  /** Adds a GID. */
  public Reading gid(String name, Gid gid) {
    return bytes(name, MemorySegment.ofArray(HexFormat.of().parseHex(gid.toHex())));
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
