package org.rdma4j.connection.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Text of a peer as it may be shown: a terminal must not obey what a peer sends. */
public final class PrintableText {
  private static final int MAX = 500;

  private PrintableText() {}

  /** Returns the text that these bytes of UTF-8 are, without control characters. */
  public static String of(ByteBuffer bytes) {
    StringBuilder printable = new StringBuilder();
    StandardCharsets.UTF_8
        .decode(bytes)
        .codePoints()
        .limit(MAX)
        .map(each -> Character.isISOControl(each) ? '?' : each)
        .forEach(printable::appendCodePoint);
    return printable.toString();
  }
}
