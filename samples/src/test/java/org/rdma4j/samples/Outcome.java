package org.rdma4j.samples;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What a run of a subcommand in this JVM came to. */
record Outcome(int status, List<String> out, List<String> err) {
  static Outcome of(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Outcome(status, out.toString().lines().toList(), err.toString().lines().toList());
  }

  /** In a thread of its own, as each side of a game needs one. */
  static CompletableFuture<Outcome> begin(String... args) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                outcome.complete(of(args));
              } catch (RuntimeException | Error failed) {
                outcome.completeExceptionally(failed);
              }
            });
    return outcome;
  }
}
