package org.rdma4j.docs.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ConnectionException;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PostException;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.WorkCompletionException;
import org.rdma4j.verbs.address.QueuePairAddress;

/** The code of docs/guide/errors.md. */
@Tag("device")
@Timeout(200)
class ErrorsDeviceTest {
  @Test
  void aCallThatFailsSaysWhatToDo() {
    List<String> log = new ArrayList<>();
    // snippet: call
    try {
      RdmaDevice.open("mlx5_7").close();
    } catch (RdmaException failed) {
      log.add(failed.getMessage()); // the C function, the errno, and what to do
      if (failed.errno() == ErrorNumber.ENODEV.value()) {
        log.add("the names that exist: " + RdmaDevice.list());
      }
    }
    // end
    assertThat(log).hasSize(2).first().asString().contains("ENODEV");
  }

  @Test
  void aConnectionThatIsRefusedSaysSo() throws Exception {
    InetSocketAddress address = new InetSocketAddress(Peers.host(), 7470);
    Boolean again = null;
    // snippet: reason
    try (RdmaConnection connection = RdmaConnection.connect(address, TIMEOUT)) {
      connection.send(ByteBuffer.allocate(64), TIMEOUT);
    } catch (ConnectionException broken) {
      again =
          switch (broken.reason()) {
            case REFUSED, UNREACHABLE, RESET, DEVICE_REMOVED -> true; // after a while
            case CLOSED_BY_PEER -> false;
            case PROTOCOL, BROKEN_HERE -> throw broken; // a mistake of a program
          };
    }
    // end
    assertThat(again).isTrue();
  }

  @Tag("needs-connecting-by-address")
  @Test
  void aWrongKeyBreaksTheQueuePairWhichCanBeConnectedAgain() throws Exception {
    try (Peers peers = new Peers()) {
      MemoryRegion peerMemory = peers.peerMemory;
      MemoryRegion memory = peers.memory;
      QueuePair queuePair = peers.queuePair;
      Completions completions = peers.queue.completions(1);
      SendRequests requests = queuePair.sendRequests(1);
      int wrongKey = peers.peerMemory.remoteKey() + 1000;
      List<CompletionStatus> seen = new ArrayList<>();
      // snippet: completion
      requests.add(7).write(peerMemory.remoteAddress(), wrongKey);
      requests.from(memory, 0, 8).signaled().post();
      completions.await(TIMEOUT);
      try {
        completions.requireSuccess(0);
      } catch (WorkCompletionException failed) {
        seen.add(failed.status()); // REMOTE_ACCESS_ERROR
      }
      // end
      assertThat(seen).containsExactly(CompletionStatus.REMOTE_ACCESS_ERROR);
      assertThat(queuePair.query().state()).isEqualTo(QueuePairState.ERROR);

      QueuePairAddress peerAddress = peers.peer.address();
      PathConfig toUs = PathConfig.to(queuePair.address()).access(AccessFlag.REMOTE_WRITE);
      // snippet: recover
      // On both sides, which agree over another connection, such as TCP:
      queuePair.toError(); // if it is not yet: whatever was posted is flushed
      while (completions.poll() > 0) {
        // take all completions, and free what their requests used
      }
      queuePair.reset();
      queuePair.connect(PathConfig.to(peerAddress));
      // end
      peers.peer.reset();
      peers.peer.connect(toUs);
      requests.add(8).write(peers.peerMemory.remoteAddress(), peers.peerMemory.remoteKey());
      requests.from(peers.memory, 0, 8).signaled().post();
      completions.await(TIMEOUT);
      completions.requireSuccess(0);
    }
  }

  @Tag("needs-connecting-by-address")
  @Test
  void aFullQueueRefusesAPost() {
    try (Peers peers = new Peers()) {
      MemoryRegion peerMemory = peers.peerMemory;
      MemoryRegion memory = peers.memory;
      SendRequests requests = peers.queuePair.sendRequests(16);
      int accepted = 0;
      // snippet: post
      for (int i = 0; i < 16; i++) {
        requests.add(i).write(peerMemory.remoteAddress(), peerMemory.remoteKey());
        requests.from(memory, 0, 8).signaled();
      }
      try {
        accepted = requests.post();
      } catch (PostException full) {
        accepted = full.index(); // this one and those after it are still in the batch
      }
      // end
      assertThat(accepted).isPositive();
    }
  }

  @Tag("needs-connecting-by-address")
  @Test
  void eventsOfTheDeviceTellWhatNoCompletionTells() throws Exception {
    try (Peers peers = new Peers()) {
      RdmaDevice device = peers.device;
      List<String> log = new ArrayList<>();
      // snippet: events
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  while (true) {
                    device
                        .awaitAsyncEvent(Duration.ofHours(1))
                        .ifPresent(event -> log.add(event.toString()));
                  }
                } catch (InterruptedException | IllegalStateException ended) {
                  // the device was closed
                }
              });
      // end
      assertThat(log).isEmpty();
    }
  }
}
