package org.rdma4j.nio;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The channels of a provider as an operator sees them by JMX. */
final class ChannelsBean implements ChannelsMXBean {
  /** Programs that end before that are not delayed by the start of JMX, which takes long. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final boolean HAS_MANAGEMENT =
      ModuleLayer.boot().findModule("java.management").isPresent();

  private final Rendezvous rendezvous;
  private final AtomicBoolean begun = new AtomicBoolean(!HAS_MANAGEMENT);
  private @Nullable Runnable removal;
  private boolean closed;

  ChannelsBean(Rendezvous rendezvous) {
    this.rendezvous = rendezvous;
  }

  /** Registers itself, soon, unless that has begun. */
  void registerSoon() {
    if (!begun.getAndSet(true)) {
      var unused = rendezvous.later(PAUSE, this::startToRegister);
    }
  }

  private void startToRegister() {
    // Not in the thread of the timer, for which others wait.
    var unused = ChannelThreads.start("rdma4j-nio-jmx", this::registerNow);
  }

  private synchronized void registerNow() {
    if (!closed) {
      removal = Monitoring.register(this);
    }
  }

  synchronized void close() {
    closed = true;
    if (removal != null) {
      removal.run();
    }
  }

  @Override
  public List<ChannelState> getChannels() {
    return rendezvous.register().states();
  }

  @Override
  public ChannelStatistics getStatistics() {
    return rendezvous.statistics();
  }

  @Override
  public String getSummary() {
    return rendezvous.summary();
  }
}
