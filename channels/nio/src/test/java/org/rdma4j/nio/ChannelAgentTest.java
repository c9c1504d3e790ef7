package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import javax.net.ssl.SSLServerSocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.JavaCommand;

/** The two options of Java with which a program gets the channels. */
final class ChannelAgentTest {
  /** A server and a client that know nothing of this project. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) throws Exception {
      var server =
          com.sun.net.httpserver.HttpServer.create(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext(
          "/",
          exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            try (OutputStream output = exchange.getResponseBody()) {
              output.write(body);
            }
          });
      server.start();
      HttpClient client = HttpClient.newHttpClient();
      String body = "x".repeat(100_000);
      for (int i = 0; i < 20; i++) {
        var request =
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        if (!client.send(request, BodyHandlers.ofString()).body().equals(body)) {
          throw new IllegalStateException("another answer");
        }
      }
      try (Selector selector = Selector.open()) {
        System.out.println("provider " + selector.provider().getClass().getName());
      }
      server.stop(0);
      System.exit(0);
    }
  }

  @Test
  void anAgentIsEnough(@TempDir Path folder) throws Exception {
    assertThat(run(AgentJar.option(folder, ChannelAgent.class))).contains("provider " + name());
  }

  /** Without a library, each connection stays on TCP, and one line gives the reason. */
  @Test
  void withoutTheBindingsOneLineSaysWhyAllUsesTcp() throws Exception {
    String output =
        run(
            ChannelAgentTest::withoutBindings,
            "-Djava.nio.channels.spi.SelectorProvider=" + name(),
            "-Dorg.rdma4j.nio.devices=all",
            "-Dorg.rdma4j.nio.addressMap=127.0.0.1=192.0.2.1",
            "-Dorg.rdma4j.nio.upgradeAfterBytes=32");
    assertThat(output)
        .contains("provider " + name())
        .contains("put the jars of rdma4j and rdma4j-bindings on the class path")
        .doesNotContain("\tat ");
    assertThat(output.lines().filter(each -> each.contains("use TCP"))).hasSize(1);
  }

  @Test
  void aRuntimeWithoutTheFlightRecorderGetsOneLineAndNoStackTraces() throws Exception {
    String output =
        run(
            "--limit-modules=java.logging,java.net.http,jdk.httpserver,jdk.unsupported",
            "-Djava.nio.channels.spi.SelectorProvider=" + name(),
            "-Dorg.rdma4j.nio.devices=all",
            "-Dorg.rdma4j.nio.addressMap=127.0.0.1=192.0.2.1",
            "-Dorg.rdma4j.nio.upgradeAfterBytes=32");
    assertThat(output).contains("provider " + name()).doesNotContain("\tat ");
    assertThat(output.lines().filter(each -> each.contains("use TCP"))).hasSizeLessThanOrEqualTo(1);
  }

  @Test
  void anAgentWithoutTheLibraryLeavesTheProgramToTheJdk(@TempDir Path folder) throws Exception {
    assertThat(run(ChannelAgentTest::withoutBindings, AgentJar.option(folder, ChannelAgent.class)))
        .contains("provider sun.nio.ch.", "is missing: put the jars of rdma4j and rdma4j-bindings")
        .doesNotContain("\tat ");
  }

  @Test
  void anAgentThatIsNamedTwiceSaysNothing(@TempDir Path folder) throws Exception {
    String agent = AgentJar.option(folder, ChannelAgent.class);
    assertThat(run(agent, agent)).contains("provider " + name()).doesNotContain("stay on TCP");
  }

  /** An agent that uses a channel, and a socket that listens with TLS. */
  static final class Early {
    private Early() {}

    public static void premain(String options) throws Exception {
      if ("tls".equals(options)) {
        ServerSocket listener = SSLServerSocketFactory.getDefault().createServerSocket(0);
        System.setProperty("early.port", Integer.toString(listener.getLocalPort()));
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try (Socket accepted = listener.accept()) {
                    System.out.println("TLS accepted " + accepted.isConnected());
                  } catch (IOException failed) {
                    System.out.println("TLS " + failed);
                  }
                });
      } else {
        Selector.open().close();
      }
    }
  }

  /** Connects to the socket of the other agent. */
  static final class ConnectsEarly {
    private ConnectsEarly() {}

    public static void main(String[] args) throws Exception {
      try (Socket socket =
          new Socket(InetAddress.getLoopbackAddress(), Integer.getInteger("early.port"))) {
        System.out.println("connected, then " + socket.getInputStream().read());
      } catch (SocketException reset) {
        System.out.println("connected, then " + reset);
      }
      Thread.sleep(200);
    }
  }

  @Test
  void anAgentThatUsedChannelsBeforeIsNamed(@TempDir Path folder) throws Exception {
    assertThat(
            run(AgentJar.option(folder, ChannelAgent.class), AgentJar.option(folder, Early.class)))
        .contains("provider " + name());
    assertThat(
            run(AgentJar.option(folder, Early.class), AgentJar.option(folder, ChannelAgent.class)))
        .contains("provider sun.nio.ch.", "name -javaagent of rdma4j-nio before other agents");
  }

  @Test
  void aSocketWithTlsThatListenedBeforeStillAccepts(@TempDir Path folder) throws Exception {
    String output =
        run(
            command -> {
              command.set(command.indexOf(Program.class.getName()), ConnectsEarly.class.getName());
              return command;
            },
            AgentJar.option(folder, Early.class) + "=tls",
            AgentJar.option(folder, ChannelAgent.class));
    assertThat(output).contains("TLS accepted true", "name this agent first");
  }

  /** Connects past the proxy of the system, and over it. */
  static final class Direct {
    private Direct() {}

    public static void main(String[] args) throws Exception {
      try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
        for (Socket each : List.of(new Socket(Proxy.NO_PROXY), new Socket())) {
          try (each) {
            each.connect(listener.getLocalSocketAddress(), 5000);
            System.out.println("connected");
          } catch (SocketException failed) {
            System.out.println("failed");
          }
        }
      }
    }
  }

  @Test
  void aSocketWithoutAProxyUsesNone(@TempDir Path folder) throws Exception {
    UnaryOperator<List<String>> direct =
        command -> {
          command.set(command.indexOf(Program.class.getName()), Direct.class.getName());
          return command;
        };
    String[] proxy = {"-DsocksProxyHost=127.0.0.1", "-DsocksProxyPort=1", "-DsocksNonProxyHosts="};
    String expected = run(direct, proxy);
    assertThat(expected).contains("connected\nfailed\n");
    assertThat(
            run(direct, proxy[0], proxy[1], proxy[2], AgentJar.option(folder, ChannelAgent.class)))
        .isEqualTo(expected);
  }

  private static List<String> withoutBindings(List<String> command) {
    int path = command.indexOf("-cp") + 1;
    command.set(
        path,
        Arrays.stream(command.get(path).split(File.pathSeparator))
            .filter(each -> !each.contains("bindings"))
            .collect(Collectors.joining(File.pathSeparator)));
    return command;
  }

  @Test
  void aPropertyIsEnough() throws Exception {
    assertThat(run("-Djava.nio.channels.spi.SelectorProvider=" + name()))
        .contains("provider " + name());
  }

  @Test
  void aWrongSettingIsNamed() throws Exception {
    assertThat(
            run(
                "-Djava.nio.channels.spi.SelectorProvider=" + name(),
                "-Dorg.rdma4j.nio.enabled=sometimes"))
        .contains("org.rdma4j.nio.enabled is sometimes: it must be true or false");
  }

  private static String name() {
    return RdmaSelectorProvider.class.getName();
  }

  private static String run(String... options) throws Exception {
    return run(UnaryOperator.identity(), options);
  }

  private static String run(UnaryOperator<List<String>> change, String... options)
      throws Exception {
    List<String> command = change.apply(new ArrayList<>(JavaCommand.of(Program.class)));
    command.addAll(1, List.of(options));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(output).isTrue();
    return output;
  }
}
