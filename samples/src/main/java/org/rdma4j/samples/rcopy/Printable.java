package org.rdma4j.samples.rcopy;

/** Text of a peer, which may contain what disturbs a terminal: it is shown, and not obeyed. */
final class Printable {
  /** The longest name of a file has 255 bytes. */
  private static final int MAX_CHARACTERS = 300;

  private Printable() {}

  /**
   * Replaces control characters, and others that change how the text around them is shown, by their
   * numbers, and cuts off what is too long.
   */
  static String of(String text) {
    StringBuilder shown = new StringBuilder();
    int[] characters = text.codePoints().limit(MAX_CHARACTERS).toArray();
    for (int character : characters) {
      if (isPrintable(character)) {
        shown.appendCodePoint(character);
      } else {
        shown.append("\\u{").append(Integer.toHexString(character)).append('}');
      }
    }
    return shown + (text.codePointCount(0, text.length()) > MAX_CHARACTERS ? "..." : "");
  }

  private static boolean isPrintable(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }
}
