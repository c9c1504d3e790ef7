package org.rdma4j.valkey;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.EventChannel;

/**
 * The thread that looks after all connections of the process: it reads the events of the connection
 * manager, and visits each connection once a second. It exists while there is a connection.
 */
final class LinkUpkeep {
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final ReentrantLock LOCK = new ReentrantLock();

  /** Guarded by LOCK. */
  private static @Nullable LinkUpkeep current;

  private final EventChannel channel = EventChannel.open();
  private final Map<CmId, Attended> links = new ConcurrentHashMap<>();

  private LinkUpkeep() {}

  /** A connection, and the socket without which nothing uses it. */
  private record Attended(ValkeyLink link, WeakReference<Object> socket) {}

  /**
   * Looks after a connection until {@link #remove}. If its socket is dropped without being closed,
   * the connection is closed.
   */
  static void add(ValkeyLink link, Object socket) {
    LOCK.lock();
    try {
      LinkUpkeep upkeep = current;
      if (upkeep == null) {
        upkeep = new LinkUpkeep();
        current = upkeep;
        Thread.ofPlatform()
            .daemon()
            .name("rdma4j-valkey")
            .inheritInheritableThreadLocals(false)
            .start(upkeep::run);
      }
      upkeep.links.put(link.id(), new Attended(link, new WeakReference<>(socket)));
      link.id().migrate(upkeep.channel);
    } finally {
      LOCK.unlock();
    }
  }

  /** Stops to look after a connection, which is closed. */
  static void remove(ValkeyLink link) {
    LOCK.lock();
    try {
      LinkUpkeep upkeep = current;
      if (upkeep != null && upkeep.links.remove(link.id()) != null && upkeep.links.isEmpty()) {
        current = null;
        upkeep.channel.close();
      }
    } finally {
      LOCK.unlock();
    }
  }

  private void run() {
    long next = System.nanoTime() + TICK.toNanos();
    while (true) {
      long nanos = next - System.nanoTime();
      if (nanos <= 0) {
        next += TICK.toNanos();
        links.values().forEach(LinkUpkeep::visit);
      }
      try {
        channel.awaitEvent(Duration.ofNanos(Math.max(nanos, 0))).ifPresent(this::handle);
      } catch (InterruptedException ignored) {
        // Nothing interrupts this thread but a program that ends all threads.
      } catch (IllegalStateException closed) {
        return;
      } catch (RuntimeException failed) {
        links.values().forEach(each -> each.link.ended("the connection manager failed: " + failed));
        // If it fails again and again, this must not take a processor.
        LockSupport.parkNanos(TICK.toNanos());
      }
    }
  }

  private static void visit(Attended attended) {
    if (!attended.socket.refersTo(null)) {
      attended.link.tick();
      return;
    }
    try {
      attended.link.close();
    } catch (RuntimeException failed) {
      System.getLogger("org.rdma4j.valkey")
          .log(System.Logger.Level.WARNING, "a socket that was dropped cannot be closed", failed);
    } finally {
      remove(attended.link);
    }
  }

  private void handle(CmEvent event) {
    Attended attended = links.get(event.id());
    if (attended == null) {
      return;
    }
    if (event instanceof CmEvent.Disconnected) {
      attended.link.ended("the server closed the connection");
    } else if (event instanceof CmEvent.DeviceRemoved) {
      attended.link.ended("the RDMA device was removed");
    }
  }
}
