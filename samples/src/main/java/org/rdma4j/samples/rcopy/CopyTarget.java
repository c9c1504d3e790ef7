package org.rdma4j.samples.rcopy;

import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The target of a copy: SERVER or SERVER:NAME, with an IPv6 address in brackets. */
record CopyTarget(String host, String name) {
  private static final Pattern FORM =
      Pattern.compile("(?:\\[([^\\[\\]]+)]|([^\\[\\]:]+))(?::(.*))?");

  static CopyTarget parse(String text, Path source) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      throw new CopyFailure(
          "\"%s\" is not SERVER or SERVER:NAME; write an IPv6 address in brackets".formatted(text));
    }
    String host = Objects.requireNonNullElse(parts.group(1), parts.group(2));
    String name = Objects.requireNonNullElse(parts.group(3), "");
    return new CopyTarget(host, name.isEmpty() ? String.valueOf(source.getFileName()) : name);
  }
}
