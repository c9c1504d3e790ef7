package org.rdma4j.nio;

import java.util.List;

/**
 * The channels of a provider, for JMX: {@code org.rdma4j:type=Channels}. A second provider of the
 * process has {@code number=2} there, and so on. It is registered a second after the first channel
 * has connected or listens, if the runtime has the module {@code java.management}.
 *
 * <p>All methods may be called from any thread.
 */
public interface ChannelsMXBean {
  /**
   * Returns what is known of each channel that is open.
   *
   * @return the channels, in no order
   */
  List<ChannelState> getChannels();

  /**
   * Returns the counters of all channels, also closed ones.
   *
   * @return the counters
   */
  ChannelStatistics getStatistics();

  /**
   * Returns which devices and peers are used, and why others are not: what the log says at the
   * start.
   *
   * @return one line
   */
  String getSummary();
}
