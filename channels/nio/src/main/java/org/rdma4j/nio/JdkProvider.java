package org.rdma4j.nio;

import java.lang.reflect.Field;
import java.nio.channels.spi.SelectorProvider;

/**
 * The provider of the JDK, whose channels and selectors those of this package hold.
 *
 * <p>The JDK does not export it, and {@link SelectorProvider#provider} returns ours. So this calls
 * {@code sun.nio.ch.DefaultSelectorProvider} if the program was started with {@code
 * --add-exports=java.base/sun.nio.ch=ALL-UNNAMED}; otherwise it creates an instance of the provider
 * for Linux, which has no fields, without its constructor.
 */
final class JdkProvider {
  private JdkProvider() {}

  /**
   * Finds the provider.
   *
   * @throws IllegalStateException if this JDK permits neither way
   */
  static SelectorProvider find() {
    try {
      return exported();
    } catch (ReflectiveOperationException notExported) {
      try {
        return allocated();
      } catch (ReflectiveOperationException | RuntimeException refused) {
        IllegalStateException failure =
            new IllegalStateException(
                "the SelectorProvider of the JDK cannot be reached:"
                    + " start Java with --add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                refused);
        failure.addSuppressed(notExported);
        throw failure;
      }
    }
  }

  private static SelectorProvider exported() throws ReflectiveOperationException {
    Class<?> known = Class.forName("sun.nio.ch.DefaultSelectorProvider");
    return (SelectorProvider) known.getMethod("get").invoke(null);
  }

  private static SelectorProvider allocated() throws ReflectiveOperationException {
    Class<?> unsafe = Class.forName("sun.misc.Unsafe");
    Field instance = unsafe.getDeclaredField("theUnsafe");
    instance.setAccessible(true);
    return (SelectorProvider)
        unsafe
            .getMethod("allocateInstance", Class.class)
            .invoke(instance.get(null), Class.forName("sun.nio.ch.EPollSelectorProvider"));
  }
}
