package org.rdma4j.samples.rcopy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileOfferTest {
  @Test
  void writtenOfferCanBeRead() {
    FileOffer offer = new FileOffer("Übung", 1L << 40);

    assertThat(FileOffer.read(offer.write())).isEqualTo(offer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/b", "a\nb", "a\u0000b"})
  void nameOutsideTheDirectoryIsRefused(String name) {
    assertThatThrownBy(() -> new FileOffer(name, 0))
        .isInstanceOf(CopyFailure.class)
        .hasMessageContaining("is not a plain file name");
  }

  @Test
  void longestNameIsAcceptedAndALongerOneRefused() {
    assertThat(new FileOffer("n".repeat(255), 0).name()).hasSize(255);
    assertThatThrownBy(() -> new FileOffer("ü".repeat(128), 0)).hasMessageContaining("255 bytes");
  }

  @Test
  void messageOfAnotherProgramIsRefused() {
    ByteBuffer shorter = new FileOffer("n", 1).write().limit(15);
    ByteBuffer newer = new FileOffer("n", 1).write().putInt(4, 2);

    assertThatThrownBy(() -> FileOffer.read(shorter)).hasMessageContaining("is not rcopy");
    assertThatThrownBy(() -> FileOffer.read(newer)).hasMessageContaining("another version");
  }

  @Test
  void negativeLengthIsRefused() {
    ByteBuffer negative = new FileOffer("n", 1).write().putLong(8, -1);

    assertThatThrownBy(() -> FileOffer.read(negative)).hasMessageContaining("-1");
  }
}
