package org.rdma4j.samples;

import java.io.PrintWriter;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.cm.EventChannel;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What ucmatose, udaddy and mckey have in common: identifiers on an event channel, with as many
 * messages for each, and lines that tell what came of it.
 */
final class NodeOptions {
  private static final Map<Class<? extends CmEvent>, Step> FAILURES =
      Map.of(
          CmEvent.AddressFailed.class, new Step("ADDR_ERROR", "rdma_resolve_addr"),
          CmEvent.RouteFailed.class, new Step("ROUTE_ERROR", "rdma_resolve_route"),
          CmEvent.ConnectFailed.class, new Step("CONNECT_ERROR", "rdma_connect"),
          CmEvent.Unreachable.class, new Step("UNREACHABLE", "rdma_connect"),
          CmEvent.Rejected.class, new Step("REJECTED", "rdma_connect"),
          CmEvent.MulticastFailed.class, new Step("MULTICAST_ERROR", "rdma_join_multicast_ex"));

  @Mixin final CmOptions common = new CmOptions();

  @Option(
      names = "-b",
      paramLabel = "ADDRESS",
      description = "the own name or address (default: any that will do)")
  @Nullable String source;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description = "how many connections there are (default: ${DEFAULT-VALUE})")
  int connections = 1;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      description = "how many messages go over each (default: ${DEFAULT-VALUE})")
  int count = 10;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      description = "the length of a message, 0 for no messages (default: ${DEFAULT-VALUE})")
  int size = 100;

  private final String program;

  /**
   * The options at their defaults.
   *
   * @param program what C's calls itself in what it prints
   */
  NodeOptions(String program) {
    this.program = program;
  }

  /** What a failure is an event of, and which call began that. */
  private record Step(String event, String call) {}

  void check() {
    common.check();
    common.checkRange("-c", connections, 1, 1 << 16);
    common.checkRange("-C", count, 0, 1 << 16);
    common.checkRange("-S", size, 0, 1 << 30);
  }

  int messages() {
    return size == 0 ? 0 : count;
  }

  /** Plays, and says that it is over, and how it ended. */
  int play(CmOptions.Play play) throws InterruptedException {
    int status = 1;
    try {
      play.play();
      status = 0;
    } finally {
      out().println("test complete");
      out().println("return status " + status);
    }
    return status;
  }

  /** Has what happens to the identifiers dealt with, which ends no wait. */
  static CmOptions.Wait watch(EventChannel channel, Consumer<CmEvent> step) {
    return timeout -> {
      channel.awaitEvent(timeout).ifPresent(step);
      return false;
    };
  }

  /** Prints the line that C prints of a failure, and throws it. */
  void requireNoFailure(CmEvent event) {
    Step failed = FAILURES.get(event.getClass());
    if (failed == null) {
      return;
    }
    say("event: RDMA_CM_EVENT_%s, error: %d".formatted(failed.event, status(event)));
    if (event instanceof CmEvent.Rejected rejected) {
      throw new ConnectionRejectedException(failed.call, rejected);
    }
    if (event instanceof CmEvent.Unreachable unreachable && unreachable.status() > 0) {
      throw new RdmaException(failed.call, unreachable.errno(), advice(unreachable.status()));
    }
    throw new RdmaException(failed.call, ((CmEvent.Failure) event).errno());
  }

  private static int status(CmEvent event) {
    if (event instanceof CmEvent.Rejected rejected) {
      return rejected.reason();
    }
    return event instanceof CmEvent.Unreachable unreachable
        ? unreachable.status()
        : -((CmEvent.Failure) event).errno();
  }

  private static String advice(int status) {
    return switch (status) {
      case CmEvent.Unreachable.SIDR_UNSUPPORTED -> "Nobody listens at that port there";
      case CmEvent.Unreachable.SIDR_REJECT -> "The program that listens there rejected it";
      default -> "The status is " + status + " of the InfiniBand connection manager";
    };
  }

  void say(String what) {
    out().println(program + ": " + what);
  }

  PrintWriter out() {
    return common.spec.commandLine().getOut();
  }
}
