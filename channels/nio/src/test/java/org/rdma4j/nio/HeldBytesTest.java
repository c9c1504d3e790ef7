package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class HeldBytesTest {
  private static final int MOST = 100_000;

  private final Random random = new Random(1);
  private final MemoryBudget budget = new MemoryBudget(1 << 30);
  private HeldBytes held = new HeldBytes(budget);
  private final byte[] all = new byte[3 * HeldBytes.MOST + MOST];
  private int sent;

  private void add(int bytes) {
    int first = random.nextInt(bytes + 1);
    byte[] next = new byte[bytes];
    random.nextBytes(next);
    System.arraycopy(next, 0, all, sent, bytes);
    ByteBuffer[] sources = {
      ByteBuffer.allocate(0),
      ByteBuffer.wrap(next, 0, first),
      ByteBuffer.allocateDirect(bytes).put(next, first, bytes - first).flip()
    };
    assertThat(held.add(sources, 0, bytes)).isTrue();
    sent += bytes;
  }

  private void checkLast() {
    assertThat(held.sent()).isEqualTo(sent);
    int count = held.count();
    held.freeze();
    byte[] last = new byte[count];
    held.takeLast(count).get(last);
    assertThat(last).isEqualTo(Arrays.copyOfRange(all, sent - count, sent));
    assertThat(budget.held()).isZero();
  }

  @Test
  void holdsAllWhileThatIsLittle() {
    for (int i = 0; i < 10; i++) {
      add(1 + random.nextInt(MOST));
    }
    assertThat(held.count()).isEqualTo(sent);
    checkLast();
  }

  @Test
  void holdsTheLastBytesOfMany() {
    while (sent < 3 * HeldBytes.MOST) {
      add(1 + random.nextInt(MOST));
    }
    assertThat(held.count()).isEqualTo(HeldBytes.MOST);
    checkLast();
  }

  @Test
  void holdsFewerIfOthersHoldMuch() {
    MemoryBudget small = new MemoryBudget(5 * MOST);
    held = new HeldBytes(small);
    while (sent < HeldBytes.MOST) {
      add(1 + random.nextInt(MOST));
    }
    assertThat(held.count()).isEqualTo(1 << 17);
    assertThat(small.held()).isEqualTo(1 << 17);
    checkLast();
    held = new HeldBytes(small);
    assertThat(small.tryHold(5 * MOST / 2 + 1)).isFalse();
    assertThat(small.tryHold(5 * MOST / 2)).isTrue();
    sent = 0;
    add(MOST);
    assertThat(held.count()).isZero();
  }

  @Test
  void holdsNothingAfterTheEnd() {
    add(MOST);
    held.freeze();
    held.end();
    assertThat(budget.held()).isZero();
    add(MOST);
    assertThat(held.count()).isZero();
    assertThat(budget.held()).isZero();
  }

  @Test
  void forgetsWhatWasDeliveredOrWasNotSent() {
    add(MOST);
    held.delivered(MOST - 5);
    assertThat(held.count()).isEqualTo(5);
    held.shrink();
    assertThat(budget.held()).isPositive();
    held.delivered(MOST);
    assertThat(held.count()).isZero();
    held.shrink();
    assertThat(budget.held()).isZero();
    add(MOST - 1);
    add(100);
    assertThat(held.remove(100)).isTrue();
    sent -= 100;
    add(7);
    assertThat(held.count()).isEqualTo(MOST + 6);
    checkLast();
  }

  @Test
  void takesNoMoreOnceFrozen() {
    add(MOST);
    held.freeze();
    assertThat(held.add(new ByteBuffer[] {ByteBuffer.allocate(1)}, 0, 1)).isFalse();
    assertThat(held.remove(1)).isFalse();
    held.delivered(MOST);
    held.shrink();
    assertThat(held.count()).isEqualTo(MOST);
  }
}
