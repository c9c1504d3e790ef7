package org.rdma4j.docs.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.cm.ChannelSet;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.RdmaDevice;

/** The code of docs/guide/waiting.md. */
@Tag("device")
@Tag("needs-connecting-by-address")
@Timeout(200)
class WaitingDeviceTest {
  private static void send(Peers peers) {
    peers.peer.receiveRequests(1).add(1).into(peers.peerMemory, 0, 64).post();
    peers.queuePair.sendRequests(1).add(1).from(peers.memory, 0, 64).signaled().post();
  }

  @Test
  void polling() {
    try (Peers peers = new Peers()) {
      CompletionQueue queue = peers.queue;
      send(peers);
      // snippet: poll
      Completions completions = queue.completions(16);
      while (completions.poll() == 0) {
        Thread.onSpinWait();
      }
      // end
      completions.requireSuccess(0);
    }
  }

  @Test
  void awaiting() throws Exception {
    try (Peers peers = new Peers()) {
      RdmaDevice device = peers.device;
      // snippet: channel
      CompletionChannel channel = device.createCompletionChannel();
      CompletionQueue queue = device.createCompletionQueue(16, channel);
      // end
      assertThat(queue.channel()).contains(channel);
      send(peers);
      Completions completions = peers.queue.completions(16);
      // snippet: await
      int polled = completions.await(Duration.ofSeconds(5));
      if (polled == 0) {
        throw new IllegalStateException("nothing for 5 seconds");
      }
      // end
      completions.requireSuccess(0);
    }
  }

  @Test
  void aVirtualThreadForEachQueue() throws Exception {
    try (Peers peers = new Peers();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CompletionQueue queue = peers.queue;
      // snippet: virtual
      Future<Long> first =
          threads.submit(
              () -> {
                Completions completions = queue.completions(16);
                completions.await(TIMEOUT); // the carrier is free meanwhile
                completions.requireSuccess(0);
                return completions.workRequestId(0);
              });
      // end
      send(peers);
      assertThat(first.get()).isEqualTo(1);
    }
  }

  @Test
  void oneThreadForManyQueues() throws Exception {
    try (Peers peers = new Peers()) {
      CompletionChannel channel = peers.channel;
      CompletionQueue queue = peers.queue;
      Completions completions = queue.completions(16);
      // snippet: events
      queue.requestNotification(false); // once for each event that you want
      // end
      send(peers);
      int served = 0;
      // snippet: loop
      CompletionQueue ready = channel.awaitEvent(TIMEOUT).orElseThrow();
      ready.requestNotification(false); // first ask for the next event, then poll
      int polled = completions.poll();
      while (polled > 0) {
        for (int i = 0; i < polled; i++) {
          completions.requireSuccess(i);
        }
        served += polled;
        polled = completions.poll();
      }
      // end
      assertThat(served).isEqualTo(1);
    }
  }

  @Test
  void oneThreadForCompletionsAndConnections() throws Exception {
    try (Peers peers = new Peers()) {
      CompletionChannel channel = peers.channel;
      Completions completions = peers.queue.completions(16);
      // snippet: set
      EventChannel events = EventChannel.open(); // of the connection manager
      ChannelSet channels = ChannelSet.open();
      channels.add(channel);
      channels.add(events);
      // end
      send(peers);
      // snippet: either
      int polled = completions.pollBeforeWait(); // if nothing is there, requests an event
      Optional<CmEvent> event = Optional.empty();
      if (polled == 0 && channels.awaitReady(TIMEOUT)) {
        polled = completions.poll();
        event = events.pollEvent();
      }
      // end
      assertThat(polled).isEqualTo(1);
      assertThat(event).isEmpty();
      channels.close();
      events.close();
    }
  }

  @Test
  void interruptionEndsAWait() throws Exception {
    try (Peers peers = new Peers()) {
      CompletionQueue queue = peers.queue;
      // snippet: interrupt
      Thread waiter =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      queue.completions(1).await(Duration.ofDays(1));
                    } catch (InterruptedException ended) {
                      // somebody wants this thread to end
                    }
                  });
      waiter.interrupt();
      waiter.join();
      // end
      assertThat(waiter.isAlive()).isFalse();
    }
  }
}
