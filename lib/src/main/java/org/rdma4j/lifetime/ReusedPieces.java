package org.rdma4j.lifetime;

/** Which pieces of {@link ReusedMemory} a memory region consists of. */
public final class ReusedPieces {
  private final long stride;
  private final ReusedMemory[] pieces;

  /**
   * Creates the pieces of one region.
   *
   * @param stride the number of bytes from the beginning of a piece to that of the next one
   */
  public ReusedPieces(long stride, ReusedMemory... pieces) {
    this.stride = stride;
    this.pieces = pieces;
  }

  /**
   * Counts an operation on all pieces of a part of the region until {@link #end}.
   *
   * @throws IllegalStateException if no user holds one of them; nothing is counted then
   */
  public void begin(long offset, long length) {
    int last = index(offset + Math.max(1, length) - 1);
    int next = index(offset);
    while (next <= last) {
      try {
        pieces[next].begin();
      } catch (IllegalStateException notHeld) {
        for (int i = index(offset); i < next; i++) {
          pieces[i].end();
        }
        throw notHeld;
      }
      next++;
    }
  }

  /** Ends an operation on a part of the region. */
  public void end(long offset, long length) {
    int last = index(offset + Math.max(1, length) - 1);
    for (int i = index(offset); i <= last; i++) {
      pieces[i].end();
    }
  }

  /** The end of the region belongs to the last piece. */
  private int index(long offset) {
    return (int) Math.min(offset / stride, pieces.length - 1L);
  }
}
