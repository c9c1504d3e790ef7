package org.rdma4j.tools.selftest;

import java.util.Locale;
import org.rdma4j.verbs.CompletionOpcode;

/** What is posted to a queue pair. */
enum RequestKind {
  SEND(CompletionOpcode.SEND),
  SEND_INLINE(CompletionOpcode.SEND),
  SEND_WITH_IMMEDIATE(CompletionOpcode.SEND),
  WRITE(CompletionOpcode.RDMA_WRITE),
  READ(CompletionOpcode.RDMA_READ),
  COMPARE_AND_SWAP(CompletionOpcode.COMPARE_AND_SWAP),
  FETCH_AND_ADD(CompletionOpcode.FETCH_AND_ADD);

  private final CompletionOpcode opcode;

  RequestKind(CompletionOpcode opcode) {
    this.opcode = opcode;
  }

  boolean isReceived() {
    return opcode == CompletionOpcode.SEND;
  }

  boolean isAtomic() {
    return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
  }

  /** Returns the opcode of its completion. */
  CompletionOpcode opcode() {
    return opcode;
  }

  String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
