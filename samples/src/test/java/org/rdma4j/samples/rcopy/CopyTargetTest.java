package org.rdma4j.samples.rcopy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CopyTargetTest {
  private static final Path SOURCE = Path.of("folder/file");

  @ParameterizedTest
  @CsvSource({
    "server, server, file",
    "server:, server, file",
    "server:other, server, other",
    "192.0.2.1:a:b, 192.0.2.1, a:b",
    "[fe80::1], fe80::1, file",
    "[fe80::1%eth0]:other, fe80::1%eth0, other",
  })
  void serverAndNameAreSeparated(String words, String host, String name) {
    assertThat(CopyTarget.parse(words, SOURCE)).isEqualTo(new CopyTarget(host, name));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":other", "[fe80::1", "[fe80::1]other", "[]:other"})
  void textWithoutServerIsRefused(String words) {
    assertThatThrownBy(() -> CopyTarget.parse(words, SOURCE))
        .isInstanceOf(CopyFailure.class)
        .hasMessageContaining("\"" + words + "\" is not SERVER or SERVER:NAME");
  }
}
