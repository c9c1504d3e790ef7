package org.rdma4j.nio;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a selector has selected. They are in a list, and each key knows its place there, so
 * a selection needs no hash table. A program can remove keys, but not add them.
 */
final class SelectedKeys extends AbstractSet<SelectionKey> {
  private final ReadySelector selector;
  private final ArrayList<ReadyKey> keys = new ArrayList<>();

  /** The number of additions and removals, which an iterator must notice. */
  private int changes;

  SelectedKeys(ReadySelector selector) {
    this.selector = selector;
  }

  /** Adds a key of this selector that is not selected. */
  void select(ReadyKey key) {
    changes++;
    keys.add(key);
    key.select(keys.size() - 1);
  }

  /** Removes one of the keys, of which there must be some, and returns it. */
  ReadyKey take() {
    return removeAt(keys.size() - 1);
  }

  /** Removes a key. The last one takes its place. */
  private ReadyKey removeAt(int place) {
    changes++;
    ReadyKey last = keys.removeLast();
    ReadyKey removed = last;
    if (place < keys.size()) {
      removed = keys.set(place, last);
      last.select(place);
    }
    removed.deselect();
    return removed;
  }

  @Override
  public int size() {
    return keys.size();
  }

  @Override
  public boolean contains(@Nullable Object element) {
    return element instanceof ReadyKey key && key.selector() == selector && key.isSelected();
  }

  @Override
  public boolean remove(@Nullable Object element) {
    if (element instanceof ReadyKey key && contains(key)) {
      var unused = removeAt(key.place());
      return true;
    }
    return false;
  }

  @Override
  public void clear() {
    while (!keys.isEmpty()) {
      var unused = take();
    }
  }

  @Override
  public Iterator<SelectionKey> iterator() {
    return new Visit();
  }

  private final class Visit implements Iterator<SelectionKey> {
    private int next;
    private boolean removable;
    private int expected = changes;

    @Override
    public boolean hasNext() {
      return next < keys.size();
    }

    @Override
    public SelectionKey next() {
      checkUnchanged();
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      removable = true;
      return keys.get(next++);
    }

    /** The key that takes its place is the next one. */
    @Override
    public void remove() {
      if (!removable) {
        throw new IllegalStateException("next must be called before each remove");
      }
      checkUnchanged();
      removable = false;
      var unused = removeAt(--next);
      expected = changes;
    }

    private void checkUnchanged() {
      if (expected != changes) {
        throw new ConcurrentModificationException();
      }
    }
  }
}
