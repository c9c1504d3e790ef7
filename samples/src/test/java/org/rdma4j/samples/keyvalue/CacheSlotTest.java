package org.rdma4j.samples.keyvalue;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class CacheSlotTest {
  private static ByteBuffer slot(String key, String value) {
    ByteBuffer slot = ByteBuffer.allocate(CacheSlot.BYTES);
    CacheSlot.store(slot, entry(key, value));
    return slot;
  }

  private static ByteBuffer entry(String key, String value) {
    return CacheSlot.entry(key.getBytes(US_ASCII), value.getBytes(US_ASCII));
  }

  @Test
  void anEntryThatWasStoredIsLoaded() {
    ByteBuffer entry = CacheSlot.load(slot("key", "value")).orElseThrow();

    assertThat(entry).isEqualTo(entry("key", "value"));
    assertThat(CacheSlot.key(entry)).asString(US_ASCII).isEqualTo("key");
  }

  @Test
  void mixturesOfTwoEntriesAreNotLoaded() {
    ByteBuffer before = slot("key", "the old value, which is a bit longer");
    ByteBuffer after = slot("key", "the new value");
    int used = 2 * Integer.BYTES + entry("key", "the new value").remaining();
    for (int i = 1; i < used; i++) {
      assertThatOneOfTheTwoOrNothingIsLoaded(before, after, i);
      assertThatOneOfTheTwoOrNothingIsLoaded(after, before, i);
    }
  }

  private static void assertThatOneOfTheTwoOrNothingIsLoaded(
      ByteBuffer head, ByteBuffer tail, int length) {
    ByteBuffer mixture = ByteBuffer.allocate(CacheSlot.BYTES);
    mixture.put(0, tail, 0, CacheSlot.BYTES).put(0, head, 0, length);
    if (!mixture.equals(head) && !mixture.equals(tail)) {
      assertThat(CacheSlot.load(mixture))
          .as("the first %d bytes of another slot", length)
          .satisfiesAnyOf(
              nothing -> assertThat(nothing).isEmpty(),
              loaded -> assertThat(loaded).isEqualTo(CacheSlot.load(head)));
    }
  }

  @Test
  void lengthsOutsideTheSlotAreNotLoaded() {
    for (int length : new int[] {-1, CacheSlot.MAX_ENTRY_BYTES + 1, Integer.MAX_VALUE}) {
      assertThat(CacheSlot.load(slot("key", "value").putInt(Integer.BYTES, length))).isEmpty();
    }
  }

  @Test
  void entriesThatDoNotFitHaveNoKey() {
    assertThat(CacheSlot.key(entry("k".repeat(CacheSlot.MAX_KEY_BYTES), "")))
        .hasSize(CacheSlot.MAX_KEY_BYTES);
    assertRefused(entry("k".repeat(CacheSlot.MAX_KEY_BYTES + 1), ""), "the key has 129 bytes");
    assertRefused(entry("", "value"), "the key has 0 bytes");
    assertRefused(ByteBuffer.allocate(3), "the key has 0 bytes");
    assertRefused(ByteBuffer.allocate(8).putInt(0, 5), "the key has 5 bytes");
    assertRefused(ByteBuffer.allocate(8).putInt(0, -1), "the key has -1 bytes");
    assertRefused(entry("k", "v".repeat(CacheSlot.BYTES)), "the entry has 4101 bytes");
  }

  private static void assertRefused(ByteBuffer entry, String message) {
    assertThatThrownBy(() -> CacheSlot.key(entry))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
