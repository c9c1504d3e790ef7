package org.rdma4j.nio;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.rdma4j.testing.JavaCommand;

/** A jar that makes a class of the class path an agent. */
final class AgentJar {
  private AgentJar() {}

  /** Returns the option of Java that starts the agent. */
  static String option(Path folder, Class<?> agent) throws IOException {
    Path jar = folder.resolve(agent.getSimpleName() + ".jar");
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", agent.getName());
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    return "-javaagent:" + jar;
  }

  /** Runs a program in another JVM, and returns what it prints. */
  static Printed run(Class<?> program, List<String> options, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(JavaCommand.of(program, arguments));
    command.addAll(1, options);
    Path errors = Files.createTempFile("errors", ".txt");
    try {
      Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        throw new IllegalStateException("it does not end: " + output);
      }
      return new Printed(output, Files.readString(errors));
    } finally {
      Files.delete(errors);
    }
  }

  record Printed(String output, String errors) {}
}
