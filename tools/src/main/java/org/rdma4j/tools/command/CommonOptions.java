package org.rdma4j.tools.command;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.WorkCompletionException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options of every program that finds its peer with the connection manager, and the waits that
 * {@code --timeout} limits.
 */
public final class CommonOptions {
  /** How often a wait checks whether it was ended. */
  private static final Duration SLICE = Duration.ofMillis(20);

  private static final Duration UNLIMITED = Duration.ofHours(1);

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Mixin final TimeoutOption timeout = new TimeoutOption();

  @Mixin final DebugOption debug = new DebugOption();

  /** A wait for a client. */
  public interface Accept<C> {
    /**
     * Waits for a client.
     *
     * @param timeout the longest time to wait
     * @return the client, or nothing if none came
     * @throws InterruptedException if the thread is interrupted
     */
    Optional<C> await(Duration timeout) throws InterruptedException;
  }

  /** A wait for an event. */
  public interface Wait {
    /**
     * Waits for the event.
     *
     * @param timeout the longest time to wait
     * @return whether it happened
     * @throws InterruptedException if the thread is interrupted
     */
    boolean await(Duration timeout) throws InterruptedException;
  }

  /** Checks the ranges of the options. */
  public void check() {
    timeout.check();
  }

  /**
   * Checks that the value of an option of the program is within its range.
   *
   * @param option the name of the option
   * @param value its value
   * @param min the smallest valid value
   * @param max the largest valid value
   */
  public void checkRange(String option, int value, int min, int max) {
    OptionRange.check(spec, option, value, min, max);
  }

  /**
   * Returns an exception for wrong usage.
   *
   * @param message what is wrong
   * @return the exception to throw
   */
  public ParameterException misuse(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /**
   * Returns the standard output of the program.
   *
   * @return where it prints its results
   */
  public PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /**
   * Returns the standard error of the program.
   *
   * @return where it prints its failures
   */
  public PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /**
   * Returns how long to wait for the peer.
   *
   * @return the longest time that one step may take
   */
  public Duration timeout() {
    return timeout.timeout();
  }

  /**
   * Returns the address of a host.
   *
   * @param host its name or address, or null for all addresses of this machine
   * @param port the port
   * @return the resolved address
   * @throws Failure if there is no such host
   */
  public static InetSocketAddress address(@Nullable String host, int port) {
    if (host == null) {
      return new InetSocketAddress(port);
    }
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException unknown) {
      throw new Failure("no host is named \"%s\"".formatted(host), unknown);
    }
  }

  /**
   * Waits for a client.
   *
   * @param <C> the type of a client
   * @param accept the wait
   * @param unlimited whether to wait forever rather than for the timeout
   * @return the client
   * @throws InterruptedException if the thread is interrupted
   * @throws Failure if no client came in time
   */
  public <C> C awaitClient(Accept<C> accept, boolean unlimited) throws InterruptedException {
    while (true) {
      Optional<C> client = accept.await(unlimited ? UNLIMITED : timeout());
      if (client.isPresent()) {
        return client.get();
      }
      if (!unlimited) {
        throw noClient();
      }
    }
  }

  /**
   * Waits for an event.
   *
   * @param what the event, for messages
   * @param event the wait
   * @throws InterruptedException if the thread is interrupted
   * @throws Failure if a request failed, or the event did not happen in time
   */
  public void await(String what, Wait event) throws InterruptedException {
    await(what, event, never -> false);
  }

  /**
   * Waits for an event, until another event ends the wait.
   *
   * @param what the first event, for messages
   * @param event the wait for it
   * @param end the wait for the other one
   * @return whether the first one happened
   * @throws InterruptedException if the thread is interrupted
   * @throws Failure if a request failed, or neither event happened in time
   */
  public boolean await(String what, Wait event, Wait end) throws InterruptedException {
    long began = System.nanoTime();
    try {
      while (!event.await(SLICE)) {
        if (end.await(Duration.ZERO)) {
          return false;
        }
        if (System.nanoTime() - began > timeout().toNanos()) {
          throw late(what);
        }
      }
      return true;
    } catch (WorkCompletionException failed) {
      throw new Failure(
          "%s failed with %s; check the peer's output".formatted(what, failed.status()), failed);
    }
  }

  /**
   * Returns a failure for a client that did not come in time.
   *
   * @return the exception to throw
   */
  public Failure noClient() {
    return new Failure(
        "no client connected within %d s; start the client, or wait longer with --timeout"
            .formatted(timeout.seconds()));
  }

  /**
   * Returns a failure for an event that did not happen in time.
   *
   * @param what the event
   * @return the exception to throw
   */
  public Failure late(String what) {
    return late(what, timeout());
  }

  /**
   * Returns a failure for an event that did not happen in time.
   *
   * @param what the event
   * @param timeout how long it was waited for
   * @return the exception to throw
   */
  public static Failure late(String what, Duration timeout) {
    return new Failure(
        "%s did not complete within %d s; check the peer's output, or wait longer with --timeout"
            .formatted(what, timeout.toSeconds()));
  }

  /**
   * Prints a failure that concerns one client and no other.
   *
   * @param what what failed
   * @param failure why
   */
  public void report(String what, Exception failure) {
    err().println(what + ": " + Failure.describe(failure));
  }
}
