package org.rdma4j.lifetime;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import org.jspecify.annotations.Nullable;

/**
 * Reports each object that became unreachable while it was open, as a warning of the logger {@code
 * org.rdma4j}. The object is not closed, because objects must be closed in the right order, which
 * the garbage collector does not know.
 *
 * <p>If the system property {@code org.rdma4j.leaks} is {@code stack}, the report contains the
 * stack trace of the creation of the object. This costs some microseconds for each creation.
 */
public final class Leaks {
  private static final boolean STACKS = "stack".equals(System.getProperty("org.rdma4j.leaks"));
  private static final Cleaner CLEANER = Cleaner.create();

  private Leaks() {}

  /**
   * Watches an object that users hold and whose native object has the given lifetime, until it is
   * closed. It must end then, because the report refers to everything that the object depends on:
   * otherwise each garbage collection would free only those of the closed objects that no other one
   * depends on. An object that was {@linkplain Lifetime#leaveToParent left to its parent} is not
   * reported.
   */
  public static void watch(Object held, Lifetime lifetime) {
    Report report = new Report(lifetime, STACKS ? new Created() : null);
    lifetime.onClose(CLEANER.register(held, report)::clean);
  }

  private record Report(Lifetime lifetime, @Nullable Created created) implements Runnable {
    @Override
    public void run() {
      // What depends on a closing object is still open while younger ones are destroyed.
      if (!lifetime.isClosing() && !lifetime.isLeftToParent()) {
        System.getLogger("org.rdma4j")
            .log(
                Level.WARNING,
                lifetime
                    + " was never closed"
                    + (created == null
                        ? "; use -Dorg.rdma4j.leaks=stack to see where it was created"
                        : ""),
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
