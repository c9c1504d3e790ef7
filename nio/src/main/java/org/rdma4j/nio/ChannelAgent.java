package org.rdma4j.nio;

import java.lang.instrument.Instrumentation;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.Set;

/**
 * Makes {@link RdmaSelectorProvider} the provider of a program that is started with {@code
 * -javaagent:rdma4j-nio.jar}, and exports the JDK's own provider to it. It lets {@link
 * java.net.Socket} and {@link java.net.ServerSocket} go over to RDMA, too, unless {@code
 * org.rdma4j.nio.sockets} is {@code off}.
 *
 * <p>A property that names another provider already is left as it is; sockets stay with TCP then.
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
        Map.of("java.net", Set.of(RdmaSelectorProvider.class.getModule())),
        Set.of(),
        Map.of());
    String ours = RdmaSelectorProvider.class.getName();
    if (System.getProperty(PROPERTY) == null) {
      System.setProperty(PROPERTY, ours);
    }
    if (ours.equals(System.getProperty(PROPERTY)) && ChannelSettings.sockets(System::getProperty)) {
      PlainSockets.install();
    }
  }
}
