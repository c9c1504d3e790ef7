package org.rdma4j.samples.rcopy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "report.pdf", "two words", "\u00fcber", "\u6587\u4ef6", "a\\b\"c"})
  void ordinaryTextIsShownAsItIs(String text) {
    assertThat(Printable.of(text)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "7, 7",
    "27, 1b",
    "127, 7f",
    "0x9b, 9b",
    "0x202e, 202e",
    "0x2028, 2028",
    "0xd800, d800"
  })
  void charactersThatDisturbATerminalAreShownAsNumbers(String code, String hex) {
    String character = Character.toString(Integer.decode(code));
    assertThat(Printable.of("a" + character + "b")).isEqualTo("a\\u{" + hex + "}b");
  }

  @Test
  void longTextIsCutOff() {
    assertThat(Printable.of("x".repeat(1 << 20))).isEqualTo("x".repeat(300) + "...");
    assertThat(Printable.of("x".repeat(300))).isEqualTo("x".repeat(300));
  }
}
