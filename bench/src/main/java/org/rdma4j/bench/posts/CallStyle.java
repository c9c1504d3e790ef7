package org.rdma4j.bench.posts;

import java.util.Locale;
import org.rdma4j.verbs.RdmaDevice;

/** How posts and polls call C, which the library reads from a system property at each open. */
enum CallStyle {
  /** The JVM changes the state of the thread around the call. */
  PLAIN,
  /** The thread keeps its state. */
  CRITICAL;

  private static final String PROPERTY = "org.rdma4j.calls";

  /**
   * Opens a device whose posts and polls call C in this way.
   *
   * @param device the name of the device
   * @return the open device
   */
  RdmaDevice open(String device) {
    synchronized (CallStyle.class) {
      System.setProperty(PROPERTY, name().toLowerCase(Locale.ROOT));
      try {
        return RdmaDevice.open(device);
      } finally {
        System.clearProperty(PROPERTY);
      }
    }
  }
}
