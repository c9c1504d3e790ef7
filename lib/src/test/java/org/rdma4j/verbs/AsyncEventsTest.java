package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.Command;
import org.rdma4j.verbs.address.GidEntry;

/** The asynchronous events that soft-RoCE raises, and how a wait for them ends. */
@Tag("device")
final class AsyncEventsTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private Loopback loopback;
  private RdmaDevice device;

  @BeforeEach
  void connect() {
    loopback = Loopback.connected();
    device = loopback.device;
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @Test
  void aCompletionQueueThatOverrunsIsNamed() throws InterruptedException {
    CompletionQueue tooShort = overrun();
    AsyncEvent event = await(AsyncEvent.OfCompletionQueue.class::isInstance);
    assertThat(event)
        .isEqualTo(
            new AsyncEvent.OfCompletionQueue(
                AsyncEventType.COMPLETION_QUEUE_ERROR, Optional.of(tooShort)));
  }

  @Test
  void anUnreadEventDoesNotKeepItsQueueFromClosing() throws InterruptedException {
    CompletionQueue tooShort = overrun();
    tooShort.close();
    assertThat(device.awaitAsyncEvent(Duration.ofMillis(100))).isNotPresent();
  }

  @Test
  void aReadEventDoesNotKeepItsQueueFromClosing() throws InterruptedException {
    CompletionQueue tooShort = overrun();
    await(AsyncEvent.OfCompletionQueue.class::isInstance);
    tooShort.close();
    assertThatThrownBy(tooShort::handle).isInstanceOf(IllegalStateException.class);
  }

  /** Returns a short completion queue that has more completions than a page of entries can hold. */
  private CompletionQueue overrun() {
    CompletionQueue tooShort = device.createCompletionQueue(1);
    QueuePair queuePair =
        loopback.domain.createQueuePair(
            QueuePairConfig.reliable(tooShort).receiveDepth(1024).ignoreOverrun(true));
    queuePair.initialize(1, 0);
    ReceiveRequests receives = queuePair.receiveRequests(1);
    int more = Math.min(tooShort.capacity() + 64, queuePair.capabilities().receiveDepth());
    assertThat(more).isGreaterThan(tooShort.capacity());
    for (int i = 0; i < more; i++) {
      receives.add(i).into(loopback.a.region, 0, 1).post();
    }
    queuePair.toError();
    return tooShort;
  }

  @Tag("needs-queue-pair-states")
  @Test
  void aSendQueueThatIsDrainedIsNamed() throws InterruptedException {
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    Thread.sleep(100);
    loopback.a.queuePair.drainSendQueue();
    loopback.b.receive(1, 0, 64);
    assertThat(await(AsyncEvent.OfQueuePair.class::isInstance))
        .isEqualTo(
            new AsyncEvent.OfQueuePair(
                AsyncEventType.SEND_QUEUE_DRAINED,
                loopback.a.queuePair.number(),
                Optional.of(loopback.a.queuePair)));
  }

  @Tag("kernel")
  @Tag("needs-ip-gids")
  @Test
  void aChangeOfTheGidTableNamesThePort() throws Exception {
    GidEntry entry = device.port(1).gids().getFirst();
    String networkInterface =
        Files.readString(
                Path.of(device.info().systemPath(), "ports/1/gid_attrs/ndevs/" + entry.index()))
            .strip();
    Command.output("ip", "address", "add", "198.51.100.77/32", "dev", networkInterface);
    try {
      assertThat(await(event -> event.type() == AsyncEventType.GID_CHANGE))
          .isEqualTo(new AsyncEvent.OfPort(AsyncEventType.GID_CHANGE, 1));
    } finally {
      Command.output("ip", "address", "delete", "198.51.100.77/32", "dev", networkInterface);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anEventWakesTheThreadThatWaits(boolean virtual) throws Exception {
    FutureTask<Optional<AsyncEvent>> waiting = start(virtual, LONG);
    Thread.sleep(100);
    assertThat(waiting.isDone()).isFalse();
    overrun();
    assertThat(waiting.get(60, TimeUnit.SECONDS)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWaitEndsAtItsTimeout(boolean virtual) throws Exception {
    long started = System.nanoTime();
    FutureTask<Optional<AsyncEvent>> waiting = start(virtual, Duration.ofMillis(200));
    assertThat(waiting.get(60, TimeUnit.SECONDS)).isEmpty();
    assertThat(System.nanoTime() - started).isGreaterThanOrEqualTo(200_000_000);
  }

  @Test
  void aTimeoutOfZeroDoesNotWait() throws InterruptedException {
    assertThat(device.awaitAsyncEvent(Duration.ZERO)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInterruptEndsTheWait(boolean virtual) throws Exception {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Thread waiter =
        thread(
            virtual,
            () -> {
              try {
                device.awaitAsyncEvent(LONG);
                thrown.complete(new AssertionError("no exception"));
              } catch (Throwable expected) {
                thrown.complete(expected);
              }
            });
    Thread.sleep(100);
    waiter.interrupt();
    assertThat(thrown.get(30, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closingTheDeviceEndsTheWait(boolean virtual) throws Exception {
    FutureTask<Optional<AsyncEvent>> waiting = start(virtual, LONG);
    Thread.sleep(100);
    device.close();
    assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("device " + device.info().name());
  }

  @Test
  void aWaitOnAClosedDeviceIsRefused() {
    device.close();
    assertThatThrownBy(() -> device.awaitAsyncEvent(LONG))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(device::asyncEventFileDescriptor).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aNegativeTimeoutIsRefused() {
    assertThatThrownBy(() -> device.awaitAsyncEvent(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1 ms");
  }

  @Test
  void theDescriptorBecomesReadableWithAnEvent() throws InterruptedException {
    overrun();
    assertThat(
            org.rdma4j.platform.Readiness.await(
                device.asyncEventFileDescriptor(), System.nanoTime() + LONG.toNanos(), () -> false))
        .isTrue();
  }

  @Test
  void queuesAreClosedWhileOtherThreadsReadTheirEvents() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    CompletableFuture<Void> stop = new CompletableFuture<>();
    List<FutureTask<Boolean>> readers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      FutureTask<Boolean> reader =
          new FutureTask<>(
              () -> {
                while (!stop.isDone()) {
                  if (device.awaitAsyncEvent(Duration.ofMillis(10)).isPresent()) {
                    seen.incrementAndGet();
                  }
                }
                return true;
              });
      thread(i == 1, reader);
      readers.add(reader);
    }
    // Closing a queue discards its unread events. If the device is fast, no reader may have seen an
    // event after 30 rounds.
    long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
    for (int i = 0; i < 30 || (seen.get() == 0 && System.nanoTime() < deadline); i++) {
      overrun().close();
    }
    stop.complete(null);
    for (FutureTask<Boolean> reader : readers) {
      assertThat(reader.get(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(seen).hasPositiveValue();
  }

  private AsyncEvent await(Predicate<AsyncEvent> wanted) throws InterruptedException {
    long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
    List<AsyncEvent> others = new ArrayList<>();
    while (true) {
      Optional<AsyncEvent> event =
          device.awaitAsyncEvent(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
      assertThat(event).as("an event besides %s", others).isPresent();
      if (wanted.test(event.get())) {
        return event.get();
      }
      others.add(event.get());
    }
  }

  private FutureTask<Optional<AsyncEvent>> start(boolean virtual, Duration timeout) {
    FutureTask<Optional<AsyncEvent>> task = new FutureTask<>(() -> device.awaitAsyncEvent(timeout));
    thread(virtual, task);
    return task;
  }

  private static Thread thread(boolean virtual, Runnable body) {
    return virtual ? Thread.ofVirtual().start(body) : Thread.ofPlatform().daemon().start(body);
  }
}
