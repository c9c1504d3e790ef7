package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a key lets the JDK's selector look for. */
@Timeout(60)
final class ReadyKeyTest {
  /** Lets one thread wait when it asks what comes over TCP. */
  private static final class Moving {
    private final CountDownLatch asks = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile @Nullable Thread mover;

    int tcpOperations() {
      if (Thread.currentThread() == mover) {
        asks.countDown();
        try {
          assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
          throw new IllegalStateException(interrupted);
        }
      }
      return SelectionKey.OP_READ;
    }
  }

  @Test
  void aMoveKeepsTheOperationsThatAnotherThreadHasChosenMeanwhile() throws Exception {
    Pipe pipe = Pipe.open();
    Moving moving = new Moving();
    try (Selector tcp = Selector.open();
        ReadySelector selector =
            new ReadySelector(tcp.provider(), Selector.open(), (done, sleep) -> sleep.run());
        PipeChannel channel = new PipeChannel(pipe.source(), moving::tcpOperations)) {
      ReadyKey key = new ReadyKey(channel, selector, 0);
      SelectionKey below = pipe.source().register(tcp, 0);
      key.registered(below);
      Thread mover = Thread.ofPlatform().unstarted(key::moved);
      moving.mover = mover;
      mover.start();
      assertThat(moving.asks.await(60, TimeUnit.SECONDS)).isTrue();
      Thread chooser = Thread.ofPlatform().start(() -> key.interestOps(SelectionKey.OP_READ));
      while (chooser.isAlive() && chooser.getState() != Thread.State.BLOCKED) {
        Thread.sleep(1);
      }
      moving.goOn.countDown();
      mover.join();
      chooser.join();
      assertThat(below.interestOps()).isEqualTo(SelectionKey.OP_READ);
    } finally {
      pipe.sink().close();
    }
  }
}
