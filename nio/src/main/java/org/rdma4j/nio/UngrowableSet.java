package org.rdma4j.nio;

import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A view of a set from which elements can be removed, but to which none can be added. */
final class UngrowableSet<T> extends AbstractSet<T> {
  private final Set<T> set;

  UngrowableSet(Set<T> set) {
    this.set = set;
  }

  @Override
  public Iterator<T> iterator() {
    return set.iterator();
  }

  @Override
  public int size() {
    return set.size();
  }

  @Override
  public boolean contains(@Nullable Object element) {
    return set.contains(element);
  }

  @Override
  public boolean remove(@Nullable Object element) {
    return set.remove(element);
  }

  @Override
  public void clear() {
    set.clear();
  }
}
