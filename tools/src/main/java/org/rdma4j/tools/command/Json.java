package org.rdma4j.tools.command;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes a JSON text of maps, lists, numbers and strings. */
public final class Json {
  private Json() {}

  /**
   * Returns the text of a value.
   *
   * @param value a map, a list, a number or a boolean; of anything else, its string
   * @return the text, in one line
   */
  public static String text(Object value) {
    return switch (value) {
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(each -> string(each.getKey().toString()) + ": " + text(each.getValue()))
              .collect(Collectors.joining(", ", "{", "}"));
      case List<?> list ->
          list.stream().map(Json::text).collect(Collectors.joining(", ", "[", "]"));
      case Double number -> number(number);
      case Number number -> number.toString();
      case Boolean bool -> bool.toString();
      default -> string(value.toString());
    };
  }

  private static String string(String text) {
    StringBuilder json = new StringBuilder("\"");
    text.chars()
        .forEach(
            each -> {
              if (each == '"' || each == '\\') {
                json.append('\\').append((char) each);
              } else if (each < ' ') {
                json.append("\\u%04x".formatted(each));
              } else {
                json.append((char) each);
              }
            });
    return json.append('"').toString();
  }

  /**
   * Returns an object with its members in this order.
   *
   * @param keysAndValues a key, its value, the next key, and so on
   * @return the map of keys to values
   */
  public static Map<String, Object> object(Object... keysAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put(keysAndValues[i].toString(), keysAndValues[i + 1]);
    }
    return map;
  }

  private static String number(double number) {
    return Double.isFinite(number) ? String.format(Locale.ROOT, "%.6f", number) : "null";
  }
}
