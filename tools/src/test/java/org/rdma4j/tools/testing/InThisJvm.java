package org.rdma4j.tools.testing;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.Main;

/** Runs programs in the JVM of the test. */
public final class InThisJvm {
  private InThisJvm() {}

  /** Runs a program. */
  public static Outcome run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Outcome(status, out.toString().lines().toList(), err.toString().lines().toList());
  }

  /** Starts a program in another thread. */
  public static CompletableFuture<Outcome> begin(String... args) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                outcome.complete(run(args));
              } catch (RuntimeException | Error failed) {
                outcome.completeExceptionally(failed);
              }
            });
    return outcome;
  }
}
