package org.rdma4j.lifetime;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import org.jspecify.annotations.Nullable;

/**
 * Reports objects that became unreachable while open: once each, as a warning of the logger {@code
 * org.rdma4j}. It does not close them: what depends on the order of closing cannot be left to the
 * garbage collector.
 *
 * <p>With the system property {@code org.rdma4j.leaks} set to {@code stack} the report has the
 * stack that created the object, for some microseconds at each creation.
 */
public final class Leaks {
  private static final boolean STACKS = "stack".equals(System.getProperty("org.rdma4j.leaks"));
  private static final Cleaner CLEANER = Cleaner.create();

  private Leaks() {}

  /**
   * Watches the object that users hold, whose native object has that life. A close ends that: the
   * report keeps what the object depends on, so that of closed objects each collection would free
   * only those that no other depends on.
   */
  public static void watch(Object held, Lifetime lifetime) {
    Report report = new Report(lifetime, STACKS ? new Created() : null);
    lifetime.watchedUntilClosed(CLEANER.register(held, report)::clean);
  }

  private record Report(Lifetime lifetime, @Nullable Created created) implements Runnable {
    @Override
    public void run() {
      if (lifetime.isOpen()) {
        System.getLogger("org.rdma4j")
            .log(
                Level.WARNING,
                lifetime
                    + " was never closed"
                    + (created == null ? "; -Dorg.rdma4j.leaks=stack tells who created it" : ""),
                created);
      }
    }
  }

  private static final class Created extends Exception {
    private static final long serialVersionUID = 1L;

    Created() {
      super("created here");
    }
  }
}
