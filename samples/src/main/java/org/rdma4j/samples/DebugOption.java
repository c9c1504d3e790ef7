package org.rdma4j.samples;

import picocli.CommandLine.Option;

/** What {@link Main} looks for where a program fails. */
final class DebugOption {
  @Option(
      names = "--debug",
      description = "print the stack trace of a failure, not only a line that tells it")
  boolean debug;
}
