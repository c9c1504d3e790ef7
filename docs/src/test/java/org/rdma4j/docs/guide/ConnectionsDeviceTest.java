package org.rdma4j.docs.guide;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.ExposedMemory;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.NodeMemory;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/** The code of docs/guide/connections.md. */
@Tag("device")
@Timeout(200)
class ConnectionsDeviceTest {
  private RdmaNode node;
  private RdmaServer server;
  private RdmaConnection connection;
  private RdmaConnection peer;

  @BeforeEach
  void connect() throws Exception {
    InetSocketAddress local = new InetSocketAddress(Peers.host(), 0);
    // snippet: node
    node = RdmaNode.open(NodeConfig.DEFAULT.bufferBytes(16 << 10).receives(32));
    server = node.bind(local);
    // end
    connection = node.connect(server.localAddress(), TIMEOUT);
    peer = server.accept(TIMEOUT);
  }

  @AfterEach
  void close() {
    node.close();
  }

  @Test
  void messagesThatNobodyWaitsFor() throws Exception {
    Queue<String> received = new ConcurrentLinkedQueue<>();
    // snippet: handler
    peer.onMessage(
        message -> {
          try (message) {
            received.add(UTF_8.decode(message.byteBuffer()).toString());
          }
        });
    // end
    // snippet: futures
    List<CompletableFuture<Void>> arrived = new ArrayList<>();
    for (String text : List.of("one", "two", "three")) {
      arrived.add(connection.sendAsync(UTF_8.encode(text)));
    }
    CompletableFuture.allOf(arrived.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
    // end
    while (received.size() < 3) {
      Thread.sleep(10);
    }
    assertThat(received).containsExactly("one", "two", "three");
  }

  /** Sends as long as its peer keeps up. */
  private record Source(AtomicInteger left) {
    void sendTo(RdmaConnection peer) {
      while (peer.isWritable() && left.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        peer.sendAsync(ByteBuffer.allocate(1000), 0, (token, failure) -> {});
      }
    }
  }

  @Test
  void aHandlerThatSendsAsFastAsItsPeerReceives() throws Exception {
    Source source = new Source(new AtomicInteger(5_000));
    AtomicInteger received = new AtomicInteger();
    connection.onMessageBytes(message -> received.incrementAndGet());
    // snippet: writability
    peer.onWritability(
        writable -> {
          if (writable) {
            source.sendTo(peer); // as long as peer.isWritable()
          }
        });
    source.sendTo(peer);
    // end
    while (received.get() < 5_000) {
      Thread.sleep(10);
    }
    assertThat(source.left()).hasValue(0);
  }

  @Test
  void aThreadThatDrivesANode() throws Exception {
    AtomicInteger received = new AtomicInteger();
    InetSocketAddress local = new InetSocketAddress(Peers.host(), 0);
    // snippet: drive
    try (DrivenNode driven = DrivenNode.open();
        RdmaServer listening = driven.node().bind(local)) {
      listening.onAccept(
          client -> client.onMessageBytes(message -> received.addAndGet(message.remaining())));
      CompletableFuture<RdmaConnection> connected =
          driven.node().connectAsync(listening.localAddress(), TIMEOUT);
      CompletableFuture<Void> sent =
          connected.thenCompose(own -> own.sendAsync(UTF_8.encode("hello")));
      while (!sent.isDone() || received.get() == 0) {
        driven.drive(TIMEOUT);
      }
    }
    // end
    assertThat(received.get()).isEqualTo(5);
  }

  @Test
  void questionsAndAnswers() throws Exception {
    // snippet: answer
    peer.onRequest(
        request -> {
          String question = UTF_8.decode(request.message().byteBuffer()).toString();
          request.answer(UTF_8.encode(question.toUpperCase(Locale.ROOT)));
        });
    // end
    String answered;
    // snippet: request
    CompletableFuture<MessageBuffer> answer = connection.request(UTF_8.encode("who is there?"));
    try (MessageBuffer message = answer.get(10, TimeUnit.SECONDS)) {
      answered = UTF_8.decode(message.byteBuffer()).toString();
    }
    // end
    assertThat(answered).isEqualTo("WHO IS THERE?");
  }

  @Test
  void theMemoryOfThePeer() throws Exception {
    // snippet: expose
    MemoryRegion table = peer.register(1 << 20, AccessFlag.LOCAL_WRITE);
    ExposedMemory exposed = peer.expose(table.slice(4096, 64), AccessFlag.REMOTE_READ);
    MessageBuffer letter = peer.buffer();
    exposed.name().write(letter.byteBuffer());
    letter.byteBuffer().flip();
    peer.send(letter, TIMEOUT);
    // end
    table.byteBuffer().put(4096, (byte) 42);
    byte first;
    // snippet: read
    RemoteMemory remote;
    try (MessageBuffer message = connection.receive(TIMEOUT).orElseThrow()) {
      remote = RemoteMemory.read(message.byteBuffer());
    }
    MemoryRegion here = connection.register(64, AccessFlag.LOCAL_WRITE);
    connection.memory().read(remote, here.slice(0, 64), TIMEOUT);
    first = here.byteBuffer().get(0);
    // end
    assertThat(first).isEqualTo((byte) 42);
    exposed.close();
  }

  @Test
  void ownMemory(@TempDir Path directory) throws Exception {
    Path path = Files.write(directory.resolve("table"), new byte[1 << 20]);
    NodeMemory table;
    Arena arena = Arena.ofShared();
    // snippet: own
    try (FileChannel file = FileChannel.open(path, READ, WRITE)) {
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size(), arena);
      table = node.register(arena, mapped, AccessFlag.REMOTE_READ);
    }
    // ... and later, for each connection:
    RemoteMemory name = RemoteMemory.of(table.region(peer));
    // end
    assertThat(name.length()).isEqualTo(1 << 20);
    arena.close();
  }

  @Test
  void aNotice() throws Exception {
    MemoryRegion table = peer.register(1 << 20, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    RemoteMemory remote = RemoteMemory.of(table).slice(4096, 64);
    MemoryRegion data = connection.register(64);
    // snippet: notify
    long row = 64;
    connection.memory().writeAndNotify(data.slice(0, 64), remote, row, TIMEOUT);
    // end
    long changed;
    // snippet: notice
    try (MessageBuffer message = peer.receive(TIMEOUT).orElseThrow()) {
      changed = message.notice().orElseThrow();
    }
    // end
    assertThat(changed).isEqualTo(64);
  }
}
