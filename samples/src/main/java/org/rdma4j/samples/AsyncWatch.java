package org.rdma4j.samples;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import org.rdma4j.verbs.AsyncEvent;
import org.rdma4j.verbs.AsyncEventType;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What ibv_asyncwatch does. */
@Command(
    description =
        "Prints the asynchronous events of an RDMA device as they come, as ibv_asyncwatch does: ports"
            + " that go up and down, GIDs that change. Ctrl-C ends it.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class AsyncWatch implements Runnable {
  private static final int LONGEST_TIMEOUT = 1_000_000;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Options options;

  @Option(
      names = {"-n", "--events"},
      paramLabel = "COUNT",
      description = "end after so many events (default: never)")
  int events;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "give up when none came for so long (default: never)")
  int timeoutSeconds;

  @Override
  public void run() {
    Options.checkRange(spec, "-n", events, 0, Integer.MAX_VALUE);
    Options.checkRange(spec, "--timeout", timeoutSeconds, 0, LONGEST_TIMEOUT);
    PrintWriter out = spec.commandLine().getOut();
    try (RdmaDevice device = options.open()) {
      out.println(device.info().name() + ": async event FD " + device.asyncEventFileDescriptor());
      for (int seen = 0; events == 0 || seen < events; seen++) {
        out.println("  " + text(next(device)));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while it waited for an event", interrupted);
    }
  }

  private AsyncEvent next(RdmaDevice device) throws InterruptedException {
    Duration timeout = Duration.ofSeconds(timeoutSeconds == 0 ? LONGEST_TIMEOUT : timeoutSeconds);
    while (true) {
      Optional<AsyncEvent> event = device.awaitAsyncEvent(timeout);
      if (event.isPresent()) {
        return event.get();
      }
      if (timeoutSeconds != 0) {
        throw new Failure("no event came for %d s".formatted(timeoutSeconds));
      }
    }
  }

  private static String text(AsyncEvent event) {
    int port = event instanceof AsyncEvent.OfPort ofPort ? ofPort.port() : 0;
    return "event_type %s (%d), port %d".formatted(name(event.type()), event.type().value(), port);
  }

  /** The name in C of what a watch can see, which is not those of objects that it has not. */
  private static String name(AsyncEventType type) {
    return switch (type) {
      case DEVICE_FATAL -> "IBV_EVENT_DEVICE_FATAL";
      case PORT_ACTIVE -> "IBV_EVENT_PORT_ACTIVE";
      case PORT_ERROR -> "IBV_EVENT_PORT_ERR";
      case LID_CHANGE -> "IBV_EVENT_LID_CHANGE";
      case PARTITION_KEY_CHANGE -> "IBV_EVENT_PKEY_CHANGE";
      case SUBNET_MANAGER_CHANGE -> "IBV_EVENT_SM_CHANGE";
      case CLIENT_REREGISTER -> "IBV_EVENT_CLIENT_REREGISTER";
      case GID_CHANGE -> "IBV_EVENT_GID_CHANGE";
      default -> type.name();
    };
  }
}
