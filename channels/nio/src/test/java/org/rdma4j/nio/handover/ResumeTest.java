package org.rdma4j.nio.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.rdma4j.nio.handover.Handover.Source;

/** Both ends of a connection that resume over TCP, and a peer that lies. */
final class ResumeTest {
  private static final long MOST = 1000;
  private static final long OFFSET = 2000;

  private final byte[] key = Proof.random();

  /** The parts are how much of what was sent was delivered, and how much of it is held. */
  @Property
  void theRestIsSentAgainOrTheConnectionIsReset(
      @ForAll @LongRange(min = 0, max = MOST) long sent,
      @ForAll @LongRange(min = 0, max = MOST) long received,
      @ForAll @IntRange(min = 0, max = 100) int deliveredPart,
      @ForAll @IntRange(min = 0, max = 100) int heldPart)
      throws HandoverException {
    long delivered = sent * deliveredPart / 100;
    long held = sent * heldPart / 100;
    Resume client = new Resume(key, true, sent, received, held);
    Resume server = new Resume(key, false, received, delivered, 0);
    if (sent - delivered > held) {
      assertThatThrownBy(() -> client.accept(server.record(OFFSET), OFFSET))
          .isInstanceOf(HandoverException.class)
          .hasMessageContaining("are still held");
      assertThat(client.isAccepted()).isFalse();
      return;
    }
    assertThat(client.accept(server.record(OFFSET), OFFSET)).isEqualTo(sent - delivered);
    assertThat(server.accept(client.record(OFFSET), OFFSET)).isZero();
    checkEnd(server, sent - delivered);
    checkEnd(client, 0);
  }

  private static void checkEnd(Resume end, long missing) {
    assertThat(end.source()).isEqualTo(Source.TCP);
    if (missing > 0) {
      end.read(missing - 1);
      end.tcpEnded();
      assertThat(end.source()).isEqualTo(Source.RESET);
      end.read(1);
    }
    end.tcpEnded();
    assertThat(end.source()).isEqualTo(Source.END);
  }

  @Property
  void aChangedRecordIsNotAccepted(
      @ForAll @IntRange(min = 0, max = Resume.RECORD_BYTES - 1) int index,
      @ForAll @IntRange(min = 1, max = 255) int change) {
    byte[] record = new byte[Resume.RECORD_BYTES];
    new Resume(key, false, 20, 10, 10).record(OFFSET).get(record);
    record[index] ^= (byte) change;
    Resume client = new Resume(key, true, 20, 10, 20);
    assertThatThrownBy(() -> client.accept(ByteBuffer.wrap(record), OFFSET))
        .isInstanceOf(HandoverException.class);
    assertThat(client.source()).isNull();
  }

  @Property
  void onlyTheBeginOfARecordIsTakenForOne(
      @ForAll @IntRange(min = 0, max = Resume.RECORD_BYTES) int length,
      @ForAll @IntRange(min = 0, max = Resume.RECORD_BYTES - 1) int index) {
    ByteBuffer record = new Resume(key, false, 20, 10, 10).record(OFFSET).limit(length);
    assertThat(Resume.isBegin(record)).isTrue();
    assertThat(record.remaining()).isEqualTo(length);
    if (index < Math.min(length, Long.BYTES)) {
      assertThat(Resume.isBegin(record.put(index, (byte) (record.get(index) + 1)))).isFalse();
    }
  }

  @Property
  void anyOtherBytesAreNotAccepted(@ForAll byte[] bytes) {
    Resume client = new Resume(key, true, 20, 10, 20);
    assertThatThrownBy(() -> client.accept(ByteBuffer.wrap(bytes), OFFSET))
        .isInstanceOf(HandoverException.class);
  }

  @Property
  void aPeerThatKnowsTheKeyCannotLie(@ForAll long delivered, @ForAll long sent) {
    ByteBuffer record =
        ByteBuffer.allocate(Resume.RECORD_BYTES)
            .put(new Resume(key, false, 0, 0, 0).record(OFFSET).limit(Long.BYTES));
    record.putLong(delivered).putLong(sent);
    ByteBuffer text = ByteBuffer.allocate(1 + 4 * Long.BYTES);
    text.put((byte) 's').putLong(record.getLong(0)).putLong(OFFSET);
    text.putLong(delivered).putLong(sent);
    record.put(Proof.authenticate(key, text.array())).flip();
    Resume client = new Resume(key, true, 20, 10, 5);
    boolean fits = delivered >= 15 && delivered <= 20 && sent >= 10;
    try {
      assertThat(client.accept(record, OFFSET)).isEqualTo(20 - delivered);
      assertThat(fits).isTrue();
    } catch (HandoverException lie) {
      assertThat(fits).isFalse();
    }
  }

  @Example
  void ownRecordSentBackIsNotAccepted() {
    Resume client = new Resume(key, true, 20, 20, 20);
    assertThatThrownBy(() -> client.accept(client.record(OFFSET), OFFSET))
        .hasMessageContaining("authentication of the peer's resume record failed");
  }

  @Example
  void aRecordOfAnotherUpgradeIsNotAccepted() {
    Resume client = new Resume(key, true, 20, 20, 20);
    assertThatThrownBy(
            () ->
                client.accept(new Resume(Proof.random(), false, 20, 20, 20).record(OFFSET), OFFSET))
        .hasMessageContaining("authentication of the peer's resume record failed");
  }

  @Example
  void aRecordAtAnotherPlaceOfTheStreamIsRefused() {
    Resume client = new Resume(key, true, 0, 0, 0);
    ByteBuffer record = new Resume(key, false, 0, 0, 0).record(OFFSET);
    assertThatThrownBy(() -> client.accept(record, OFFSET + 1))
        .isInstanceOf(HandoverException.class)
        .hasMessageContaining("authentication");
  }
}
