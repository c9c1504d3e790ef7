package org.rdma4j.tools.doctor;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that this process can open the files in {@code /dev/infiniband}. It opens them, because
 * their permissions do not show everything: a container may refuse what they allow.
 */
final class DeviceFileCheck {
  private static final String SUBJECT = "permissions";
  private static final String FILES = "/dev/infiniband/";
  private static final String CLASS = "/sys/class/infiniband_verbs";

  private final Machine machine;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> open = new ArrayList<>();

  private DeviceFileCheck(Machine machine) {
    this.machine = machine;
  }

  static List<Finding> check(Machine machine) {
    return new DeviceFileCheck(machine).findings();
  }

  private List<Finding> findings() {
    for (String name : machine.names(CLASS)) {
      if (name.startsWith("uverbs")) {
        checkFile(name, " of " + machine.text(CLASS + "/" + name + "/ibdev"));
      }
    }
    if (machine.exists("/sys/class/misc/rdma_cm")) {
      checkFile("rdma_cm", " of the connection manager");
    }
    if (!open.isEmpty()) {
      findings.add(Finding.ok(SUBJECT, "this user can open " + String.join(", ", open)));
    }
    return findings;
  }

  private void checkFile(String name, String owner) {
    Path path = machine.path(FILES + name);
    try {
      FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE).close();
      open.add(FILES + name);
    } catch (NoSuchFileException missing) {
      findings.add(
          Finding.problem(
              SUBJECT,
              "there is no %s%s%s".formatted(FILES, name, owner),
              machine.isContainer()
                  ? passIntoContainer()
                  : machine.asRoot("udevadm trigger --action=add --sysname-match=" + name)));
    } catch (AccessDeniedException denied) {
      String allow = machine.asRoot("chmod a+rw " + FILES + name);
      findings.add(refused(name, owner, "permission denied", allow));
    } catch (FileSystemException refused) {
      // EPERM: the permissions of the file allow it, but the control group of the container not.
      findings.add(refused(name, owner, String.valueOf(refused.getReason()), passIntoContainer()));
    } catch (IOException failed) {
      findings.add(refused(name, owner, failed.toString(), "dmesg | tail"));
    }
  }

  private static Finding refused(String name, String owner, String reason, String fix) {
    return Finding.problem(
        SUBJECT,
        "this user cannot open %s%s%s for reading and writing: %s"
            .formatted(FILES, name, owner, reason),
        fix);
  }

  private static String passIntoContainer() {
    return "start the container with --device=/dev/infiniband";
  }
}
