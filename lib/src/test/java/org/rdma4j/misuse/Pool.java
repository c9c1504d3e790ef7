package org.rdma4j.misuse;

import java.util.Random;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Objects of one type, open and closed ones, that all threads share. A new object replaces another,
 * which is then closed.
 */
final class Pool<T> {
  /** There is no object yet. */
  static final class NothingYet extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NothingYet() {
      super(null, null, false, false);
    }
  }

  private final AtomicReferenceArray<T> places;

  Pool(int size) {
    places = new AtomicReferenceArray<>(size);
  }

  /** Returns any object, some more often than others, so that related objects are used together. */
  T any(Random random) {
    T object = places.get(random.nextInt(1 + random.nextInt(places.length())));
    if (object == null) {
      throw new NothingYet();
    }
    return object;
  }

  void add(Random random, T object) throws Exception {
    close(places.getAndSet(random.nextInt(places.length()), object));
  }

  void closeAll() throws Exception {
    for (int i = 0; i < places.length(); i++) {
      close(places.get(i));
    }
  }

  private static void close(Object object) throws Exception {
    if (object instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }
}
