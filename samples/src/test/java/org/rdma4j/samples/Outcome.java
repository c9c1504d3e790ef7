package org.rdma4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

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

  /** That it failed with that in its one line. */
  void assertFailed(String message) {
    assertThat(err).singleElement().asString().contains(message);
    assertThat(status).isEqualTo(1);
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
