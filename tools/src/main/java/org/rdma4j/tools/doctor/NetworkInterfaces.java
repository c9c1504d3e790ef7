package org.rdma4j.tools.doctor;

import java.util.Optional;

/** The network interfaces of a machine. */
record NetworkInterfaces(Machine machine) {
  private static final String CLASS = "/sys/class/net";
  private static final int UP = 1; // IFF_UP

  /** Returns whether an interface was brought up. */
  boolean isUp(String name) {
    String flags = machine.text(CLASS + "/" + name + "/flags");
    return flags.startsWith("0x") && (Integer.parseInt(flags.substring(2), 16) & UP) != 0;
  }

  /** Returns whether an interface has a link: a cable, or the software that stands for one. */
  boolean hasCarrier(String name) {
    return machine.text(CLASS + "/" + name + "/carrier").equals("1");
  }

  /** Returns the MTU of an interface, in bytes. */
  String mtu(String name) {
    return machine.text(CLASS + "/" + name + "/mtu");
  }

  /** Returns an interface of an adapter that is up, over which a software device can be made. */
  Optional<String> first() {
    return machine.names(CLASS).stream()
        .filter(name -> !name.equals("lo") && isUp(name) && hasCarrier(name))
        .findFirst();
  }
}
