package org.rdma4j.lifetime;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The objects of a device by their native pointers, for events that identify an object only by its
 * pointer. Closed objects are not found, because their addresses are used again.
 */
public final class NativeObjects {
  private final Map<Long, Entry> objects = new ConcurrentHashMap<>();
  private final ReferenceQueue<Object> unreachable = new ReferenceQueue<>();

  private static final class Entry extends WeakReference<Object> {
    private final long pointer;

    /**
     * A weak reference too, because the action that destroys the native object may refer to the
     * object.
     */
    private final WeakReference<Lifetime> lifetime;

    Entry(long pointer, Object object, Lifetime lifetime, ReferenceQueue<Object> queue) {
      super(object, queue);
      this.pointer = pointer;
      this.lifetime = new WeakReference<>(lifetime);
    }

    boolean isOpen() {
      Lifetime reachable = lifetime.get();
      return reachable != null && reachable.isOpen();
    }
  }

  public void register(long pointer, Object object, Lifetime lifetime) {
    for (Reference<?> gone = unreachable.poll(); gone != null; gone = unreachable.poll()) {
      Entry entry = (Entry) gone;
      objects.remove(entry.pointer, entry);
    }
    objects.put(pointer, new Entry(pointer, object, lifetime, unreachable));
  }

  /** Finds the open object of the given type at the given address. */
  public <T> Optional<T> find(Class<T> type, long pointer) {
    Entry entry = objects.get(pointer);
    return entry == null || !entry.isOpen()
        ? Optional.empty()
        : Optional.ofNullable(entry.get()).filter(type::isInstance).map(type::cast);
  }
}
