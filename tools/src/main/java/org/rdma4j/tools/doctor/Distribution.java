package org.rdma4j.tools.doctor;

import java.util.List;

/** A family of Linux distributions: how its packages are installed, and what they are called. */
enum Distribution {
  DEBIAN(
      "apt-get install ",
      "libibverbs1 ibverbs-providers librdmacm1",
      "ibverbs-providers",
      "linux-image-amd64"),
  UBUNTU(
      "apt-get install ",
      "libibverbs1 ibverbs-providers librdmacm1",
      "ibverbs-providers",
      "linux-modules-extra-$(uname -r)"),
  FEDORA("dnf install ", "libibverbs librdmacm", "libibverbs", "kernel-modules-extra-$(uname -r)"),
  SUSE("zypper install ", "libibverbs1 librdmacm1", "libibverbs", "kernel-default"),
  OTHER(
      "install the packages ",
      "libibverbs and librdmacm of rdma-core",
      "of rdma-core with the providers",
      "with all modules of the kernel");

  private static final String RELEASE_FILE = "/etc/os-release";

  private final String install;
  private final String libraries;
  private final String providers;
  private final String modules;

  Distribution(String install, String libraries, String providers, String modules) {
    this.install = install;
    this.libraries = libraries;
    this.providers = providers;
    this.modules = modules;
  }

  static Distribution of(Machine machine) {
    String names =
        machine.field(RELEASE_FILE, "ID=") + " " + machine.field(RELEASE_FILE, "ID_LIKE=");
    List<String> ids = List.of(names.replace("\"", "").split(" +"));
    if (ids.contains("ubuntu")) {
      return UBUNTU;
    } else if (ids.contains("debian")) {
      return DEBIAN;
    } else if (ids.contains("fedora") || ids.contains("rhel")) {
      return FEDORA;
    }
    return ids.contains("suse") || ids.contains("opensuse") ? SUSE : OTHER;
  }

  /** Returns the command that installs libibverbs, its providers and librdmacm. */
  String installLibraries(Machine machine) {
    return command(machine, libraries);
  }

  /** Returns the command that installs the providers of libibverbs. */
  String installProviders(Machine machine) {
    return command(machine, providers);
  }

  /** Returns the command that installs a kernel, or its modules, with InfiniBand. */
  String installModules(Machine machine) {
    return command(machine, modules);
  }

  private String command(Machine machine, String packages) {
    return this == OTHER ? install + packages : machine.asRoot(install + packages);
  }
}
