package org.rdma4j.docs.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/** The code of docs/guide/hot-path.md. */
@Tag("device")
@Tag("needs-connecting-by-address")
@Timeout(200)
class HotPathDeviceTest {
  private static final int MESSAGES = 8;

  @Test
  void aBatchIsPostedByOneCall() throws Exception {
    try (Peers peers = new Peers()) {
      QueuePair peer = peers.peer;
      MemoryRegion peerMemory = peers.peerMemory;
      QueuePair queuePair = peers.queuePair;
      MemoryRegion memory = peers.memory;
      // snippet: receives
      ReceiveRequests receives = peer.receiveRequests(MESSAGES);
      for (int i = 0; i < MESSAGES; i++) {
        receives.add(i).into(peerMemory, 64L * i, 64);
      }
      receives.post();
      // end
      // snippet: batch
      SendRequests requests = queuePair.sendRequests(MESSAGES);
      for (int i = 0; i < MESSAGES; i++) {
        requests.add(i).from(memory, 64L * i, 64);
      }
      requests.signaled(); // the last one
      requests.post();
      // end
      Completions completions = peers.queue.completions(MESSAGES);
      assertThat(completions.await(TIMEOUT)).isEqualTo(1);
      assertThat(completions.workRequestId(0)).isEqualTo(MESSAGES - 1);
      int arrived = 0;
      Completions atPeer = peers.peerQueue.completions(MESSAGES);
      while (arrived < MESSAGES) {
        // snippet: poll
        int polled = atPeer.poll();
        for (int i = 0; i < polled; i++) {
          atPeer.requireSuccess(i);
          handle(atPeer.workRequestId(i), atPeer.byteLength(i));
        }
        // end
        arrived += polled;
      }
    }
  }

  private static void handle(long id, long bytes) {
    assertThat(id).isBetween(0L, (long) MESSAGES);
    assertThat(bytes).isEqualTo(64);
  }

  @Test
  void inlineDataIsPartOfTheRequest() throws Exception {
    try (Peers peers = new Peers()) {
      QueuePair queuePair = peers.queuePair;
      peers.peer.receiveRequests(1).add(1).into(peers.peerMemory, 0, 64).post();
      MemorySegment segment = peers.memory.segment();
      // snippet: inline
      SendRequests requests = queuePair.sendRequests(1);
      requests.add(1).inline(segment, 0, 16).signaled().post();
      segment.set(java.lang.foreign.ValueLayout.JAVA_LONG, 0, 5); // allowed immediately
      // end
      Completions completions = peers.queue.completions(1);
      completions.await(TIMEOUT);
      completions.requireSuccess(0);
    }
  }

  @Test
  void preparedRequestsArePostedAgainAndAgain() throws Exception {
    try (Peers peers = new Peers()) {
      QueuePair queuePair = peers.queuePair;
      MemoryRegion memory = peers.memory;
      long address = peers.peerMemory.remoteAddress();
      int key = peers.peerMemory.remoteKey();
      Completions completions = peers.queue.completions(1);
      // snippet: prepared
      SendRequests requests = queuePair.sendRequests(1);
      PreparedSends write =
          requests.add(0).write(address, key).from(memory, 0, 64).signaled().prepare();
      write.remoteBytes(0, 1 << 16); // the peer's memory: where the write may go

      for (int i = 0; i < 1000; i++) {
        long offset = 64L * (i % 1024);
        write.id(0, i).offset(0, offset).remoteOffset(0, offset).post();
        while (completions.poll() == 0) {
          Thread.onSpinWait();
        }
        completions.requireSuccess(0);
      }
      // end
      assertThat(completions.workRequestId(0)).isEqualTo(999);
    }
  }

  @Test
  void aThreadHandsItsRequestsOver() throws Exception {
    try (Peers peers = new Peers()) {
      QueuePair queuePair = peers.queuePair;
      peers.peer.receiveRequests(2).add(1).post();
      // snippet: release
      SendRequests requests = queuePair.sendRequests(1);
      requests.add(1).signaled().post(); // from here on, they are this thread's
      requests.release();
      Thread other = Thread.ofPlatform().start(() -> requests.add(2).signaled());
      // end
      other.join();
      assertThat(requests.size()).isEqualTo(1);
    }
  }
}
