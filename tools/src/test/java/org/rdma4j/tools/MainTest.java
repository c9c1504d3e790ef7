package org.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;

class MainTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "devices --help",
        "devinfo --help",
        "doctor --help",
        "selftest --help",
        "gain --help",
        "rc-pingpong --help",
        "uc-pingpong --help",
        "ud-pingpong --help",
        "srq-pingpong --help",
        "connection-pingpong --help",
        "asyncwatch --help",
        "rping --help",
        "rdma-client --help",
        "rdma-server --help",
        "ucmatose --help",
        "udaddy --help",
        "mckey --help",
        "cmtime --help",
        "send-lat --help",
        "send-bw --help",
        "write-lat --help",
        "write-bw --help",
        "read-lat --help",
        "read-bw --help",
        "atomic-lat --help",
        "atomic-bw --help",
        "compare --help"
      })
  void helpIsPrinted(String args) {
    Outcome outcome = InThisJvm.run(args.split(" "));

    assertThat(outcome.status()).isZero();
    String program = "java -jar rdma4j-tools.jar " + args.replace("--help", "");
    assertThat(outcome.out()).first().asString().startsWith("Usage: " + program);
    assertThat(outcome.err()).isEmpty();
  }

  @Test
  void helpListsTheProgramsOfWhichARunLoadsOne() {
    String help = String.join("\n", InThisJvm.run("--help").out());
    assertThat(help).containsPattern("(?m)^  devices ").containsPattern("(?m)^  rc-pingpong ");
    assertThat(help).containsPattern("(?m)^  rping ").containsPattern("(?m)^  send-lat ");
  }

  @Test
  void helpOfRcPingPongListsTheOptionsOfC() {
    assertThat(String.join("\n", InThisJvm.run("rc-pingpong", "--help").out()))
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

  @ParameterizedTest
  @CsvSource({
    "uc-pingpong, '4096', '-p, --port;-d, --ib-dev;-i, --ib-port;-s, --size;-m, --mtu;-r,"
        + " --rx-depth;-n, --iters;-l, --sl;-e, --events;-g, --gid-idx;-c, --chk'",
    "ud-pingpong, '2048', '-p, --port;-d, --ib-dev;-i, --ib-port;-s, --size;-r, --rx-depth;-n,"
        + " --iters;-l, --sl;-e, --events;-g, --gid-idx;-c, --chk'",
    "srq-pingpong, '4096', '-p, --port;-d, --ib-dev;-i, --ib-port;-s, --size;-m, --mtu;-q,"
        + " --num-qp;-r, --rx-depth;-n, --iters;-l, --sl;-e, --events;-g, --gid-idx;-c, --chk'",
  })
  void helpOfThePingPongsListsTheOptionsOfC(String program, String size, String options) {
    String help = String.join("\n", InThisJvm.run(program, "--help").out());
    assertThat(help).contains(options.split(";"));
    assertThat(help.replaceAll("\\s+", " "))
        .contains("length of a message (default: " + size + ")");
  }

  @Test
  void helpLoadsNoBindings() throws Exception {
    List<String> command = JavaCommand.of(Main.class, "--help");
    command.add(1, "-Xlog:class+load");
    try (ChildProcess help = ChildProcess.start(command)) {
      assertThat(help.await().out())
          .anyMatch(line -> line.contains("org.rdma4j.tools.Main"))
          .noneMatch(line -> line.contains("org.rdma4j.bindings"));
    }
  }

  @Test
  void versionIsPrinted() {
    Outcome outcome = InThisJvm.run("--version");

    assertThat(outcome.status()).isZero();
    assertThat(outcome.out()).singleElement().asString().startsWith("rdma4j-tools ");
  }

  @ParameterizedTest
  @CsvSource({
    "'', name a program to run",
    "ping, Unmatched argument",
    "selftest -n 0, '-n is 0, must be from 1'",
    "selftest mlx5_0 mlx5_1, Unmatched argument",
    "devinfo -i 0, '-i is 0, must be at least 1'",
    "gain, 'give either --serve or the name'",
    "gain --serve server-1, 'give either --serve or the name'",
    "gain server-1 -s 0, '--size is 0, must be from 1 to 67108864'",
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
    "rc-pingpong --rounds 0, '--rounds is 0, must be from 1'",
    "rc-pingpong --timeout 0, '--timeout is 0, must be from 1'",
    "rc-pingpong --latency, '--latency requires a server name'",
    "rc-pingpong here there, Unmatched argument",
    "rc-pingpong --what, Unknown option",
    "uc-pingpong -m 1000, 'MTU is 1000 bytes, must be 256, 512, 1024, 2048 or 4096'",
    "ud-pingpong -m 1024, Unknown option",
    "ud-pingpong -s 0, '-s is 0, must be from 1'",
    "srq-pingpong -q 0, '-q is 0, must be from 1 to 255'",
    "srq-pingpong -q 256, '-q is 256, must be from 1 to 255'",
    "srq-pingpong -q 16 -r 15, '-r is 15, must be at least 16 (-q)'",
    "asyncwatch -n -1, '-n is -1, must be from 0'",
    "rping, '(-s | -c)'",
    "rping -s -c, '-s, -c are mutually exclusive'",
    "rping -c, '-a is missing: give the server''s name or address'",
    "rping -s -S 22, '-S is 22, must be from 23 to 65535'",
    "rping -s -S 65536, '-S is 65536, must be from 23 to 65535'",
    "rping -s -C -1, '-C is -1, must be from 0'",
    "ucmatose -c 0, '-c is 0, must be from 1 to 65536'",
    "ucmatose -a 32, '-a is 32, must be from 0 to 31'",
    "ucmatose -P udp, 'expected one of [tcp, ib]'",
    "ucmatose -t 0x100, '-t is 256, must be from 0 to 255'",
    "ucmatose -t many, '''many'' is not an int'",
    "udaddy -c 0, '-c is 0, must be from 1 to 65536'",
    "udaddy -p 0x106, 'must be udp (0x111) or ipoib (0x2)'",
    "mckey, '(-m=ADDRESS | -M=GID)'",
    "mckey -M ff0e::1, '-M requires -b'",
    "mckey -m 239.1.2.3 -p tcp, 'must be udp (0x111) or ipoib (0x2)'",
    "cmtime -c 0, '-c is 0, must be from 1 to 65536'",
    "cmtime -r 8, '-r is 8, must be from 0 to 7'",
    "cmtime -t 0, '-t is 0, must be from 1'",
    "connection-pingpong -s 0, '-s is 0, must be from 1'",
    "rping -c -a here --warmup -1, '--warmup is -1, must be from 0'",
    "rping -s -p 0, '-p is 0, must be from 1 to 65535'",
  })
  void wrongUsageIsReportedInOneLine(String args, String message) {
    Outcome outcome = InThisJvm.run(args.isEmpty() ? new String[0] : args.split(" "));

    assertThat(outcome.status()).isEqualTo(2);
    assertThat(outcome.out()).isEmpty();
    List<String> words = List.of(args.split(" "));
    boolean named = !args.isEmpty() && !args.equals("ping");
    assertThat(outcome.err())
        .singleElement()
        .asString()
        .startsWith((named ? words.get(0) : "rdma4j-tools") + ": ")
        .contains(message)
        .endsWith(
            "(see java -jar rdma4j-tools.jar %s--help)".formatted(named ? words.get(0) + " " : ""));
  }

  @Test
  void aMisspelledProgramIsSuggested() {
    assertThat(InThisJvm.run("doctr").err())
        .containsExactly(
            "rdma4j-tools: Unmatched argument at index 0: 'doctr'; did you mean doctor?"
                + " (see java -jar rdma4j-tools.jar --help)");
  }

  @Test
  void helpOfMckeyDoesNotCountConnections() {
    String help = String.join(" ", InThisJvm.run("mckey", "--help").out()).replaceAll("\\s+", " ");

    assertThat(help)
        .contains("-c=COUNT the number of queue pairs of this program that join the group")
        .doesNotContain("connection");
  }

  @Test
  void unknownDeviceIsReportedInOneLine() {
    Outcome outcome = InThisJvm.run("rc-pingpong", "-d", "nosuchdevice0", "-g", "0", "localhost");

    assertThat(outcome.status()).isEqualTo(1);
    assertThat(outcome.err()).singleElement().asString().startsWith("rc-pingpong: ");
  }

  @Test
  void debugPrintsTheStackTrace() {
    Outcome outcome = InThisJvm.run("rc-pingpong", "-d", "nosuchdevice0", "--debug", "localhost");

    assertThat(outcome.status()).isEqualTo(1);
    assertThat(outcome.err()).anyMatch(line -> line.startsWith("\tat org.rdma4j."));
  }
}
