package org.rdma4j.tools.cm;

import java.io.PrintWriter;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.tools.cm.StepTimes.Step;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.QueuePair;

/**
 * The client of cmtime: one thread takes each step for all connections before it takes the next
 * step, while another thread reads the events.
 */
final class CmtimeClient {
  private static final Duration UNLIMITED = Duration.ofHours(1);

  private final Cmtime options;
  private final EventChannel channel;
  private final AddressInfo peer;
  private final SocketAddress destination;
  private final PrintWriter out;
  private final Duration resolveTimeout;
  private final StepTimes times;
  private final List<Node> nodes = new ArrayList<>();
  private final Map<CmId, Node> nodesById = new HashMap<>();
  private final CmtimeQueuePairs queuePairs = new CmtimeQueuePairs();

  /** A permit for each connection whose awaited event has arrived. */
  private final Semaphore arrivals = new Semaphore(0);

  private volatile @Nullable RuntimeException failure;

  CmtimeClient(Cmtime options, EventChannel channel, AddressInfo peer, PrintWriter out) {
    this.out = out;
    this.options = options;
    this.channel = channel;
    this.peer = peer;
    this.destination = AddressLookup.destination(peer);
    this.resolveTimeout = Duration.ofMillis(options.resolveMillis);
    this.times = new StepTimes(options.connections);
  }

  /** A connection. Its lock guards the fields that the thread of the events changes. */
  private final class Node {
    private final int index;
    private final CmId id;
    private int retries;
    private @Nullable Step awaited;
    private boolean failed;

    Node(int index) {
      this.index = index;
      this.id = channel.createId(peer.space());
    }

    synchronized boolean failed() {
      return failed;
    }

    /** Sets the step whose event is awaited next, and returns whether the connection is usable. */
    synchronized boolean begin(Step step) {
      if (failed) {
        return false;
      }
      awaited = step;
      retries = options.retries;
      times.begin(step, index, System.nanoTime());
      return true;
    }

    synchronized void complete(Step step) {
      if (awaited == step) {
        times.end(step, index, System.nanoTime());
        awaited = null;
        arrivals.release();
      } else if (!failed) {
        fail("a peer disconnected early");
      }
    }

    synchronized void retryOrFail(Runnable step, String description) {
      if (retries-- == 0) {
        fail(description);
        return;
      }
      try {
        step.run();
      } catch (RdmaException refused) {
        fail(description);
      }
    }

    synchronized void fail(String description) {
      out.println(description);
      failed = true;
      if (awaited != null) {
        awaited = null;
        arrivals.release();
      }
    }

    void resolveAddress() {
      id.resolveAddress(peer.source(), destination, resolveTimeout);
    }

    void resolveRoute() {
      id.resolveRoute(resolveTimeout);
    }

    void createQueuePair() {
      queuePairs.create(id);
    }

    void connect() {
      id.connect(
          ConnectionConfig.DEFAULT
              .remoteReads(1)
              .reads(1)
              .retries(options.retries)
              .rnrRetries(0)
              .privateData(peer.connectData()));
    }

    void disconnect() {
      id.disconnect();
      id.queuePair().ifPresent(QueuePair::close);
    }
  }

  void run() throws InterruptedException {
    Thread events = Thread.ofPlatform().daemon().name("cmtime-events").unstarted(this::readEvents);
    try {
      measure(Step.CREATE_ID, "creating id", this::createIds);
      events.start();
      SocketAddress local = peer.source();
      if (options.source != null && local != null) {
        take(Step.BIND, "binding source address", node -> node.id.bind(local));
      }
      takeAndAwait(Step.RESOLVE_ADDRESS, "resolving address", Node::resolveAddress);
      takeAndAwait(Step.RESOLVE_ROUTE, "resolving route", Node::resolveRoute);
      take(Step.CREATE_QUEUE_PAIR, "creating qp", Node::createQueuePair);
      takeAndAwait(Step.CONNECT, "connecting", Node::connect);
      takeAndAwait(Step.DISCONNECT, "disconnecting", Node::disconnect);
    } finally {
      events.interrupt();
      events.join(options.common.timeout());
      queuePairs.close();
    }
    measure(Step.DESTROY, "destroying id", this::destroyIds);
    times.table().forEach(out::println);
    long failed = nodes.stream().filter(Node::failed).count();
    if (failed > 0) {
      throw new Failure("%d of %d connections failed".formatted(failed, nodes.size()));
    }
  }

  /** Takes a step for all connections. */
  private interface StepOfAll {
    void run() throws InterruptedException;
  }

  private void measure(Step step, String description, StepOfAll all) throws InterruptedException {
    out.println(description);
    times.beginAll(step, System.nanoTime());
    all.run();
    times.endAll(step, System.nanoTime());
  }

  private void createIds() {
    for (int i = 0; i < options.connections; i++) {
      times.begin(Step.CREATE_ID, i, System.nanoTime());
      Node node = new Node(i);
      times.end(Step.CREATE_ID, i, System.nanoTime());
      nodes.add(node);
      nodesById.put(node.id, node);
    }
  }

  private void destroyIds() {
    for (Node node : nodes) {
      times.begin(Step.DESTROY, node.index, System.nanoTime());
      node.id.close();
      times.end(Step.DESTROY, node.index, System.nanoTime());
    }
  }

  /** Takes a step that is complete when the call returns. */
  private void take(Step step, String description, Consumer<Node> call)
      throws InterruptedException {
    takeAndAwait(
        step,
        description,
        node -> {
          call.accept(node);
          node.complete(step);
        });
  }

  /** Takes a step that an event completes. */
  private void takeAndAwait(Step step, String description, Consumer<Node> call)
      throws InterruptedException {
    measure(
        step,
        description,
        () -> {
          int begun = 0;
          for (Node node : nodes) {
            if (node.begin(step)) {
              begun++;
              begin(node, description, call);
            }
          }
          awaitArrivals(begun, description);
        });
  }

  private static void begin(Node node, String description, Consumer<Node> call) {
    try {
      call.accept(node);
    } catch (RdmaException refused) {
      node.fail("failure " + description + ": " + refused.getMessage());
    }
  }

  private void awaitArrivals(int count, String description) throws InterruptedException {
    boolean arrived =
        arrivals.tryAcquire(count, options.common.timeout().toSeconds(), TimeUnit.SECONDS);
    if (failure != null) {
      throw failure;
    }
    if (!arrived) {
      throw options.common.late(description);
    }
  }

  private void readEvents() {
    try {
      while (true) {
        channel.awaitEvent(UNLIMITED).ifPresent(this::take);
      }
    } catch (InterruptedException ended) {
      // The main thread interrupts this one when no more events are needed.
    } catch (RuntimeException failed) {
      failure = failed;
      arrivals.release(nodes.size());
    }
  }

  private void take(CmEvent event) {
    Node node = nodesById.get(event.id());
    if (node == null) {
      return;
    }
    if (event instanceof CmEvent.AddressResolved) {
      node.complete(Step.RESOLVE_ADDRESS);
    } else if (event instanceof CmEvent.RouteResolved) {
      node.complete(Step.RESOLVE_ROUTE);
    } else if (event instanceof CmEvent.Established) {
      node.complete(Step.CONNECT);
    } else if (event instanceof CmEvent.Disconnected) {
      node.complete(Step.DISCONNECT);
    } else if (event instanceof CmEvent.AddressFailed failed) {
      node.retryOrFail(node::resolveAddress, "RDMA_CM_EVENT_ADDR_ERROR, error: " + -failed.errno());
    } else if (event instanceof CmEvent.RouteFailed failed) {
      node.retryOrFail(node::resolveRoute, "RDMA_CM_EVENT_ROUTE_ERROR, error: " + -failed.errno());
    } else if (event instanceof CmEvent.ConnectFailed failed) {
      node.fail("event: RDMA_CM_EVENT_CONNECT_ERROR, error: " + -failed.errno());
    } else if (event instanceof CmEvent.Unreachable failed) {
      node.fail("event: RDMA_CM_EVENT_UNREACHABLE, error: " + failed.status());
    } else if (event instanceof CmEvent.Rejected rejected) {
      node.fail("event: RDMA_CM_EVENT_REJECTED, error: " + rejected.reason());
    } else if (event instanceof CmEvent.DeviceRemoved) {
      node.fail("event: RDMA_CM_EVENT_DEVICE_REMOVAL, error: 0");
    }
  }
}
