package org.rdma4j.nio;

import java.lang.management.ManagementFactory;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/** Registers the channels of a provider for JMX. Needs a module that a runtime may lack. */
final class Monitoring {
  /** More providers of one process are not shown. */
  private static final int MOST = 100;

  private Monitoring() {}

  /**
   * Registers a bean under the first name that is free.
   *
   * @return takes the bean out; null if it cannot be registered
   */
  static @Nullable Runnable register(ChannelsMXBean channels) {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      for (int number = 1; number <= MOST; number++) {
        ObjectName name =
            new ObjectName("org.rdma4j:type=Channels" + (number == 1 ? "" : ",number=" + number));
        if (tryRegister(server, name, channels)) {
          return () -> remove(server, name);
        }
      }
      log("the channels cannot be seen by JMX: " + MOST + " providers are registered already");
    } catch (JMException failed) {
      log("the channels cannot be seen by JMX: " + failed);
    }
    return null;
  }

  private static boolean tryRegister(MBeanServer server, ObjectName name, ChannelsMXBean channels)
      throws JMException {
    try {
      server.registerMBean(channels, name);
      return true;
    } catch (InstanceAlreadyExistsException taken) {
      return false;
    }
  }

  private static void remove(MBeanServer server, ObjectName name) {
    try {
      server.unregisterMBean(name);
    } catch (JMException goneAlready) {
      log(name + " was not registered any more: " + goneAlready);
    }
  }

  private static void log(String event) {
    System.getLogger("org.rdma4j.nio").log(System.Logger.Level.DEBUG, event);
  }
}
