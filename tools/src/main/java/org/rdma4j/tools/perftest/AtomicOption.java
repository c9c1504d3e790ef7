package org.rdma4j.tools.perftest;

import picocli.CommandLine.Option;

/** The option of the tests of atomic operations. */
final class AtomicOption {
  /** The names on the command line. */
  enum Kind {
    CMP_AND_SWAP,
    FETCH_AND_ADD
  }

  @Option(
      names = {"-A", "--atomic_type"},
      paramLabel = "TYPE",
      description = "the operation: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
  Kind kind = Kind.FETCH_AND_ADD;

  void fill(Settings.Draft draft) {
    draft.compareAndSwap = kind == Kind.CMP_AND_SWAP;
  }
}
