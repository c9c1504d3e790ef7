package org.rdma4j.samples;

import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a file is copied to: SERVER or SERVER:NAME, with an IPv6 address in brackets. */
record CopyTarget(String host, String name) {
  private static final Pattern FORM =
      Pattern.compile("(?:\\[([^\\[\\]]+)]|([^\\[\\]:]+))(?::(.*))?");

  static CopyTarget parse(String words, Path source) {
    Matcher parts = FORM.matcher(words);
    if (!parts.matches()) {
      throw new Failure(
          "\"%s\" is not SERVER or SERVER:NAME, with an IPv6 address in brackets".formatted(words));
    }
    String host = Objects.requireNonNullElse(parts.group(1), parts.group(2));
    String name = Objects.requireNonNullElse(parts.group(3), "");
    return new CopyTarget(host, name.isEmpty() ? String.valueOf(source.getFileName()) : name);
  }
}
