package org.rdma4j.docs.guide;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;

/** The code of docs/guide/coming-from-c.md, coming-from-disni.md and coming-from-sockets.md. */
@Tag("device")
@Timeout(200)
class ComingFromDeviceTest {
  @Tag("needs-servers-that-send-first")
  @Test
  void theExampleOfDisni() throws Exception {
    try (SynchronousCmId listener = RemoteRead.listen(new InetSocketAddress(Peers.host(), 0));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> server =
          threads.submit(
              () -> {
                RemoteRead.serve(listener);
                return null;
              });
      assertThat(RemoteRead.read(listener.id().localAddress())).isEqualTo("This is an RDMA read");
      server.get();
    }
  }

  @Test
  void aServerOfKeysAndValuesWithManyClients() throws Exception {
    try (RdmaServer server = RdmaServer.bind(new InetSocketAddress(Peers.host(), 0));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      InetSocketAddress address = server.localAddress();
      RdmaConnection.connect(address, TIMEOUT).close(); // has gone before it is accepted
      KeyValues.serve(server, new ConcurrentHashMap<>());
      List<Future<Integer>> clients = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        int key = i;
        clients.add(threads.submit(() -> putAndGet(address, key)));
      }
      assertThat(clients.get(0).get()).isEqualTo(0);
      assertThat(clients.get(1).get()).isEqualTo(5000);
      assertThat(clients.get(2).get()).isEqualTo(10000);
    }
  }

  private static int putAndGet(InetSocketAddress address, int key) throws Exception {
    byte[] value;
    // snippet: key-values
    try (RdmaConnection server = RdmaConnection.connect(address, TIMEOUT)) {
      KeyValues.put(server, key, new byte[5000 * key]).get(30, SECONDS);
      value = KeyValues.get(server, key).get(30, SECONDS);
    }
    // end
    return value.length;
  }

  @Tag("needs-atomics")
  @Test
  void requestsOfTheVerbsOverTheConnectionManager() throws Exception {
    try (SynchronousCmId listener = RemoteRead.listen(new InetSocketAddress(Peers.host(), 0));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Long> serving = threads.submit(() -> Counter.serve(listener));
      assertThat(Counter.count(listener.id().localAddress())).isEqualTo(0);
      assertThat(serving.get()).isEqualTo(1);
    }
  }

  @Tag("needs-connecting-by-address")
  @Test
  void oneThreadForManyEndpoints() throws Exception {
    try (Peers peers = new Peers()) {
      Dispatcher dispatcher = new Dispatcher(peers.queue);
      BlockingQueue<Long> completed = new ArrayBlockingQueue<>(10);
      dispatcher.add(
          peers.queuePair, (completions, i) -> completed.add(completions.workRequestId(i)));
      peers.peer.receiveRequests(1).add(1).into(peers.peerMemory, 0, 64).post();
      Thread thread = Thread.ofPlatform().start(dispatcher);
      peers.queuePair.sendRequests(1).add(4444).from(peers.memory, 0, 64).signaled().post();
      assertThat(completed.poll(30, SECONDS)).isEqualTo(4444);
      peers.queue.close();
      thread.join();
    }
  }

  @Test
  void anEchoServer() throws Exception {
    try (RdmaServer server = RdmaServer.bind(new InetSocketAddress(Peers.host(), 0));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      InetSocketAddress address = server.localAddress();
      Future<?> serving =
          threads.submit(
              () -> {
                echo(server, threads);
                return null;
              });
      String answer;
      // snippet: client
      try (RdmaConnection connection = RdmaConnection.connect(address, TIMEOUT)) {
        ByteBuffer request = UTF_8.encode("hello");
        connection.send(request, TIMEOUT);
        try (var reply = connection.receive(TIMEOUT).orElseThrow()) {
          answer = UTF_8.decode(reply.byteBuffer()).toString();
        }
      }
      // end
      assertThat(answer).isEqualTo("hello");
      serving.cancel(true);
    }
  }

  // snippet: server
  static void echo(RdmaServer server, ExecutorService threads) throws InterruptedException {
    while (true) {
      RdmaConnection peer = server.accept();
      threads.execute(() -> echo(peer));
    }
  }

  static void echo(RdmaConnection peer) {
    try (peer) {
      Optional<MessageBuffer> received = peer.receive();
      while (received.isPresent()) { // empty: the peer has closed its side
        try (MessageBuffer message = received.get()) {
          peer.send(message, TIMEOUT); // gives up the received buffer, without a copy
        }
        received = peer.receive();
      }
    } catch (RdmaException | InterruptedException | TimeoutException end) {
      System.err.println(end); // the connection is broken, or the peer takes no messages
    }
  }
  // end
}
