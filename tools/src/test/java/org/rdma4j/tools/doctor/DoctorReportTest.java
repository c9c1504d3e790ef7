package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DoctorReportTest {
  private static final Finding FINE = Finding.ok("kernel", "Linux 6.1");
  private static final Finding WRONG = Finding.problem("memlock", "64 \"KiB\"\n", "ulimit \\ -l");

  @Test
  void textHasALineForEachFindingAndASummary() {
    assertThat(
            new DoctorReport(List.of(FINE, Finding.warning("a", "b", "c"), WRONG)).text().lines())
        .startsWith(
            "OK       kernel: Linux 6.1", "WARNING  a: b; fix: c", "PROBLEM  memlock: 64 \"KiB\"")
        .endsWith("1 problem, 1 warning");
  }

  @Test
  void onlyAProblemIsUnhealthy() {
    assertThat(new DoctorReport(List.of(FINE, Finding.warning("a", "b", "c"))).isHealthy())
        .isTrue();
    assertThat(new DoctorReport(List.of(FINE, WRONG)).isHealthy()).isFalse();
  }

  @Test
  void jsonQuotesWhatItMust() {
    assertThat(new DoctorReport(List.of(FINE, WRONG)).json())
        .isEqualTo(
            """
            {
              "problems": 1,
              "warnings": 0,
              "findings": [
                {"level": "ok", "subject": "kernel", "text": "Linux 6.1", "fix": null},
                {"level": "problem", "subject": "memlock", "text": "64 \\"KiB\\"\\u000a", "fix":\
             "ulimit \\\\ -l"}
              ]
            }""");
  }
}
