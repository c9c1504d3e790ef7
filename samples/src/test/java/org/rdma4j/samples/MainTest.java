package org.rdma4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
  @ParameterizedTest
  @ValueSource(strings = {"--help", "devices --help", "devinfo --help", "rc-pingpong --help"})
  void helpIsPrinted(String args) {
    Outcome outcome = Outcome.of(args.split(" "));

    assertThat(outcome.status()).isZero();
    assertThat(outcome.out()).first().asString().startsWith("Usage: rdma4j-samples");
    assertThat(outcome.err()).isEmpty();
  }

  @Test
  void helpOfPingPongTellsTheOptionsOfC() {
    assertThat(String.join("\n", Outcome.of("rc-pingpong", "--help").out()))
        .contains(
            "-p, --port",
            "-d, --ib-dev",
            "-i, --ib-port",
            "-s, --size",
            "-m, --mtu",
            "-r, --rx-depth",
            "-n, --iters",
            "-l, --sl",
            "-e, --events",
            "-g, --gid-idx",
            "-c, --chk");
  }

  @Test
  void versionIsPrinted() {
    Outcome outcome = Outcome.of("--version");

    assertThat(outcome.status()).isZero();
    assertThat(outcome.out()).singleElement().asString().startsWith("rdma4j-samples ");
  }

  @ParameterizedTest
  @CsvSource({
    "'', which subcommand?",
    "ping, Unmatched argument",
    "devinfo -i 0, ports count from 1",
    "rc-pingpong -s 0, '-s is 0, must be from 1'",
    "rc-pingpong -s many, '''many'' is not an int'",
    "rc-pingpong -n 0, '-n is 0, must be from 1'",
    "rc-pingpong --iters=-1, '-n is -1, must be from 1'",
    "rc-pingpong -r 0, '-r is 0, must be from 1'",
    "rc-pingpong -m 1000, 'MTU is 1000 bytes, must be 256, 512, 1024, 2048 or 4096'",
    "rc-pingpong -l 16, '-l is 16, must be from 0 to 15'",
    "rc-pingpong -p 65536, '-p is 65536, must be from 1 to 65535'",
    "rc-pingpong -i 0, '-i is 0, must be from 1 to 255'",
    "rc-pingpong -g -1, '-g is -1, must be from 0 to 255'",
    "rc-pingpong --warmup -1, '--warmup is -1, must be from 0'",
    "rc-pingpong --timeout 0, '--timeout is 0, must be from 1'",
    "rc-pingpong --latency, client",
    "rc-pingpong here there, Unmatched argument",
    "rc-pingpong --what, Unknown option",
  })
  void wrongUsageIsToldInALine(String args, String message) {
    Outcome outcome = Outcome.of(args.isEmpty() ? new String[0] : args.split(" "));

    assertThat(outcome.status()).isEqualTo(2);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.err())
        .singleElement()
        .asString()
        .startsWith("rdma4j-samples")
        .contains(message)
        .contains("--help");
  }

  @Test
  void unknownDeviceIsToldInALine() {
    Outcome outcome = Outcome.of("rc-pingpong", "-d", "nosuchdevice0", "-g", "0", "localhost");

    assertThat(outcome.status()).isEqualTo(1);
    assertThat(outcome.err()).singleElement().asString().startsWith("rdma4j-samples rc-pingpong: ");
  }

  @Test
  void debugShowsWhere() {
    Outcome outcome = Outcome.of("rc-pingpong", "-d", "nosuchdevice0", "--debug", "localhost");

    assertThat(outcome.status()).isEqualTo(1);
    assertThat(outcome.err()).anyMatch(line -> line.startsWith("\tat org.rdma4j."));
  }
}
