package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.Hello;

/** What the session of a connection allocates for a message that is offered and fetched. */
final class LongMessagesTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int MESSAGES = 100;
  private static final int BYTES = 200;

  private final Simulation simulation =
      Simulation.of(
          new Limits(64, 64, 16, 16, 1024, 1024, false, true, Hello.FEATURES, Hello.FEATURES), 1);
  private final End sender = simulation.end(0);
  private final End receiver = simulation.end(1);

  /** What the sessions have allocated for one message. */
  private long allocated;

  private long before;

  private void begin() {
    before = THREADS.getCurrentThreadAllocatedBytes();
  }

  private void end() {
    allocated += THREADS.getCurrentThreadAllocatedBytes() - before;
  }

  /** Has the session of one side handle what has arrived and completed, and posts what it wants. */
  private boolean step(End side) {
    boolean moved = side.device.execute();
    Device.Arrival arrival = side.device.pollArrival();
    if (arrival != null) {
      begin();
      side.session.received(arrival.buffer(), true, true, arrival.bytes());
      end();
    }
    Device.Done done = side.device.pollLastOfChain();
    if (done != null) {
      begin();
      side.session.completed(done.number());
      end();
    }
    post(side);
    side.settle();
    return moved || arrival != null || done != null || side.supply();
  }

  private void post(End side) {
    List<Request> chain = new ArrayList<>();
    begin();
    side.session.beginChain();
    Request next = side.session.nextToPost();
    end();
    while (next != null) {
      chain.add(next);
      begin();
      next = side.session.nextToPost();
      end();
    }
    side.device.post(chain);
  }

  private long allocatedForOne() {
    allocated = 0;
    sender.user.send(BYTES);
    Simulation.untilNothingMoves(() -> step(sender), () -> step(receiver), sender.user::tell);
    begin();
    Buffer message = Objects.requireNonNull(receiver.session.pollMessage());
    end();
    assertThat(message.length()).isEqualTo(BYTES);
    begin();
    message.free();
    end();
    return allocated;
  }

  @Test
  void aLongMessageThatIsSentAndReceivedAllocatesNothing() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < MESSAGES; i++) {
      least = Math.min(least, allocatedForOne());
    }
    assertThat(least).as("bytes that the sessions of both sides allocate for a message").isZero();
    assertThat(receiver.session.counts().receivedMessages).isEqualTo(MESSAGES);
  }
}
