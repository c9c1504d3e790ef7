package org.rdma4j.tools.devices;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import org.rdma4j.tools.command.DeviceOptions;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.OptionRange;
import org.rdma4j.tools.command.Version;
import org.rdma4j.verbs.AsyncEvent;
import org.rdma4j.verbs.AsyncEventType;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Does what ibv_asyncwatch does. */
@Command(
    description = {
      "Prints the asynchronous events of an RDMA device as they happen, as ibv_asyncwatch does: for"
          + " example ports that go up or down, and GIDs that change.",
      "Ctrl-C ends it."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class AsyncWatch implements Runnable {
  private static final int MAX_TIMEOUT_SECONDS = 1_000_000;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final DeviceOptions options = new DeviceOptions();

  @Option(
      names = {"-n", "--events"},
      paramLabel = "COUNT",
      description = "exit after this many events (default: never)")
  int events;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "fail if no event happens for this long (default: never)")
  int timeoutSeconds;

  @Override
  public void run() {
    OptionRange.check(spec, "-n", events, 0, Integer.MAX_VALUE);
    OptionRange.check(spec, "--timeout", timeoutSeconds, 0, MAX_TIMEOUT_SECONDS);
    PrintWriter out = spec.commandLine().getOut();
    try (RdmaDevice device = options.open()) {
      out.println(device.info().name() + ": async event FD " + device.asyncEventFileDescriptor());
      for (int seen = 0; events == 0 || seen < events; seen++) {
        out.println("  " + text(next(device)));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while waiting for an event", interrupted);
    }
  }

  private AsyncEvent next(RdmaDevice device) throws InterruptedException {
    Duration timeout =
        Duration.ofSeconds(timeoutSeconds == 0 ? MAX_TIMEOUT_SECONDS : timeoutSeconds);
    while (true) {
      Optional<AsyncEvent> event = device.awaitAsyncEvent(timeout);
      if (event.isPresent()) {
        return event.get();
      }
      if (timeoutSeconds != 0) {
        throw new Failure("no event happened for %d s".formatted(timeoutSeconds));
      }
    }
  }

  private static String text(AsyncEvent event) {
    int port = event instanceof AsyncEvent.OfPort ofPort ? ofPort.port() : 0;
    return "event_type %s (%d), port %d".formatted(name(event.type()), event.type().value(), port);
  }

  /**
   * Returns the name of an event in C. Events of queues do not occur, since this program creates
   * none.
   */
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
