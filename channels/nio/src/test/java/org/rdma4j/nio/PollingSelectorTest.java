package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a thread that selects does while it polls for channels that were upgraded to RDMA. */
@Timeout(60)
final class PollingSelectorTest {
  private static final long LONG = 30_000;

  private final AtomicInteger polls = new AtomicInteger();
  private final AtomicBoolean slept = new AtomicBoolean();

  /** What the thread finds when it polls. */
  private volatile Runnable found = () -> {};

  /** Whether it polls for as long as the test takes; otherwise it sleeps after one poll. */
  private volatile boolean pays = true;

  private Pipe overRdma;
  private Pipe overTcp;
  private PipeChannel channel;
  private ReadySelector selector;

  @BeforeEach
  void open() throws IOException {
    overRdma = Pipe.open();
    overTcp = Pipe.open();
    channel = new PipeChannel(overRdma.source(), () -> SelectionKey.OP_READ);
    overTcp.source().configureBlocking(false);
    selector = new ReadySelector(overTcp.source().provider(), Selector.open(), this::pollUntil);
  }

  @AfterEach
  void close() throws IOException {
    selector.close();
    for (Pipe each : new Pipe[] {overRdma, overTcp}) {
      each.sink().close();
      each.source().close();
    }
  }

  private void pollUntil(BooleanSupplier done, Runnable sleep) {
    do {
      polls.incrementAndGet();
      found.run();
      if (done.getAsBoolean()) {
        return;
      }
    } while (pays);
    slept.set(true);
    sleep.run();
  }

  private SelectionKey register() throws IOException {
    return channel.register(selector, SelectionKey.OP_READ);
  }

  @Test
  void aThreadThatPollsFindsAChannelByItself() throws Exception {
    SelectionKey key = register();
    channel.goOver();
    found = channel::becomeReady;
    assertThat(selector.select(LONG)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(slept).isFalse();
  }

  @Test
  void nothingIsPolledBeforeAChannelGoesOver() throws Exception {
    register();
    assertThat(selector.select(1)).isZero();
    assertThat(polls).hasValue(0);
  }

  @Test
  void nothingIsPolledOnceTheChannelIsClosed() throws Exception {
    register();
    channel.goOver();
    channel.close();
    assertThat(selector.selectNow()).isZero();
    channel.goOver();
    assertThat(selector.select(1)).isZero();
    assertThat(polls).hasValue(0);
  }

  private void arriveOverTcp() {
    try {
      overTcp.sink().write(ByteBuffer.allocate(1));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void aThreadThatPollsFindsWhatComesOverTcp() throws Exception {
    register();
    channel.goOver();
    SelectionKey key = overTcp.source().register(selector, SelectionKey.OP_READ);
    found =
        () -> {
          found = () -> {};
          arriveOverTcp();
        };
    assertThat(selector.select()).isEqualTo(1);
    assertThat(selector.selectedKeys()).containsExactly(key);
    assertThat(slept).isFalse();
  }

  @Test
  void aThreadThatPollsLooksAtTcpOnceAKeyAsksForThat() throws Exception {
    register();
    channel.goOver();
    SelectionKey key = overTcp.source().register(selector, 0);
    arriveOverTcp();
    assertThat(selector.select(5)).isZero();
    found =
        () -> {
          found = () -> {};
          key.interestOps(SelectionKey.OP_READ);
        };
    assertThat(selector.select(LONG)).isEqualTo(1);
    assertThat(selector.selectedKeys()).containsExactly(key);
    assertThat(selector.selectNow()).isZero();
    selector.selectedKeys().clear();
    assertThat(selector.selectNow()).isEqualTo(1);
    assertThat(slept).isFalse();
  }

  @Test
  void whatAlwaysComesOverRdmaDoesNotHideTcp() throws Exception {
    SelectionKey key = register();
    channel.goOver();
    SelectionKey other = overTcp.source().register(selector, SelectionKey.OP_READ);
    found =
        () -> {
          arriveOverTcp();
          // Longer than TCP is not looked at.
          long end = System.nanoTime() + 1_000_000;
          while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
          }
          channel.becomeReady();
        };
    assertThat(selector.select()).isEqualTo(2);
    assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(key, other);
  }

  @Test
  void aThreadThatPollsEndsInTime() throws Exception {
    register();
    channel.goOver();
    assertThat(selector.select(5)).isZero();
    assertThat(polls).hasPositiveValue();
    assertThat(slept).isFalse();
  }

  @Test
  void aThreadThatPollsIsWokenUp() throws Exception {
    register();
    channel.goOver();
    found = selector::wakeup;
    assertThat(selector.select()).isZero();
    assertThat(slept).isFalse();
  }

  @Test
  void aThreadThatPollsIsInterrupted() throws Exception {
    register();
    channel.goOver();
    found = Thread.currentThread()::interrupt;
    assertThat(selector.select()).isZero();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aThreadThatSleepsIsWokenByAChannel() throws Exception {
    SelectionKey key = register();
    channel.goOver();
    pays = false;
    var selected = ChannelPair.waiting(() -> selector.select(LONG));
    channel.becomeReady();
    assertThat(selected.get()).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(slept).isTrue();
  }
}
