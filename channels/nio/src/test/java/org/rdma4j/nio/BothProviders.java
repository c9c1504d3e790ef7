package org.rdma4j.nio;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A test that runs with the provider of the JDK and with ours. So what it expects is what the JDK
 * does.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "{0}")
@MethodSource("org.rdma4j.nio.BothProviders$Source#providers")
@interface BothProviders {
  /** The providers. */
  final class Source {
    private Source() {}

    static List<Named<SelectorProvider>> providers() {
      return List.of(
          Named.of("the JDK's", JdkProvider.find()), Named.of("ours", new RdmaSelectorProvider()));
    }
  }
}
