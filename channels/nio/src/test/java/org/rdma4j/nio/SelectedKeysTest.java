package org.rdma4j.nio;

import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;

/** What a program does with the keys that are selected. */
final class SelectedKeysTest {
  /** Pipes that can always be written. */
  private record Ready(Selector selector, List<Pipe> pipes, List<SelectionKey> keys)
      implements AutoCloseable {
    static Ready open(SelectorProvider provider, int count) throws IOException {
      Ready ready = new Ready(provider.openSelector(), new ArrayList<>(), new ArrayList<>());
      for (int i = 0; i < count; i++) {
        Pipe pipe = provider.openPipe();
        ready.pipes.add(pipe);
        pipe.sink().configureBlocking(false);
        ready.keys.add(pipe.sink().register(ready.selector, OP_WRITE));
      }
      return ready;
    }

    @Override
    public void close() throws IOException {
      selector.close();
      for (Pipe each : pipes) {
        each.source().close();
        each.sink().close();
      }
    }
  }

  @BothProviders
  void aProgramThatRemovesEachKeyVisitsAll(SelectorProvider provider) throws Exception {
    try (Ready ready = Ready.open(provider, 5)) {
      assertThat(ready.selector.select()).isEqualTo(5);
      Set<SelectionKey> visited = new HashSet<>();
      Iterator<SelectionKey> iterator = ready.selector.selectedKeys().iterator();
      while (iterator.hasNext()) {
        visited.add(iterator.next());
        iterator.remove();
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
      }
      assertThatThrownBy(iterator::next).isInstanceOf(NoSuchElementException.class);
      assertThat(visited).containsExactlyInAnyOrderElementsOf(ready.keys);
      assertThat(ready.selector.selectedKeys()).isEmpty();
    }
  }

  @BothProviders
  void keysThatWereNotRemovedStay(SelectorProvider provider) throws Exception {
    try (Ready ready = Ready.open(provider, 8)) {
      Random random = new Random(1);
      Set<SelectionKey> selected = ready.selector.selectedKeys();
      for (int i = 0; i < 100; i++) {
        Set<SelectionKey> left = new HashSet<>(selected);
        assertThat(ready.selector.selectNow()).isEqualTo(8 - left.size());
        left.addAll(ready.keys);
        Iterator<SelectionKey> iterator = selected.iterator();
        while (iterator.hasNext()) {
          SelectionKey key = iterator.next();
          if (random.nextBoolean()) {
            iterator.remove();
            left.remove(key);
          }
        }
        SelectionKey one = ready.keys.get(random.nextInt(8));
        assertThat(selected.contains(one)).isEqualTo(left.contains(one));
        assertThat(selected.remove(one)).isEqualTo(left.remove(one));
        assertThat(selected.remove(one)).isFalse();
        assertThat(selected).isEqualTo(left).hasSize(left.size());
      }
    }
  }

  @BothProviders
  void anIteratorNoticesARemoval(SelectorProvider provider) throws Exception {
    try (Ready ready = Ready.open(provider, 3)) {
      ready.selector.select();
      Set<SelectionKey> selected = ready.selector.selectedKeys();
      Iterator<SelectionKey> iterator = selected.iterator();
      SelectionKey first = iterator.next();
      assertThat(selected.remove(first)).isTrue();
      assertThatThrownBy(iterator::next).isInstanceOf(ConcurrentModificationException.class);
      assertThatThrownBy(iterator::remove).isInstanceOf(ConcurrentModificationException.class);
    }
  }

  @BothProviders
  void keysOfAnotherSelectorAreNotSelected(SelectorProvider provider) throws Exception {
    try (Ready ready = Ready.open(provider, 1);
        Ready other = Ready.open(provider, 1)) {
      ready.selector.select();
      other.selector.select();
      Set<SelectionKey> selected = ready.selector.selectedKeys();
      SelectionKey foreign = other.keys.getFirst();
      assertThat(selected.contains(foreign)).isFalse();
      assertThat(selected.remove(foreign)).isFalse();
      assertThat(selected.contains(null)).isFalse();
      assertThat(other.selector.selectedKeys()).containsExactly(foreign);
    }
  }

  @BothProviders
  void anActionThatFailsLeavesNoKeySelected(SelectorProvider provider) throws Exception {
    try (Ready ready = Ready.open(provider, 3)) {
      assertThatThrownBy(
              () ->
                  ready.selector.select(
                      key -> {
                        throw new IllegalStateException("on purpose");
                      }))
          .hasMessage("on purpose");
      assertThat(ready.selector.selectedKeys()).isEmpty();
      assertThat(ready.selector.select()).isEqualTo(3);
    }
  }
}
