package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a key lets the JDK's selector look for. */
@Timeout(60)
final class ReadyKeyTest {
  /** A channel that lets one thread wait when it asks what comes over TCP. */
  private static final class Moving extends AbstractSelectableChannel implements OverTcp {
    private final SelectableChannel tcp;
    private final CountDownLatch asks = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile @Nullable Thread mover;

    Moving(SelectableChannel tcp) {
      super(tcp.provider());
      this.tcp = tcp;
    }

    @Override
    public SelectableChannel tcp() {
      return tcp;
    }

    @Override
    public CopyOnWriteArrayList<ReadyKey> watchers() {
      return new CopyOnWriteArrayList<>();
    }

    @Override
    public boolean isOverRdma() {
      return false;
    }

    @Override
    public int tcpOperations() {
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

    @Override
    public int readyOperations() {
      return 0;
    }

    @Override
    public int validOps() {
      return SelectionKey.OP_READ;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
      tcp.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
      tcp.configureBlocking(block);
    }
  }

  @Test
  void aMoveKeepsTheOperationsThatAnotherThreadHasChosenMeanwhile() throws Exception {
    Pipe pipe = Pipe.open();
    try (Selector tcp = Selector.open();
        ReadySelector selector =
            new ReadySelector(tcp.provider(), Selector.open(), (done, sleep) -> sleep.run());
        Moving channel = new Moving(pipe.source())) {
      pipe.source().configureBlocking(false);
      ReadyKey key = new ReadyKey(channel, selector, 0);
      SelectionKey below = pipe.source().register(tcp, 0);
      key.registered(below);
      Thread mover = Thread.ofPlatform().unstarted(key::moved);
      channel.mover = mover;
      mover.start();
      assertThat(channel.asks.await(60, TimeUnit.SECONDS)).isTrue();
      Thread chooser = Thread.ofPlatform().start(() -> key.interestOps(SelectionKey.OP_READ));
      while (chooser.isAlive() && chooser.getState() != Thread.State.BLOCKED) {
        Thread.sleep(1);
      }
      channel.goOn.countDown();
      mover.join();
      chooser.join();
      assertThat(below.interestOps()).isEqualTo(SelectionKey.OP_READ);
    } finally {
      pipe.sink().close();
    }
  }
}
