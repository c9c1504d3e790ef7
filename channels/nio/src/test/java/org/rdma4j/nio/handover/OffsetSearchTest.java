package org.rdma4j.nio.handover;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Finds the record of a peer, in whatever pieces it comes, and holds back nothing else for long.
 */
final class OffsetSearchTest {
  private final byte[] key = Proof.random();
  private final OffsetSearch search = new OffsetSearch();

  @Property
  void aRecordIsFoundInWhateverPiecesItComes(
      @ForAll @IntRange(max = 300) int before,
      @ForAll @IntRange(min = 1, max = 100) int piece,
      @ForAll boolean lookAlike,
      @ForAll long seed) {
    byte[] stream = new byte[before];
    new Random(seed).nextBytes(stream);
    if (lookAlike) {
      // What an earlier upgrade of another connection has sent is data here.
      ByteBuffer other = new Resume(Proof.random(), false, 0, 0, 0).record(0);
      other.get(stream, 0, Math.min(before, other.remaining()));
    }
    ByteBuffer all = ByteBuffer.allocate(before + Resume.RECORD_BYTES + 1);
    all.put(stream).put(new Resume(key, false, 0, 0, 0).record(before)).put(Resume.READY).flip();
    int index = -1;
    int added = 0;
    while (index < 0 && added < all.limit()) {
      int length = Math.min(piece, all.limit() - added);
      search.add(all, added, length);
      added += length;
      index = search.find(at -> Resume.isRecord(search.at(at), key, false, at));
      assertThat(search.decided()).isLessThanOrEqualTo(before);
      assertThat(search.length() - search.decided()).isLessThan(Resume.RECORD_BYTES + piece);
    }
    assertThat(index).isEqualTo(before);
    ByteBuffer behind = search.takeFrom(index);
    assertThat(behind).isEqualTo(all.slice(before, added - before));
    ByteBuffer taken = ByteBuffer.allocate(before);
    search.take(taken, before);
    assertThat(taken.array()).isEqualTo(stream);
    assertThat(search.length()).isZero();
  }

  @Property
  void bytesThatBeginNoRecordAreNotHeldBack(@ForAll byte[] bytes) {
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (bytes[i] & 0x7f);
    }
    search.add(ByteBuffer.wrap(bytes), 0, bytes.length);
    assertThat(search.find(at -> false)).isNegative();
    assertThat(search.decided()).isEqualTo(bytes.length);
    search.take(ByteBuffer.allocate(bytes.length), bytes.length);
  }
}
