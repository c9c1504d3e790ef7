package org.rdma4j.tools.selftest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;
import picocli.CommandLine;

/** The self-test, on a device that works, and with checks that fail. */
final class SelfTestDeviceTest {
  /** A check that does what a test gives it to do. */
  private record Given(String name, Callable<String> body) implements SelfCheck {
    @Override
    public String run(TestedDevice tested) throws Exception {
      return body.call();
    }
  }

  private static Outcome run(List<SelfCheck> checks, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        new CommandLine(new SelfTest(() -> checks))
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(args);
    return new Outcome(status, out.toString().lines().toList(), err.toString().lines().toList());
  }

  @Tag("device")
  @Tag("needs-connecting-by-address")
  @Test
  void allChecksPassOnADeviceThatWorks() {
    Outcome outcome = InThisJvm.run("selftest", "-n", "20");
    assertThat(outcome.out())
        .noneMatch(line -> line.matches("\\D{24}failed, .*"))
        .anyMatch(line -> line.startsWith("libraries ") && line.contains("libibverbs.so"))
        .anyMatch(line -> line.startsWith("device      " + TestDevice.NAME + ", "))
        .anyMatch(line -> line.startsWith("port 1      ACTIVE, "))
        .anyMatch(line -> line.matches("send +passed, \\d+ ms: 20 requests, medians .*"))
        .anyMatch(line -> line.matches("memory window +passed, .*"))
        .anyMatch(line -> line.matches("connection +passed, .*"))
        .anyMatch(line -> line.matches("descriptors +passed, .*"));
    assertThat(outcome.out().getLast()).contains(" checks: ").contains(" 0 failed, ");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.status()).isZero();
  }

  @Tag("mlx5")
  @Test
  void queuesInPlaceAreComparedForEachKindOfRequest() {
    Outcome outcome = run(List.of(new InPlaceCheck()), "-n", "50");
    assertThat(outcome.out()).anyMatch(line -> line.contains("queues in place"));
    for (RequestKind kind : RequestKind.values()) {
      assertThat(outcome.out())
          .anyMatch(line -> line.matches(" +" + kind.text() + ": \\d+ and \\d+ to post, .*"));
    }
    assertThat(outcome.status()).isZero();
  }

  @Tag("device")
  @Tag("kernel")
  @Test
  void whatADeviceDoesNotHaveIsNoFailure() {
    Outcome outcome = run(List.of(new InPlaceCheck()));
    assertThat(outcome.out())
        .anyMatch(
            line -> line.matches("queues in place +not supported, .*cannot be used in place.*"));
    assertThat(outcome.status()).isZero();
  }

  @Tag("device")
  @Test
  void aFailedCheckIsReportedWithItsReasonAndTheOthersRun() {
    Given broken =
        new Given(
            "arithmetic",
            () -> {
              throw new Failure("1 and 1 is 3, must be 2");
            });
    Outcome outcome = run(List.of(broken, new QueryCheck()));
    assertThat(outcome.out())
        .anyMatch(line -> line.matches("arithmetic +failed, \\d+ ms: 1 and 1 is 3, must be 2"))
        .anyMatch(line -> line.matches("query +passed, .*"))
        .endsWith("2 checks: 1 passed, 1 failed, 0 not supported by the device");
    assertThat(outcome.status()).isEqualTo(1);
  }

  @Tag("device")
  @Test
  void aCheckThatDoesNotEndFailsWithThePlaceWhereItHangs() {
    Given hanging =
        new Given(
            "patience",
            () -> {
              new CountDownLatch(1).await();
              return "";
            });
    Outcome outcome = run(List.of(hanging), "--timeout", "1");
    assertThat(outcome.out())
        .anyMatch(
            line ->
                line.matches(
                    "patience +failed, .*: did not end within 1 s, in .*SelfTestDevice.*"));
    assertThat(outcome.status()).isEqualTo(1);
  }

  @Tag("device")
  @Test
  void theReportIsOneObjectOnRequest() {
    Outcome outcome = run(List.of(new QueryCheck()), "--json", TestDevice.NAME);
    assertThat(outcome.out())
        .singleElement()
        .asString()
        .startsWith("{\"facts\": {\"version\": \"rdma4j-tools ")
        .contains("\"failed\": 0, \"checks\": [{\"name\": \"query\", \"verdict\": \"passed\"");
    assertThat(outcome.err()).anyMatch(line -> line.startsWith("query"));
  }
}
