package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.nio.handover.Messages;
import org.rdma4j.nio.handover.Proof;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.testing.JavaCommand;

/**
 * How connections end: each case runs with the channels of the JDK, as the control, and with ours,
 * and must show the same.
 */
@Tag("device")
@Tag("protocol")
@Tag("slow")
final class ChannelEndsTest {
  private static final int MUCH = 900_000;

  /** More than both sides hold for a reader that does not read. */
  private static final int VERY_MUCH = 8_000_000;

  private static final int ANSWER = 200_000;

  /** More than an exit or a close has ever waited for an arrival. */
  private static final Duration LATE = Duration.ofSeconds(7);

  @SuppressWarnings("NullAway.Init") // some tests
  private RdmaSelectorProvider ours;

  private boolean overRdma;

  @SuppressWarnings("NullAway.Init") // each test
  private ServerSocketChannel listener;

  @SuppressWarnings("NullAway.Init") // some tests
  private ChildProcess program;

  /** What a reader has seen. */
  private record Seen(int bytes, boolean right, String end) {}

  private void start(String kind, String way, int length, String... options) throws Exception {
    listen(kind, 10);
    String port = "" + ((InetSocketAddress) listener.getLocalAddress()).getPort();
    List<String> command =
        new ArrayList<>(JavaCommand.of(EndingProgram.class, port, way, "" + length));
    if (overRdma) {
      command.add(
          1, "-Djava.nio.channels.spi.SelectorProvider=" + RdmaSelectorProvider.class.getName());
      command.add(1, "-Dorg.rdma4j.nio.addressMap=127.0.0.1=" + device());
      command.add(1, "-Dorg.rdma4j.nio.upgradeAfterBytes=32");
      command.add(1, "-Dorg.rdma4j.nio.devices=all");
      command.addAll(1, List.of(options));
    }
    program = ChildProcess.start(command);
  }

  private void listen(String kind, int timeoutSeconds) throws Exception {
    overRdma = kind.equals("ours");
    if (overRdma) {
      ours = provider(timeoutSeconds);
      listener = UpgradeTest.listen(ours);
    } else {
      listener = ChannelPair.listen(JdkProvider.find());
    }
  }

  private static RdmaSelectorProvider provider(int timeoutSeconds) {
    return new RdmaSelectorProvider(
        ChannelSettings.read(
            name ->
                switch (name) {
                  case "org.rdma4j.nio.addressMap" -> "127.0.0.1=" + device();
                  case "org.rdma4j.nio.timeoutSeconds" -> "" + timeoutSeconds;
                  case "org.rdma4j.nio.upgradeAfterBytes" -> "32";
                  case "org.rdma4j.nio.devices" -> "all";
                  default -> null;
                }));
  }

  private static String device() {
    return DeviceAddress.ipv4().getHostAddress();
  }

  @AfterEach
  void close() throws Exception {
    if (program != null) {
      program.close();
    }
    listener.close();
    if (ours != null) {
      ours.rendezvous().close();
    }
  }

  /** Answers what the program exchanges until it is ready to end. */
  private SocketChannel acceptAndAnswer() throws IOException {
    SocketChannel channel = listener.accept();
    ByteBuffer bytes = ByteBuffer.allocate(EndingProgram.EXCHANGE);
    do {
      bytes.clear();
      while (bytes.hasRemaining()) {
        assertThat(channel.read(bytes)).isPositive();
      }
      boolean ready = ours == null || ours.statistics().upgraded() > 0;
      bytes.put(1, ready ? EndingProgram.READY : 0);
      bytes.flip();
      channel.write(bytes);
    } while (bytes.get(0) != EndingProgram.LAST);
    return channel;
  }

  private static Seen readAll(SocketChannel channel) {
    ByteBuffer all = ByteBuffer.allocate(VERY_MUCH + 1);
    String end = "end";
    try {
      while (channel.read(all) >= 0) {}
    } catch (IOException failed) {
      end = failed.toString();
    }
    byte[] bytes = new byte[all.position()];
    all.flip().get(bytes);
    return new Seen(bytes.length, Arrays.equals(bytes, EndingProgram.data(bytes.length)), end);
  }

  private static Seen whole(int length) {
    return new Seen(length, true, "end");
  }

  /** All has arrived, so the process waits no longer: without progress it would wait 30 s. */
  private void awaitExit() throws Exception {
    long began = System.nanoTime();
    var outcome = program.await();
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(20));
    assertThat(outcome.status()).isZero();
    assertThat(outcome.out()).noneMatch(line -> line.startsWith("failed"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void whatWasWrittenArrivesIfTheProcessExitsAfterTheClose(String kind) throws Exception {
    start(kind, "closeAndExit", MUCH);
    assertThat(readAll(acceptAndAnswer())).isEqualTo(whole(MUCH));
    awaitExit();
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void whatWasWrittenArrivesIfMainReturnsAfterTheClose(String kind) throws Exception {
    start(kind, "closeAndReturn", MUCH);
    assertThat(readAll(acceptAndAnswer())).isEqualTo(whole(MUCH));
    awaitExit();
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void aCloseWaitsForAPeerThatReadsLate(String kind) throws Exception {
    start(kind, "close", MUCH);
    SocketChannel channel = acceptAndAnswer();
    Thread.sleep(LATE.toMillis());
    assertThat(readAll(channel)).isEqualTo(whole(MUCH));
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void anExitWaitsForAPeerThatReadsLate(String kind) throws Exception {
    start(kind, "exit", MUCH);
    SocketChannel channel = acceptAndAnswer();
    Thread.sleep(LATE.toMillis());
    assertThat(readAll(channel)).isEqualTo(whole(MUCH));
    awaitExit();
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void aShutdownHookFinishesAnAnswer(String kind) throws Exception {
    start(kind, "hook", ANSWER);
    assertThat(readAll(acceptAndAnswer())).isEqualTo(whole(ANSWER));
    awaitExit();
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void aShutdownHookConnects(String kind) throws Exception {
    start(kind, "connectInHook", ANSWER);
    assertThat(readAll(acceptAndAnswer())).isEqualTo(whole(ANSWER));
    awaitExit();
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void aShutdownHookConnectsASocket(String kind, @TempDir Path folder) throws Exception {
    start(kind, "socketInHook", 0, AgentJar.option(folder, ChannelAgent.class));
    assertThat(readAll(acceptAndAnswer())).isEqualTo(whole(0));
    awaitExit();
    assertThat(ours == null ? 1 : ours.statistics().upgraded()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void anExitDoesNotWaitForAThreadThatReads(String kind) throws Exception {
    start(kind, "exitWhileReading", EndingProgram.PIECE);
    SocketChannel channel = acceptAndAnswer();
    assertThat(readAll(channel)).isEqualTo(whole(EndingProgram.PIECE));
    awaitExit();
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void aProcessThatDiesEndsItsConnections(String kind) throws Exception {
    start(kind, "halt", EndingProgram.PIECE);
    assertThat(readAll(acceptAndAnswer())).isEqualTo(whole(EndingProgram.PIECE));
  }

  /** What was in flight over RDMA is lost with the process. A reader must not take that for all. */
  @Test
  void aProcessThatDiesWithBytesInFlightIsReset() throws Exception {
    start("ours", "haltWhileWriting", VERY_MUCH);
    SocketChannel channel = acceptAndAnswer();
    assertThat(program.await().status()).isZero();
    Seen seen = readAll(channel);
    assertThat(seen.right()).isTrue();
    assertThat(seen.bytes()).isBetween(1, VERY_MUCH - 1);
    assertThat(seen.end()).contains("Connection reset");
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void aServerSeesTheEndOfAClientThatDiesWhileItsClaimWaits(String kind) throws Exception {
    start(kind, "claimAndHalt", EndingProgram.PIECE);
    SocketChannel channel = listener.accept();
    // Nothing but the beginning is read, so that the claim cannot be checked.
    ByteBuffer bytes = ByteBuffer.allocate(EndingProgram.EXCHANGE);
    channel.read(bytes);
    channel.write(bytes.flip());
    assertThat(program.await().status()).isZero();
    var reading = ChannelPair.waiting(() -> readAll(channel));
    assertThat(reading.get()).isEqualTo(whole(EndingProgram.PIECE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void aCloseWithUnreadBytesResets(String kind) throws Exception {
    listen(kind, 60);
    SelectorProvider provider = overRdma ? ours : JdkProvider.find();
    try (SocketChannel client = connected(provider)) {
      SocketChannel server = listener.accept();
      UpgradeTest.greet(client, server);
      awaitUpgrade(client, server);
      client.write(ChannelPair.bytes("not read"));
      Thread.sleep(500);
      server.close();
      assertThatThrownBy(() -> UpgradeTest.readOne(client)).isInstanceOf(SocketException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void anInterruptedThreadReadsNothing(String kind) throws Exception {
    listen(kind, 60);
    SelectorProvider provider = overRdma ? ours : JdkProvider.find();
    try (SocketChannel client = connected(provider);
        SocketChannel server = listener.accept()) {
      UpgradeTest.greet(client, server);
      awaitUpgrade(client, server);
      client.write(ChannelPair.bytes("there"));
      Thread.sleep(500);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> UpgradeTest.readOne(server))
          .isInstanceOf(ClosedByInterruptException.class);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(server.isOpen()).isFalse();
    }
  }

  /** A peer that listens over RDMA, and is silent there, has not left TCP. */
  @ParameterizedTest
  @ValueSource(strings = {"the JDK's", "ours"})
  void anEndIsAnEndAlsoIfNobodyAnswersTheClaim(String kind) throws Exception {
    listen("the JDK's", 60);
    RdmaSelectorProvider impatient = kind.equals("ours") ? provider(4) : null;
    int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
    try (RdmaNode node = RdmaNode.open();
        RdmaServer silent = node.bind(new InetSocketAddress(DeviceAddress.ipv4(), port));
        SocketChannel client = connected(impatient == null ? JdkProvider.find() : impatient);
        SocketChannel server = listener.accept()) {
      UpgradeTest.greet(client, server);
      if (impatient != null) {
        var connection = silent.accept(Duration.ofSeconds(60));
        connection.send(Messages.challenge(Proof.random()), Duration.ofSeconds(20));
        assertThat(connection.receive(Duration.ofSeconds(20))).isPresent();
      }
      server.shutdownOutput();
      // Longer than the client waits for the grant.
      Thread.sleep(TimeUnit.SECONDS.toMillis(6));
      assertThat(UpgradeTest.readOne(client)).isEqualTo(-1);
    } finally {
      if (impatient != null) {
        impatient.rendezvous().close();
      }
    }
  }

  private SocketChannel connected(SelectorProvider provider) throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(listener.getLocalAddress());
    return channel;
  }

  private void awaitUpgrade(SocketChannel client, SocketChannel server) throws Exception {
    if (overRdma) {
      UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
    }
  }
}
