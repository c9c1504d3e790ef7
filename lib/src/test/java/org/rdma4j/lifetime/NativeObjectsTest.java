package org.rdma4j.lifetime;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

final class NativeObjectsTest {
  private static final long POINTER = 0x7000_0000_1000L;

  private final NativeObjects objects = new NativeObjects();
  private final Lifetime lifetime = new Lifetime("object", () -> {});

  @Test
  void anOpenObjectIsFoundByItsPointerAndType() {
    objects.register(POINTER, "object", lifetime);
    assertThat(objects.find(String.class, POINTER)).contains("object");
    assertThat(objects.find(Integer.class, POINTER)).isEmpty();
    assertThat(objects.find(String.class, POINTER + 8)).isEmpty();
  }

  @Test
  void aClosedObjectIsNotFound() {
    objects.register(POINTER, "object", lifetime);
    lifetime.close();
    assertThat(objects.find(String.class, POINTER)).isEmpty();
  }

  @Test
  void theNextObjectAtAnAddressIsFound() {
    objects.register(POINTER, "first", lifetime);
    lifetime.close();
    objects.register(POINTER, "second", new Lifetime("second", () -> {}));
    assertThat(objects.find(String.class, POINTER)).contains("second");
  }

  @Test
  void theNextObjectAtAnAddressOutlivesTheFirst() throws InterruptedException {
    WeakReference<Object> first = registerAndDrop(lifetime, new Object());
    assertThatItIsCollected(first);
    objects.register(POINTER, "second", lifetime);
    Thread.sleep(100);
    objects.register(POINTER + 8, "third", lifetime);
    assertThat(objects.find(String.class, POINTER)).contains("second");
  }

  @Test
  void anObjectThatItsLifetimeLeadsToIsCollected() throws InterruptedException {
    assertThatItIsCollected(registerAndDropWithItsLifetime());
  }

  private WeakReference<Object> registerAndDropWithItsLifetime() {
    Object object = new Object();
    return registerAndDrop(
        new Lifetime("leading to it", () -> assertThat(object).isNotNull()), object);
  }

  private WeakReference<Object> registerAndDrop(Lifetime itsLifetime, Object object) {
    objects.register(POINTER, object, itsLifetime);
    return new WeakReference<>(object);
  }

  private static void assertThatItIsCollected(WeakReference<Object> dropped)
      throws InterruptedException {
    for (int i = 0; i < 100 && dropped.get() != null; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertThat(dropped.get()).isNull();
  }
}
