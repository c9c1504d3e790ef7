package org.rdma4j.nio;

import java.lang.System.Logger.Level;
import java.lang.instrument.Instrumentation;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes {@link RdmaSelectorProvider} the provider of a program that is started with {@code
 * -javaagent:rdma4j-nio.jar}, and exports the JDK's own provider to it. It upgrades {@link
 * java.net.Socket} and {@link java.net.ServerSocket} to RDMA, too, unless {@code
 * org.rdma4j.nio.sockets} is {@code false}.
 *
 * <p>A property that names another provider already is left as it is; sockets stay on TCP then.
 */
public final class ChannelAgent {
  private static final String PROPERTY = SelectorProvider.class.getName();

  /** A class of each jar that the agent needs. */
  private static final List<String> NEEDED =
      List.of("org.rdma4j.connection.RdmaNode", "org.rdma4j.bindings.NativeAccess");

  private ChannelAgent() {}

  /**
   * Is called by the JVM before the program begins.
   *
   * @param options not used
   * @param instrumentation changes the module of the JDK
   */
  public static void premain(String options, Instrumentation instrumentation) {
    if (!isComplete()) {
      return;
    }
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
    if (!ours.equals(System.getProperty(PROPERTY))) {
      return;
    }
    if (!(SelectorProvider.provider() instanceof RdmaSelectorProvider)) {
      log(
          "all channels and sockets use TCP, because an agent before this one has used a channel:"
              + " name -javaagent of rdma4j-nio before other agents");
    } else if (ChannelSettings.sockets(System::getProperty)) {
      PlainSockets.install(isLoaded(instrumentation, "sun.security.ssl.SSLServerSocketImpl"));
    }
  }

  /**
   * Returns whether the agent finds the library that it needs. If not, the program uses the
   * channels and sockets of the JDK, and one line gives the reason.
   */
  private static boolean isComplete() {
    for (String each : NEEDED) {
      try {
        Class.forName(each, false, ChannelAgent.class.getClassLoader());
      } catch (ClassNotFoundException | LinkageError missing) {
        log(
            "all channels and sockets use TCP, because the class "
                + each
                + " is missing: put the jars of rdma4j and rdma4j-bindings, with their names, in the"
                + " folder of the agent, or on the class path");
        return false;
      }
    }
    return true;
  }

  private static boolean isLoaded(Instrumentation instrumentation, String name) {
    return Arrays.stream(instrumentation.getAllLoadedClasses())
        .anyMatch(each -> each.getName().equals(name));
  }

  private static void log(String line) {
    System.getLogger("org.rdma4j.nio").log(Level.WARNING, line);
  }
}
