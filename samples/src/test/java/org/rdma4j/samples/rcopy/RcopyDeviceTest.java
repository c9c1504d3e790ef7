package org.rdma4j.samples.rcopy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.samples.testing.TestDevice;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** Copies files on the first RDMA device of this machine. */
@Tag("device")
@Timeout(200)
class RcopyDeviceTest {
  private static final long TIMEOUT_SECONDS = 90;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String HOST = TestDevice.host();

  @TempDir Path scratch;
  private Path file;
  private Path directory;
  private int port;

  @BeforeEach
  void prepare() throws IOException {
    file = scratch.resolve("file");
    directory = Files.createDirectory(scratch.resolve("arrived"));
    port = TestDevice.freePort();
  }

  @Test
  void fileArrivesWithTheSameBytes() throws Exception {
    // More messages than may be outstanding, the last of which is shorter.
    byte[] bytes = new byte[9 * FileSender.PART_BYTES + 4321];
    new Random(1).nextBytes(bytes);
    Files.write(file, bytes);

    assertThatItIsCopied(HOST, "file");
    assertThat(directory.resolve("file")).hasBinaryContent(bytes);
  }

  @Test
  void emptyFileArrivesWithTheRequestedName() throws Exception {
    Files.createFile(file);

    assertThatItIsCopied(HOST + ":other", "other");
    assertThat(directory.resolve("other")).isEmptyFile();
  }

  private void assertThatItIsCopied(String target, String name) throws Exception {
    CompletableFuture<Outcome> server = serve();
    Outcome client = copyTo(target);

    assertThat(client.err()).isEmpty();
    assertThat(client.out()).hasSize(2);
    assertThat(client.out().get(0)).startsWith(Files.size(file) + " bytes in ");
    assertThat(client.out().get(1)).matches("[0-9a-f]{64}  " + name);
    assertThat(client.status()).isZero();
    Outcome served = await(server);
    assertThat(served.err()).isEmpty();
    assertThat(served.out()).last().isEqualTo(client.out().get(1));
    assertThat(served.status()).isZero();
    assertThat(directory).isDirectoryContaining(each -> each.endsWith(name));
    assertThatDirectoryHolds(1);
  }

  @Test
  void serverRefusesNameOutsideItsDirectory() throws Exception {
    CompletableFuture<Outcome> server = serve();
    try (RdmaConnection client = connect()) {
      client.send(offer("../outside", 0), TIMEOUT);
      try (MessageBuffer answer = client.receive(TIMEOUT).orElseThrow()) {
        assertThat(StandardCharsets.UTF_8.decode(answer.byteBuffer()).toString())
            .contains("\"../outside\" is not a plain file name");
      }
    }

    await(server).assertFailed("\"../outside\" is not a plain file name");
    assertThat(scratch.resolve("outside")).doesNotExist();
  }

  @Test
  void nameCannotDisturbATerminal() throws Exception {
    String shown = "\"\\u{1b}[2J\\u{202e}\\u{a}\" is not a plain file name";
    CompletableFuture<Outcome> server = serve();
    try (RdmaConnection client = connect()) {
      client.send(offer("\33[2J\u202e\n", 0), TIMEOUT);
      try (MessageBuffer answer = client.receive(TIMEOUT).orElseThrow()) {
        assertThat(StandardCharsets.UTF_8.decode(answer.byteBuffer()).toString()).contains(shown);
      }
    }

    await(server).assertFailed(shown);
  }

  @Test
  void answerOfTheServerCannotDisturbATerminal() throws Exception {
    copyToOneThatCloses("", "no\33[2J\r room").assertFailed("says: no\\u{1b}[2J\\u{d} room");
  }

  @Test
  void silentClientKeepsNobodyWaiting() throws Exception {
    Files.createFile(file);
    CompletableFuture<Outcome> server = begin(2, directory.toString());
    ChildProcess.awaitListeningCm(port);
    try (RdmaConnection silent = connect()) {
      Outcome client = copyTo(HOST);

      assertThat(client.err()).isEmpty();
      assertThat(client.status()).isZero();
      assertThat(server).isNotDone();
      try (MessageBuffer answer = silent.receive(TIMEOUT).orElseThrow()) {
        assertThat(StandardCharsets.UTF_8.decode(answer.byteBuffer()).toString())
            .isEqualTo("the client offered no file within 20 s");
      }
    }
    await(server).assertFailed("a file was not received: the client offered no file within 20 s");
  }

  @Test
  void clientReportsWhyTheServerRefused() throws Exception {
    Files.createFile(file);
    Files.createFile(Files.createDirectory(directory.resolve("file")).resolve("content"));
    CompletableFuture<Outcome> server = serve();

    Outcome client = copyTo(HOST);
    client.assertFailed("the server says: the server could not store the file");
    assertThat(client.err()).noneMatch(line -> line.contains(directory.toString()));
    Outcome served = await(server);
    served.assertFailed("a file was not received");
    served.assertFailed(directory.toString());
    assertThatDirectoryHolds(1);
  }

  @Test
  void clientReportsWhatTheServerSaidBeforeItClosed() throws Exception {
    copyToOneThatCloses("", "no room").assertFailed("the server says: no room");
  }

  @Test
  void clientReportsTheBrokenConnectionIfTheServerSaidNothing() throws Exception {
    copyToOneThatCloses("").assertFailed("ECONNRESET");
  }

  private Outcome copyToOneThatCloses(String... answers) throws Exception {
    // More than a server receives without reading it.
    Files.write(file, new byte[9 * FileSender.PART_BYTES]);
    try (RdmaServer server = RdmaServer.bind(new InetSocketAddress(HOST, port))) {
      CompletableFuture<Outcome> client = begin(1, file.toString(), HOST);
      try (RdmaConnection connection = server.accept(TIMEOUT)) {
        connection.receive(TIMEOUT).orElseThrow().close();
        for (String answer : answers) {
          connection.send(StandardCharsets.UTF_8.encode(answer), TIMEOUT);
        }
      }
      return await(client);
    }
  }

  @Test
  void nothingIsLeftIfTheClientDisconnects() throws Exception {
    CompletableFuture<Outcome> server = serve();
    try (RdmaConnection client = connect()) {
      client.send(offer("half", 2000), TIMEOUT);
      client.receive(TIMEOUT).orElseThrow().close();
      client.send(ByteBuffer.allocate(1000), TIMEOUT);
    }

    await(server).assertFailed("the client disconnected before the end of the copy");
    assertThatDirectoryHolds(0);
  }

  @Test
  void nothingIsLeftIfTheChecksumIsWrong() throws Exception {
    CompletableFuture<Outcome> server = serve();
    try (RdmaConnection client = connect()) {
      client.send(offer("garbled", 1000), TIMEOUT);
      client.receive(TIMEOUT).orElseThrow().close();
      client.send(ByteBuffer.allocate(1000), TIMEOUT);
      client.send(ByteBuffer.allocate(32), TIMEOUT);
      try (MessageBuffer answer = client.receive(TIMEOUT).orElseThrow()) {
        assertThat(StandardCharsets.UTF_8.decode(answer.byteBuffer()).toString())
            .contains("SHA-256");
      }
    }

    await(server).assertFailed("the SHA-256 of the received bytes differs");
    assertThatDirectoryHolds(0);
  }

  @Test
  void failureToStartIsReportedInOneLine() throws Exception {
    copyTo(HOST).assertFailed("is not a file");
    Files.createFile(file);
    copyTo("[" + HOST).assertFailed("is not SERVER or SERVER:NAME");
    copyTo(HOST + ":..").assertFailed("\"..\" is not a plain file name");
    copyTo("no.such.host.invalid").assertFailed("no host is named");
    copyTo(HOST).assertFailed("No program listens on that port");
  }

  private CompletableFuture<Outcome> serve() throws Exception {
    CompletableFuture<Outcome> server = begin(1, directory.toString());
    ChildProcess.awaitListeningCm(port);
    return server;
  }

  private CompletableFuture<Outcome> begin(int files, String... args) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                outcome.complete(run(files, args));
              } catch (InterruptedException | RuntimeException | Error failed) {
                outcome.completeExceptionally(failed);
              }
            });
    return outcome;
  }

  /** Runs the program in this JVM; a server ends after that number of files. */
  private Outcome run(int files, String... args) throws InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int status =
        new Rcopy(new PrintStream(out, true), new PrintStream(err, true), port, files).run(args);
    return new Outcome(status, lines(out), lines(err));
  }

  private static List<String> lines(ByteArrayOutputStream printed) {
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private static Outcome await(CompletableFuture<Outcome> server) throws Exception {
    return server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  private Outcome copyTo(String target) throws InterruptedException {
    return run(1, file.toString(), target);
  }

  private RdmaConnection connect() throws Exception {
    return RdmaConnection.connect(new InetSocketAddress(HOST, port), TIMEOUT);
  }

  /** Encodes an offer that {@link FileOffer} may refuse. */
  private static ByteBuffer offer(String name, long length) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(16 + bytes.length)
        .putInt(0x52344643)
        .putInt(1)
        .putLong(length)
        .put(bytes)
        .flip();
  }

  private void assertThatDirectoryHolds(int files) throws IOException {
    try (var held = Files.list(directory)) {
      assertThat(held).hasSize(files);
    }
  }
}
