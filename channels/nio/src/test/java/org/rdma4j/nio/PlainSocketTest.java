package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.Socket;
import java.net.SocketImpl;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.DeviceAddress;

/** Sockets of programs that use no channels, with the agent: they do what they do without it. */
@Tag("slow")
final class PlainSocketTest {
  /** Found out once, because it takes long. */
  private static String expected = "";

  @TempDir private Path folder;
  private String agent;
  private Path keys;

  @BeforeEach
  void prepare() throws Exception {
    agent = AgentJar.option(folder, ChannelAgent.class);
    keys = folder.resolve("keys.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-alias",
                "own",
                "-storepass",
                SocketProgram.KEYS_PASSWORD,
                "-keystore",
                keys.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(keytool.exitValue()).isZero();
  }

  /** Returns what the JDK's own sockets do. */
  private String expected() throws Exception {
    if (expected.isEmpty()) {
      expected = run("tcp").output();
      assertThat(expected).contains("RMI: 19900").doesNotContain("not upgraded");
    }
    return expected;
  }

  private AgentJar.Printed run(String way, String... options) throws Exception {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("-Dorg.rdma4j.nio.devices=all");
    return AgentJar.run(SocketProgram.class, all, way, keys.toString());
  }

  @Test
  void overTcpTheyDoTheSame() throws Exception {
    assertThat(run("tcp", agent).output()).isEqualTo(expected());
  }

  @Test
  void withoutADeviceTheyDoTheSame() throws Exception {
    AgentJar.Printed printed =
        run("tcp", agent, "-Dorg.rdma4j.nio.addressMap=127.0.0.1=198.51.100.1");
    assertThat(printed.output()).isEqualTo(expected());
  }

  @Test
  @Tag("device")
  @Tag("protocol")
  void beforeTheyGoOverTheyDoTheSame() throws Exception {
    AgentJar.Printed printed =
        run("waiting", agent, address(), "-Dorg.rdma4j.nio.upgradeAfterBytes=1000000000");
    assertThat(printed.output()).isEqualTo(expected());
    assertThat(statistic(printed, "upgraded")).isZero();
  }

  @Test
  @Tag("device")
  @Tag("protocol")
  void overRdmaTheyDoTheSame() throws Exception {
    AgentJar.Printed printed =
        run("rdma", agent, address(), "-Dorg.rdma4j.nio.upgradeAfterBytes=32");
    assertThat(printed.output()).isEqualTo(expected());
    assertThat(statistic(printed, "upgraded")).isGreaterThan(60);
    assertThat(statistic(printed, "sentBytes")).isGreaterThan(20_000_000);
    assertThat(statistic(printed, "receivedBytes")).isGreaterThan(20_000_000);
  }

  @Test
  @Tag("device")
  void ifRdmaFailsTheyResumeOverTcp() throws Exception {
    AgentJar.Printed printed =
        AgentJar.run(
            ResumingSockets.class,
            List.of(
                agent,
                address(),
                "-Dorg.rdma4j.nio.upgradeAfterBytes=32",
                "-Dorg.rdma4j.nio.timeoutSeconds=60",
                "-Dorg.rdma4j.nio.devices=all"));
    assertThat(printed.output())
        .as(printed.errors())
        .isEqualTo(
            "round: all all written written\n".repeat(ResumingSockets.ROUNDS)
                + "resumed: "
                + 2 * ResumingSockets.ROUNDS
                + "\n");
  }

  private static String address() {
    return "-Dorg.rdma4j.nio.addressMap=127.0.0.1=" + DeviceAddress.ipv4().getHostAddress();
  }

  private static long statistic(AgentJar.Printed printed, String name) {
    Matcher found =
        Pattern.compile("statistics .*\\b" + name + "=(\\d+)").matcher(printed.errors());
    assertThat(found.find()).as(printed.errors()).isTrue();
    return Long.parseLong(found.group(1));
  }

  // ---- Factories

  /** Sets a factory of its own, as few programs do. */
  static final class OwnFactory {
    private OwnFactory() {}

    public static void premain(String options, Instrumentation instrumentation) throws IOException {
      set();
    }

    public static void main(String[] arguments) throws IOException {
      System.out.println("set: " + SocketChecks.outcome(OwnFactory::set));
    }

    @SuppressWarnings("deprecation") // As such programs do.
    private static String set() throws IOException {
      Socket.setSocketImplFactory(() -> (SocketImpl) null);
      return "done";
    }
  }

  private String set(String... options) throws Exception {
    AgentJar.Printed printed = AgentJar.run(OwnFactory.class, List.of(options));
    return printed.output() + printed.errors();
  }

  @Test
  void socketsOfAProgramThatHasAFactoryStayWithTcp() throws Exception {
    List<String> options = new ArrayList<>(List.of(AgentJar.option(folder, OwnFactory.class)));
    options.add(agent);
    assertThat(set(options.toArray(String[]::new)))
        .containsOnlyOnce("java.net.Socket and ServerSocket stay on TCP")
        .contains("the program has set a SocketImplFactory of its own");
  }

  @Test
  void aSettingLeavesTheFactoriesToTheProgram() throws Exception {
    assertThat(set(agent)).contains("factory already defined");
    assertThat(set(agent, "-Dorg.rdma4j.nio.sockets=false")).contains("set: done");
    assertThat(set(agent, "-Dorg.rdma4j.nio.enabled=false")).contains("set: done");
    assertThat(set(agent, "-Dorg.rdma4j.nio.sockets=off")).contains("must be true or false");
  }
}
