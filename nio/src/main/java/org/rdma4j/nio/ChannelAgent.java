package org.rdma4j.nio;

import java.lang.instrument.Instrumentation;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.Set;

/**
 * Makes {@link RdmaSelectorProvider} the provider of a program that is started with {@code
 * -javaagent:rdma4j-nio.jar}, and exports the JDK's own provider to it. A property that names a
 * provider already is left as it is.
 */
public final class ChannelAgent {
  private static final String PROPERTY = SelectorProvider.class.getName();

  private ChannelAgent() {}

  /**
   * Is called by the JVM before the program begins.
   *
   * @param options not used
   * @param instrumentation changes the module of the JDK
   */
  public static void premain(String options, Instrumentation instrumentation) {
    instrumentation.redefineModule(
        Object.class.getModule(),
        Set.of(),
        Map.of("sun.nio.ch", Set.of(RdmaSelectorProvider.class.getModule())),
        Map.of(),
        Set.of(),
        Map.of());
    if (System.getProperty(PROPERTY) == null) {
      System.setProperty(PROPERTY, RdmaSelectorProvider.class.getName());
    }
  }
}
