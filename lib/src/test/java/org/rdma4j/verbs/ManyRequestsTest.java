package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Of many requests, each one completes once, with its own id, and in order. */
@Tag("device")
@Tag("data-path")
final class ManyRequestsTest {
  @Tag("needs-connecting-by-address")
  @Test
  void sixtyFourQueuePairsShareACompletionQueue() {
    int queuePairs = 64;
    int messages = 4;
    try (Loopback loopback = Loopback.unconnected()) {
      CompletionQueue queue = loopback.device.createCompletionQueue(queuePairs * 2 * messages);
      QueuePairConfig config =
          QueuePairConfig.reliable(queue).sendDepth(messages).receiveDepth(messages);
      List<QueuePair> all =
          Stream.generate(() -> loopback.domain.createQueuePair(config)).limit(queuePairs).toList();
      for (int i = 0; i < queuePairs; i++) {
        all.get(i).connect(loopback.path(loopback.address(all.get(i ^ 1))));
      }
      for (QueuePair each : all) {
        ReceiveRequests receives = each.receiveRequests(messages);
        for (int id = 0; id < messages; id++) {
          receives.add(messages + id).into(loopback.b.region, 0, 64);
        }
        receives.post();
      }
      for (QueuePair each : all) {
        SendRequests sends = each.sendRequests(messages);
        for (int id = 0; id < messages; id++) {
          sends.add(id).from(loopback.a.region, 0, 8).signaled();
        }
        sends.post();
      }

      Map<Integer, List<Long>> sent = new HashMap<>();
      Map<Integer, List<Long>> received = new HashMap<>();
      for (Loopback.Done done : Loopback.await(queue, queuePairs * 2 * messages)) {
        assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
        (done.opcode() == CompletionOpcode.SEND ? sent : received)
            .computeIfAbsent(done.queuePair(), number -> new ArrayList<>())
            .add(done.id());
      }
      assertThat(sent).hasSize(queuePairs);
      assertThat(sent.values()).containsOnly(ids(0, messages));
      assertThat(received.keySet()).isEqualTo(sent.keySet());
      assertThat(received.values()).containsOnly(ids(messages, messages));
    }
  }

  private static List<Long> ids(int first, int count) {
    return LongStream.range(first, first + count).boxed().toList();
  }

  /** Each completion frees the entries of all requests before it. */
  @Test
  void oneRequestIn64IsSignalledWhileTheQueueWraps() {
    int chain = 64;
    int chains = 20;
    try (Loopback loopback =
        Loopback.connected(
            config -> config.sendDepth(2 * chain).ignoreOverrun(true),
            path -> path.access(AccessFlag.REMOTE_WRITE))) {
      long bytes = (long) chains * chain * Long.BYTES;
      MemoryRegion remote =
          loopback.domain.register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      for (long i = 0; i < bytes / Long.BYTES; i++) {
        loopback.a.region.segment().setAtIndex(ValueLayout.JAVA_LONG, i, i + 1);
      }
      SendRequests sends = loopback.a.queuePair.sendRequests(chain);
      List<Long> signalled = new ArrayList<>();
      for (long i = 0; i < bytes / Long.BYTES; i++) {
        long offset = i * Long.BYTES;
        sends.add(i).write(remote.remoteAddress() + offset, remote.remoteKey());
        sends.from(loopback.a.region, offset, Long.BYTES);
        if (sends.size() == chain) {
          sends.signaled().post();
          if (i >= chain) {
            Loopback.await(loopback.a.queue, 1).forEach(done -> signalled.add(done.id()));
          }
        }
      }
      Loopback.await(loopback.a.queue, 1).forEach(done -> signalled.add(done.id()));

      assertThat(signalled)
          .containsExactlyElementsOf(
              LongStream.rangeClosed(1, chains).mapToObj(each -> each * chain - 1).toList());
      assertThat(loopback.a.completions.poll()).isZero();
      assertThat(remote.segment().mismatch(loopback.a.region.segment().asSlice(0, bytes)))
          .isEqualTo(-1);
    }
  }
}
