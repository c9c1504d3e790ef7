package org.rdma4j.tools.gain;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.nio.RdmaSelectorProvider;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;

@Tag("device")
@Timeout(100)
final class GainDeviceTest {
  private static final String DEVICES = "org.rdma4j.nio.devices";
  private static final String ADDRESSES = "org.rdma4j.nio.addressMap";
  private static final String HOST = InetAddress.getLoopbackAddress().getHostAddress();

  private GainServer server;
  private FutureTask<Boolean> serving;

  @BeforeEach
  void serve() throws Exception {
    System.setProperty(DEVICES, "all");
    System.setProperty(ADDRESSES, HOST + "=" + DeviceAddress.ipv4().getHostAddress());
    server = new GainServer(new RdmaSelectorProvider(), 0);
    serving =
        new FutureTask<>(
            () -> {
              server.run();
              return true;
            });
    Thread.ofPlatform().daemon().start(serving);
  }

  @AfterEach
  void close() throws Exception {
    server.close();
    assertThat(serving.get(20, TimeUnit.SECONDS)).isTrue();
    System.clearProperty(DEVICES);
    System.clearProperty(ADDRESSES);
  }

  private Outcome run(String... options) {
    List<String> all = new ArrayList<>(List.of("gain", HOST, "-p", "" + server.port()));
    all.addAll(List.of(options));
    return InThisJvm.run(all.toArray(String[]::new));
  }

  @Test
  void echoesAndStreamsOverBothWaysAreComparedAndJudged() {
    Outcome outcome = run("-c", "2", "-s", "64,20000", "-D", "1", "--all-devices");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.status()).isZero();
    assertThat(outcome.out())
        .filteredOn(line -> line.matches("(echo|stream) +2 +(64|20000) \\| +[1-9].*"))
        .hasSize(4);
    assertThat(outcome.out()).last().asString().contains("measurements, and worse in");
  }

  @Test
  void withoutAnAdapterBetweenTwoMachinesTheReasonIsGiven() {
    System.clearProperty(DEVICES);
    Outcome outcome = run("-c", "1", "-s", "64", "-D", "1");
    assertThat(outcome.status()).isEqualTo(1);
    assertThat(outcome.err())
        .singleElement()
        .asString()
        .containsPattern("stay on TCP \\((same-host|software-device|unavailable)\\)");
  }

  @Test
  void aServerThatDoesNotRunIsReported() throws Exception {
    server.close();
    Outcome outcome = run();
    assertThat(outcome.status()).isEqualTo(1);
    assertThat(outcome.err()).singleElement().asString().contains("Connection refused");
  }
}
