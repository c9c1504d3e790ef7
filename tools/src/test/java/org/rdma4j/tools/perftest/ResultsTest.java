package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.rdma4j.tools.command.Json;

/** How results are computed from what was measured. */
class ResultsTest {
  @Test
  void latencyIsHalfTheRoundTripWithoutTheTwoLongest() {
    long[] times = LongStream.rangeClosed(1, 102).map(i -> i * 2000).toArray();
    Latency latency = Latency.of(103, times, 2);
    assertThat(latency.min()).isEqualTo(1);
    assertThat(latency.max()).isEqualTo(101);
    assertThat(latency.typical()).isEqualTo(50.5);
    assertThat(latency.average()).isEqualTo(50.5);
    assertThat(latency.percentile99()).isEqualTo(100);
    assertThat(latency.percentile999()).isEqualTo(101);
    assertThat(latency.deviation()).isCloseTo(28.866, within(0.001));
  }

  @Test
  void latencyOfASingleTimeIsThatTime() {
    Latency latency = Latency.of(2, new long[] {7000}, 1);
    assertThat(latency.min()).isEqualTo(7);
    assertThat(latency.typical()).isEqualTo(7);
    assertThat(latency.percentile999()).isEqualTo(7);
  }

  @Test
  void bandwidthIsInMebibytesOrGigabits() {
    Throughput measured = new Throughput(1000, 1_000_000_000, 500_000);
    Bandwidth.Report mebibytes = Bandwidth.report(1 << 20, measured, false, 1);
    assertThat(mebibytes.average()).isEqualTo(1000);
    assertThat(mebibytes.peak()).isEqualTo(2000);
    assertThat(mebibytes.millionsPerSecond()).isEqualTo(0.001);
    Bandwidth.Report gigabits = Bandwidth.report(125_000, measured, true, 1);
    assertThat(gigabits.average()).isEqualTo(1);
  }

  @Test
  void reportOfAPeerIsConvertedToTheUnitOfThisSide() {
    Throughput measured = new Throughput(1000, 1_000_000_000, 500_000);
    Bandwidth.Report gigabits = Bandwidth.report(1 << 20, measured, true, 1);
    Bandwidth.Report converted = gigabits.in(false);
    assertThat(converted.average()).isCloseTo(1000, within(1e-6));
    assertThat(converted.peak()).isCloseTo(2000, within(1e-6));
  }

  @Test
  void shortMessagesTakeTurnsWithinAPage() {
    Layout layout = Layout.of(64, 2, 4096, 64);
    assertThat(layout.places(64)).isEqualTo(64);
    assertThat(layout.places(2)).isEqualTo(64);
    assertThat(layout.places(2048)).isEqualTo(2);
    assertThat(layout.places(2049)).isEqualTo(1);
    assertThat(layout.stride(65)).isEqualTo(128);
    assertThat(layout.outgoing(1)).isEqualTo(4096);
    assertThat(layout.incoming(0)).isEqualTo(8192);
    assertThat(layout.incoming(1) + 4096).isLessThanOrEqualTo(layout.bytes());
  }

  @Test
  void quartilesAreInterpolated() {
    Ratios ratios = ratios(1.0, 1.1, 1.2, 1.3);
    assertThat(ratios.quantile(0.5)).isCloseTo(1.15, within(1e-9));
    assertThat(ratios.quantile(0.25)).isCloseTo(1.075, within(1e-9));
    assertThat(ratios.quantile(1)).isEqualTo(1.3);
  }

  @Test
  void conclusionNeedsEnoughPairsWithALittleSpread() {
    assertThat(ratios(1, 1, 1, 1).conclusion()).startsWith("no conclusion: 4 pairs are too few");
    assertThat(ratios(0.5, 0.8, 1, 1.3, 2).conclusion())
        .startsWith("no conclusion: half of the ratios span 50 %");
    assertThat(ratios(0.98, 0.99, 1, 1.01, 1.02).conclusion()).startsWith("no difference");
    assertThat(ratios(1.08, 1.09, 1.1, 1.11, 1.12).conclusion())
        .isEqualTo("Java's figure is 10.0 % more");
    assertThat(ratios(0.88, 0.89, 0.9, 0.91, 0.92).conclusion())
        .isEqualTo("Java's figure is 10.0 % less");
  }

  private static Ratios ratios(double... values) {
    Ratios ratios = new Ratios();
    for (double value : values) {
      ratios.add(value);
    }
    return ratios;
  }

  @Test
  void figureIsFoundInTheTable() {
    List<String> latency =
        List.of(
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]",
            " 2       1000          34.97          410.80       46.25     \t       50.48       \t18.83   \t\t115.38  \t\t276.12 ",
            "-----");
    assertThat(Figure.of("send-lat", List.of()).in(latency)).hasValue(46.25);
    List<String> bandwidth =
        List.of(" 65536      5000             1034.02            1012.50\t\t   0.016200");
    assertThat(Figure.of("write-bw", List.of()).in(bandwidth)).hasValue(1012.5);
    List<String> timed = List.of(" 2       16004            46.86          21340.10");
    assertThat(Figure.of("send-lat", List.of("-D", "5")).in(timed)).hasValue(46.86);
    assertThat(
            Figure.TYPICAL_LATENCY.in(
                List.of(" 4096    100          inf            inf          inf  \t inf ")))
        .hasValue(Double.POSITIVE_INFINITY);
    assertThat(Figure.BANDWIDTH.in(List.of("Couldn't connect"))).isEmpty();
  }

  @Test
  void jsonQuotesWhatMustBeQuoted() {
    assertThat(Json.text(Json.object("a\"b", "\n", "n", 1.5, "list", List.of(1L, true))))
        .isEqualTo("{\"a\\\"b\": \"\\u000a\", \"n\": 1.500000, \"list\": [1, true]}");
  }

  @Test
  void peakOfNothingIsZero() {
    Peak none = new Peak(0);
    none.post(0);
    none.complete(1);
    assertThat(none.nanos()).isZero();
  }

  @Test
  void peakIsTheFastestRunOfConsecutiveMessages() {
    Random random = new Random(1);
    for (int round = 0; round < 200; round++) {
      int messages = 1 + random.nextInt(60);
      long[] posted = new long[messages];
      long[] completed = new long[messages];
      Peak peak = new Peak(messages);
      long now = 0;
      int sent = 0;
      for (int done = 0; done < messages; ) {
        now += random.nextInt(100);
        if (sent < messages && (sent == done || random.nextBoolean())) {
          posted[sent] = now;
          peak.post(sent++, now);
        } else {
          completed[done++] = now;
          peak.complete(done, now);
        }
      }
      assertThat(peak.nanos()).isCloseTo(least(posted, completed), within(1e-9));
    }
  }

  /** Compares each message with each. */
  private static double least(long[] posted, long[] completed) {
    double least = Double.POSITIVE_INFINITY;
    for (int last = 0; last < completed.length; last++) {
      for (int first = 0; first <= last; first++) {
        least = Math.min(least, (double) (completed[last] - posted[first]) / (last - first + 1));
      }
    }
    return least;
  }
}
