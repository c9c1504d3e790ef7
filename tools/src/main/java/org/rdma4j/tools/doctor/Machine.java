package org.rdma4j.tools.doctor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The files that describe a machine: those of the kernel in {@code /sys}, {@code /proc} and {@code
 * /dev}, and those of the distribution. A file that does not exist, or that this user may not read,
 * counts as empty, since a check concludes the same from both.
 *
 * @param root the directory that contains them; {@code /}, or that of a test
 */
record Machine(Path root) {
  /** Returns the machine that this program runs on. */
  static Machine ofThisProcess() {
    return new Machine(Path.of("/"));
  }

  Path path(String absolute) {
    return root.resolve(absolute.substring(1));
  }

  boolean exists(String path) {
    return Files.exists(path(path));
  }

  /** Returns the content of a file without the spaces around it. */
  String text(String path) {
    try {
      return Files.readString(path(path)).strip();
    } catch (IOException unreadable) {
      return "";
    }
  }

  List<String> lines(String path) {
    return text(path).lines().toList();
  }

  /** Returns the sorted names in a directory. */
  List<String> names(String directory) {
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(path(directory))) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(path(directory))) {
        entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
      } catch (IOException unreadable) {
        return List.of();
      }
    }
    names.sort(null);
    return names;
  }

  /** Returns the name of what a symbolic link points to. */
  String linkedName(String path) {
    try {
      return String.valueOf(Files.readSymbolicLink(path(path)).getFileName());
    } catch (IOException noLink) {
      return "";
    }
  }

  /** Returns the rest of the first line of a file that begins with this text. */
  String field(String path, String start) {
    return lines(path).stream()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()).strip())
        .findFirst()
        .orElse("");
  }

  /** Returns the release of the kernel, as {@code uname -r} prints it. */
  String kernelRelease() {
    return text("/proc/sys/kernel/osrelease");
  }

  /** Returns whether this process runs in a container of Docker, Podman or Kubernetes. */
  boolean isContainer() {
    return exists("/.dockerenv")
        || exists("/run/.containerenv")
        || exists("/var/run/secrets/kubernetes.io");
  }

  /** Returns whether this process is root, in a user namespace or outside. */
  boolean isRoot() {
    return field("/proc/self/status", "Uid:").matches("\\d+\\s+0\\s.*");
  }

  /** Returns a command that only root can run, as this user has to type it. */
  String asRoot(String command) {
    return isRoot() ? command : "sudo " + command;
  }
}
