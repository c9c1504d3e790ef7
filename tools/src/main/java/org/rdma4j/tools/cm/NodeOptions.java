package org.rdma4j.tools.cm;

import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.tools.command.CommonOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What ucmatose, udaddy and mckey share: several identifiers on one event channel, the same number
 * of messages for each of them, and the lines of output.
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

  @Mixin final CommonOptions common = new CommonOptions();

  @Option(
      names = "-b",
      paramLabel = "ADDRESS",
      description = "the local name or address (default: chosen by the system)")
  @Nullable String source;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      description = "the number of messages for each queue pair (default: ${DEFAULT-VALUE})")
  int count = 10;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      description = "the length of a message, or 0 to send no messages (default: ${DEFAULT-VALUE})")
  int size = 100;

  private final String program;

  /**
   * Creates the options with their defaults.
   *
   * @param program the name that the program in C prints
   */
  NodeOptions(String program) {
    this.program = program;
  }

  /** The name of a failure event, and the call that led to it. */
  private record Step(String event, String call) {}

  void check() {
    common.check();
    common.checkRange("-C", count, 0, 1 << 16);
    common.checkRange("-S", size, 0, 1 << 30);
  }

  int messages() {
    return size == 0 ? 0 : count;
  }

  /** Runs an exchange and prints that it is complete and its status, as C does. */
  int run(Exchange exchange) throws InterruptedException, TimeoutException {
    int status = 1;
    try {
      exchange.run();
      status = 0;
    } finally {
      out().println("test complete");
      out().println("return status " + status);
    }
    return status;
  }

  /** Returns a wait that handles the events of a channel and never ends another wait. */
  static CommonOptions.Wait watch(EventChannel channel, Consumer<CmEvent> handler) {
    return timeout -> {
      channel.awaitEvent(timeout).ifPresent(handler);
      return false;
    };
  }

  /**
   * If an event is a failure, prints the line that C prints, and throws an exception.
   *
   * @param server whether this side accepts connections rather than making them
   */
  void requireNoFailure(CmEvent event, boolean server) {
    Step failed = FAILURES.get(event.getClass());
    if (failed == null) {
      return;
    }
    String call = server && failed.call.equals("rdma_connect") ? "rdma_accept" : failed.call;
    say("event: RDMA_CM_EVENT_%s, error: %d".formatted(failed.event, status(event)));
    if (event instanceof CmEvent.Rejected rejected) {
      throw new ConnectionRejectedException(call, rejected);
    }
    if (event instanceof CmEvent.Unreachable unreachable && unreachable.status() > 0) {
      throw new RdmaException(call, unreachable.errno(), advice(unreachable.status()));
    }
    throw new RdmaException(call, ((CmEvent.Failure) event).errno());
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
      case CmEvent.Unreachable.SIDR_UNSUPPORTED -> "No program listens on that port";
      case CmEvent.Unreachable.SIDR_REJECT ->
          "The program that listens there rejected the connection";
      default -> "The status is " + status + " of the InfiniBand connection manager";
    };
  }

  void say(String what) {
    out().println(program + ": " + what);
  }

  PrintWriter out() {
    return common.out();
  }
}
