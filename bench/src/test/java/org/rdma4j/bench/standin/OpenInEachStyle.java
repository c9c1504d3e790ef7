package org.rdma4j.bench.standin;

import org.rdma4j.verbs.RdmaDevice;

/** Opens the same device in one style after the other, and prints what it says of itself. */
final class OpenInEachStyle {
  private OpenInEachStyle() {}

  public static void main(String[] arguments) {
    StandInLibraries.load();
    for (CallStyle style : CallStyle.values()) {
      try (RdmaDevice device = style.open(StandIn.FAST)) {
        System.out.println(device);
      }
    }
  }
}
