package org.rdma4j.tools.command;

import picocli.CommandLine.Option;

/** The option {@code --debug}, which the main class looks for when a program fails. */
public final class DebugOption {
  @Option(
      names = "--debug",
      description = "if the program fails, print the stack trace as well as the one-line message")
  boolean debug;
}
