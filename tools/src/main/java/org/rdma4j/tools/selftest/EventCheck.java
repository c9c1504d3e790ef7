package org.rdma4j.tools.selftest;

import java.time.Duration;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.MemoryRegion;

/** Waits for the event of a completion: none comes without one, and one comes with it. */
final class EventCheck implements SelfCheck {
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofSeconds(10);

  @Override
  public String name() {
    return "completion channel";
  }

  @Override
  public String run(TestedDevice tested) throws InterruptedException {
    try (LoopedPair pair = LoopedPair.connect(tested)) {
      CompletionChannel channel = pair.queueOfReceives.channel().orElseThrow();
      MemoryRegion memory = pair.expose(2);
      pair.queueOfReceives.requestNotification(false);
      if (channel.awaitEvent(SHORT).isPresent()) {
        throw new Failure("an event came before the completion");
      }
      pair.to.receiveRequests(1).add(1).into(memory, 1, 1).post();
      long begin = System.nanoTime();
      pair.from.sendRequests(1).add(2).signaled().from(memory, 0, 1).post();
      if (channel.awaitEvent(LONG).isEmpty()) {
        throw new Failure("no event came within " + LONG.toSeconds() + " s");
      }
      long micros = (System.nanoTime() - begin) / 1000;
      pair.awaitReceived("the message", 1);
      return "the event of a message came after %d microseconds".formatted(micros);
    }
  }
}
