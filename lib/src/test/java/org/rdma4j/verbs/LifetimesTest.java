package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.memory.SlabPool;

/** In which order and from which threads objects are closed, and what is refused afterwards. */
@Tag("device")
@Tag("in-place")
final class LifetimesTest {
  /** A call by the name that a failure shows. */
  private interface Call {
    void run() throws Exception;
  }

  @Test
  void everyUseAfterCloseIsRefusedInAnyThread() throws Exception {
    Loopback loopback = Loopback.connected();
    loopback.a.sends.add(1);
    loopback.a.receives.add(1);
    MemorySlice slice = loopback.a.region.slice(0, 8);
    loopback.device.close();

    for (Map.Entry<String, Call> use : uses(loopback, slice).entrySet()) {
      assertThatThrownBy(() -> use.getValue().run())
          .as(use.getKey())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
      FutureTask<Void> elsewhere =
          new FutureTask<>(
              () -> {
                use.getValue().run();
                return null;
              });
      Thread.ofPlatform().start(elsewhere);
      assertThatThrownBy(() -> elsewhere.get(30, TimeUnit.SECONDS))
          .as(use.getKey())
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(IllegalStateException.class);
    }
    loopback.close();
  }

  private static Map<String, Call> uses(Loopback closed, MemorySlice slice) {
    Loopback.End a = closed.a;
    Map<String, Call> uses = new LinkedHashMap<>();
    uses.put("RdmaDevice.attributes", closed.device::attributes);
    Port port = closed.device.port(1);
    uses.put("Port.attributes", port::attributes);
    uses.put("Port.gids", port::gids);
    uses.put("Port.preferredGid", port::preferredGid);
    uses.put("Port.gid", () -> port.gid(0));
    uses.put("Port.partitionKey", () -> port.partitionKey(0));
    uses.put("RdmaDevice.completionVectors", closed.device::completionVectors);
    uses.put("RdmaDevice.allocateProtectionDomain", closed.device::allocateProtectionDomain);
    uses.put("RdmaDevice.createCompletionChannel", closed.device::createCompletionChannel);
    uses.put("RdmaDevice.createCompletionQueue", () -> closed.device.createCompletionQueue(1));
    uses.put("RdmaDevice.handle", closed.device::handle);
    uses.put("ProtectionDomain.register", () -> closed.domain.register(1));
    uses.put(
        "ProtectionDomain.createQueuePair",
        () -> closed.domain.createQueuePair(QueuePairConfig.reliable(a.queue)));
    uses.put("ProtectionDomain.handle", closed.domain::handle);
    uses.put("ProtectionDomain.kernelHandle", closed.domain::kernelHandle);
    uses.put(
        "ProtectionDomain.register(MemoryRegionConfig)",
        () -> closed.domain.register(MemoryRegionConfig.allocate(1)));
    uses.put(
        "ProtectionDomain.register(MemoryRegionConfig.ofDmaBuffer)",
        () -> closed.domain.register(MemoryRegionConfig.ofDmaBuffer(0, 0, 4096)));
    uses.put(
        "ProtectionDomain.register(MemoryRegionConfig.nullRegion)",
        () -> closed.domain.register(MemoryRegionConfig.nullRegion()));
    uses.put("ProtectionDomain.importRegion", () -> closed.domain.importRegion(1, 0));
    uses.put("RdmaDevice.importProtectionDomain", () -> closed.device.importProtectionDomain(1));
    uses.put(
        "ProtectionDomain.advise", () -> closed.domain.advise(MemoryAdvice.PREFETCH, false, slice));
    uses.put(
        "ProtectionDomain.allocateMemoryWindow",
        () -> closed.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));
    uses.put("SlabPool.register", () -> SlabPool.register(closed.domain, 1, 64));
    uses.put("RdmaDevice.allocateDeviceMemory", () -> closed.device.allocateDeviceMemory(64, 0));
    uses.put("MemoryRegionConfig.of(MemorySlice)", () -> MemoryRegionConfig.of(slice));
    uses.put("MemoryRegion.kernelHandle", a.region::kernelHandle);
    uses.put(
        "MemoryRegion.reregister",
        () -> a.region.reregister(MemoryRegionChange.none().access(AccessFlag.LOCAL_WRITE)));
    uses.put("MemoryRegion.localKey", a.region::localKey);
    uses.put("MemoryRegion.remoteKey", a.region::remoteKey);
    uses.put("MemoryRegion.remoteAddress", a.region::remoteAddress);
    uses.put("MemoryRegion.segment", a.region::segment);
    uses.put("MemoryRegion.byteBuffer", a.region::byteBuffer);
    uses.put("MemoryRegion.slice", () -> a.region.slice(0, 1));
    uses.put("MemoryRegion.handle", a.region::handle);
    uses.put("MemorySlice.segment", slice::segment);
    uses.put("MemorySlice.byteBuffer", slice::byteBuffer);
    uses.put("MemorySlice.remoteAddress", slice::remoteAddress);
    uses.put("MemorySlice.slice", () -> slice.slice(0, 1));
    uses.put("CompletionChannel.awaitEvent", () -> a.channel.awaitEvent(Duration.ZERO));
    uses.put("CompletionChannel.awaitReady", () -> a.channel.awaitReady(Duration.ZERO));
    uses.put("CompletionChannel.pollEvent", a.channel::pollEvent);
    uses.put("CompletionChannel.fileDescriptor", a.channel::fileDescriptor);
    uses.put("CompletionQueue.completions", () -> a.queue.completions(1));
    uses.put("CompletionQueue.requestNotification", () -> a.queue.requestNotification(false));
    uses.put("CompletionQueue.handle", a.queue::handle);
    uses.put("Completions.poll", a.completions::poll);
    uses.put("Completions.pollBeforeWait", a.completions::pollBeforeWait);
    uses.put("Completions.release", a.completions::release);
    uses.put("QueuePair.number", a.queuePair::number);
    uses.put("QueuePair.address", () -> a.queuePair.address(1, 0));
    uses.put("QueuePair.query", a.queuePair::query);
    uses.put("QueuePair.isDataInOrder", () -> a.queuePair.isDataInOrder(SendOperation.SEND));
    uses.put("QueuePair.initialize", () -> a.queuePair.initialize(1, 0));
    uses.put("QueuePair.toError", a.queuePair::toError);
    uses.put("QueuePair.reset", a.queuePair::reset);
    uses.put("QueuePair.drainSendQueue", a.queuePair::drainSendQueue);
    uses.put("QueuePair.resumeSendQueue", a.queuePair::resumeSendQueue);
    uses.put("QueuePair.sendRequests", () -> a.queuePair.sendRequests(1));
    uses.put("QueuePair.receiveRequests", () -> a.queuePair.receiveRequests(1));
    uses.put("QueuePair.handle", a.queuePair::handle);
    uses.put("SendRequests.add", () -> a.sends.add(1));
    uses.put("SendRequests.send", a.sends::send);
    uses.put("SendRequests.from", () -> a.sends.from(a.region, 0, 1));
    uses.put("SendRequests.post", a.sends::post);
    uses.put("SendRequests.clear", a.sends::clear);
    uses.put("SendRequests.release", a.sends::release);
    uses.put("ReceiveRequests.add", () -> a.receives.add(1));
    uses.put("ReceiveRequests.into", () -> a.receives.into(a.region, 0, 1));
    uses.put("ReceiveRequests.post", a.receives::post);
    uses.put("ReceiveRequests.clear", a.receives::clear);
    uses.put("ReceiveRequests.release", a.receives::release);
    return uses;
  }

  @Test
  void aSecondCloseDoesNothing() {
    Loopback loopback = Loopback.connected();
    List<AutoCloseable> all =
        List.of(
            loopback.a.queuePair,
            loopback.a.queue,
            loopback.a.channel,
            loopback.a.region,
            loopback.domain,
            loopback.device);
    for (AutoCloseable each : all) {
      assertThatCode(each::close).doesNotThrowAnyException();
      assertThatCode(each::close).doesNotThrowAnyException();
    }
    loopback.close();
  }

  @Tag("needs-queue-pair-states")
  @Test
  void closingACompletionQueueClosesTheQueuePairsOnIt() {
    try (Loopback loopback = Loopback.connected()) {
      loopback.a.queue.close();
      assertThatThrownBy(loopback.a.queuePair::query).isInstanceOf(IllegalStateException.class);
      assertThat(loopback.b.queuePair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
      assertThat(loopback.a.region.localKey()).isNotZero();
    }
  }

  @Test
  void closingADomainClosesOnlyItsRegionsAndQueuePairs() {
    try (Loopback loopback = Loopback.connected()) {
      loopback.domain.close();
      assertThatThrownBy(loopback.a.region::segment).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(loopback.a.queuePair::query).isInstanceOf(IllegalStateException.class);
      assertThat(loopback.a.queue.completions(1).poll()).isZero();
    }
  }

  @Test
  void polledCompletionsCanBeReadAfterTheQueueWasClosed() {
    Loopback loopback = Loopback.connected();
    loopback.b.receive(5, 0, 64);
    loopback.b.queuePair.toError();
    while (loopback.b.completions.poll() == 0) {
      Thread.onSpinWait();
    }
    loopback.close();
    assertThat(loopback.b.completions.workRequestId(0)).isEqualTo(5);
  }

  @Test
  void objectsThatSeveralThreadsCloseAtOnceAreClosedOnce() throws Exception {
    for (int round = 0; round < 20; round++) {
      Loopback loopback = Loopback.connected();
      List<AutoCloseable> all =
          List.of(
              loopback.domain,
              loopback.a.queue,
              loopback.device,
              loopback.b.queuePair,
              loopback.a.channel);
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> closers = new ArrayList<>();
      for (AutoCloseable each : all) {
        closers.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        each.close();
                      } catch (Throwable thrown) {
                        failure.set(thrown);
                      }
                    }));
      }
      for (Thread closer : closers) {
        closer.join(Duration.ofSeconds(60));
        assertThat(closer.isAlive()).isFalse();
      }
      assertThat(failure.get()).isNull();
      loopback.close();
    }
  }

  @Test
  void closingUnderLoadEndsInAnExceptionAndNeverInACrash() throws Exception {
    for (int round = 0; round < 60; round++) {
      try (Loopback loopback = Loopback.connected(config -> config, path -> path.rnrRetries(0))) {
        Loopback.End end = loopback.a;
        FutureTask<Void> posting =
            new FutureTask<>(
                () -> {
                  SendRequests sends = end.queuePair.sendRequests(1);
                  while (true) {
                    sends.add(1).from(end.region, 0, 64);
                    try {
                      sends.post();
                    } catch (PostException full) {
                      sends.clear();
                    }
                  }
                });
        FutureTask<Void> polling =
            new FutureTask<>(
                () -> {
                  Completions completions = end.queue.completions(8);
                  while (true) {
                    completions.poll();
                  }
                });
        Thread.ofPlatform().daemon().start(posting);
        Thread.ofPlatform().daemon().start(polling);
        Thread.sleep(round % 5);
        List.<AutoCloseable>of(end.queuePair, end.queue, loopback.domain, loopback.device)
            .get(round % 4)
            .close();
        loopback.device.close();

        for (FutureTask<Void> task : List.of(posting, polling)) {
          assertThatThrownBy(() -> task.get(60, TimeUnit.SECONDS))
              .hasCauseInstanceOf(IllegalStateException.class)
              .hasMessageContaining("closed");
        }
      }
    }
  }
}
