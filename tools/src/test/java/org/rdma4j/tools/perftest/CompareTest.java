package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class CompareTest {
  @Test
  void saysThatOnlyTheFirstCompilerRuns() {
    assertThat(Compare.onlyFirstCompiler(List.of("-Xmx1g", "-XX:TieredStopAtLevel=1")))
        .hasValue(
            "note: with -XX:TieredStopAtLevel=1 only the first compiler runs, so Java is slower"
                + " than it can be");
    assertThat(Compare.onlyFirstCompiler(List.of("-XX:TieredStopAtLevel=4"))).isEmpty();
    assertThat(Compare.onlyFirstCompiler(List.of())).isEmpty();
  }
}
