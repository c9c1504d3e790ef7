package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.rdma4j.tools.doctor.Finding.Level;

/** Assertions about findings. */
final class FindingAssertions {
  private FindingAssertions() {}

  /** Asserts that there is one finding of this level, with these texts, and without a fix. */
  static void assertOnly(List<Finding> findings, Level level, String... texts) {
    assertOnlyFixed("", findings, level, texts);
  }

  /** Asserts that there is one finding of this level, with this fix and these texts. */
  static void assertOnlyFixed(String fix, List<Finding> findings, Level level, String... texts) {
    assertThat(findings).hasSize(1);
    Finding finding = findings.get(0);
    assertThat(finding.level()).isEqualTo(level);
    for (String text : texts) {
      assertThat(finding.text()).contains(text);
    }
    assertThat(finding.fix()).isEqualTo(fix);
  }
}
