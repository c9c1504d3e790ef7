package org.rdma4j.datapath;

/**
 * Checks requests of SRD before they are posted. libefa refuses most of what is wrong with them
 * with EINVAL alone, and writes inline bytes of a read over its address; what it does not check
 * fails with a completion.
 */
public final class ReliableDatagramPosting extends ChainPosting {
  private static final int FLAGS = SendLayout.SIGNALED | SendLayout.INLINE;

  private final ExtendedQueuePair posting;
  private final boolean signalsAll;
  private final long messageBytes;
  private final long transferBytes;

  /**
   * Creates the checks.
   *
   * @param posting what posts the requests
   * @param signalsAll whether a request creates a completion although it is not signaled
   * @param messageBytes the maximum length of a message in bytes
   * @param transferBytes the maximum length of a read or write in bytes
   */
  public ReliableDatagramPosting(
      ExtendedQueuePair posting, boolean signalsAll, long messageBytes, long transferBytes) {
    this.posting = posting;
    this.signalsAll = signalsAll;
    this.messageBytes = messageBytes;
    this.transferBytes = transferBytes;
  }

  @Override
  public int post(long requests, long badRequest) {
    int index = 0;
    for (long each = requests; each != 0; each = RawMemory.getLong(each + RequestLayout.NEXT)) {
      check(each, index++);
    }
    return posting.post(requests, badRequest);
  }

  private void check(long request, int index) {
    int flags = RawMemory.getInt(request + SendLayout.SEND_FLAGS);
    if ((flags & ~FLAGS) != 0) {
      throw wrong(index, "is fenced, solicited or checksummed, which SRD does not have");
    }
    if (!signalsAll && (flags & SendLayout.SIGNALED) == 0) {
      throw wrong(
          index,
          "creates no completion, which SRD requires; call signaled, or create the queue pair with"
              + " signalAll(true)");
    }
    int opcode = RawMemory.getInt(request + SendLayout.OPCODE);
    int pieces = RawMemory.getInt(request + RequestLayout.NUM_SGE);
    if (opcode == SendLayout.SEND || opcode == SendLayout.SEND_WITH_IMM) {
      checkBytes(
          request,
          pieces,
          messageBytes,
          index,
          "longer messages take several, or a read by the peer");
      return;
    }
    if ((flags & SendLayout.INLINE) != 0) {
      throw wrong(index, "is a read or write with inline bytes; call from or into");
    }
    if (pieces > 1) {
      throw wrong(
          index, "has " + pieces + " pieces, must have at most 1, because it is a read or write");
    }
    checkBytes(request, pieces, transferBytes, index, "longer reads and writes take several");
  }

  private static void checkBytes(long request, int pieces, long max, int index, String remedy) {
    long bytes = 0;
    for (int i = 0; i < pieces; i++) {
      long piece = request + SendLayout.SIZE + (long) i * RequestLayout.SGE_SIZE;
      bytes += Integer.toUnsignedLong(RawMemory.getInt(piece + RequestLayout.SGE_LENGTH));
    }
    if (bytes > max) {
      throw wrong(index, "has " + bytes + " bytes, must have at most " + max + "; " + remedy);
    }
  }

  private static IllegalStateException wrong(int index, String what) {
    return new IllegalStateException("request " + index + " of the post " + what);
  }
}
