package org.rdma4j.samples.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.rdma4j.samples.Main;

/** The exit status and the output of a program. */
public record Outcome(int status, List<String> out, List<String> err) {
  /** Runs a program in this JVM. */
  public static Outcome of(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Outcome(status, out.toString().lines().toList(), err.toString().lines().toList());
  }

  /** Starts a program in another thread of this JVM. */
  public static CompletableFuture<Outcome> begin(String... args) {
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

  /** Asserts that the program failed, and that its only line of errors contains the message. */
  public void assertFailed(String message) {
    assertThat(err).singleElement().asString().contains(message);
    assertThat(status).isEqualTo(1);
  }
}
