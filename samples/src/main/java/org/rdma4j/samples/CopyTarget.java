package org.rdma4j.samples;

import java.nio.file.Path;

/** Where a file is copied to: SERVER or SERVER:NAME, with an IPv6 address in brackets. */
record CopyTarget(String host, String name) {
  static CopyTarget parse(String words, Path source) {
    int hostEnd = words.startsWith("[") ? words.indexOf(']') + 1 : 0;
    int colon = words.indexOf(':', hostEnd);
    String host = colon < 0 ? words : words.substring(0, colon);
    String name = colon < 0 ? "" : words.substring(colon + 1);
    if (hostEnd > 0) {
      host = words.substring(1, hostEnd - 1);
    }
    Path last = source.getFileName();
    return new CopyTarget(host, name.isEmpty() ? String.valueOf(last) : name);
  }
}
