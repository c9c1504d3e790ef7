package org.rdma4j.tools.perftest;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** The version of the programs in C that are installed here. */
final class InstalledPerftest {
  private InstalledPerftest() {}

  /**
   * Returns what a program of ours did with one in C, without the line that names both versions; it
   * is there if the versions differ.
   */
  static Outcome withoutVersions(Outcome ours) throws Exception {
    List<String> errors = new ArrayList<>(ours.err());
    if (!version().equals(Handshake.VERSION)) {
      String line = errors.isEmpty() ? "no line" : errors.remove(0);
      if (!line.contains("the peer is perftest " + version())) {
        throw new AssertionError("the versions differ, but the program printed: " + line);
      }
    }
    return new Outcome(ours.status(), ours.out(), errors);
  }

  private static String version() throws Exception {
    try (ChildProcess program = ChildProcess.start(List.of("ib_send_lat", "--version"))) {
      return String.join("", program.await().out()).replaceFirst("(?s).*?(\\d+\\.\\d+).*", "$1");
    }
  }
}
