package org.rdma4j.docs.guide;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;

/** The code of docs/guide/layers.md. */
@Tag("device")
@Timeout(200)
class LayersDeviceTest {
  @Test
  void connections() throws Exception {
    Duration timeout = TIMEOUT;
    try (RdmaServer server = RdmaServer.bind(new InetSocketAddress(Peers.host(), 0));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> received =
          threads.submit(
              () -> {
                try (RdmaConnection peer = server.accept(timeout);
                    var message = peer.receive(timeout).orElseThrow()) {
                  return UTF_8.decode(message.byteBuffer()).toString();
                }
              });
      InetSocketAddress address = server.localAddress();
      // snippet: connection
      try (RdmaConnection connection = RdmaConnection.connect(address, timeout)) {
        connection.send(UTF_8.encode("hello"), timeout);
      }
      // end
      assertThat(received.get()).isEqualTo("hello");
    }
  }

  @Tag("needs-connecting-by-address")
  @Test
  void verbs() throws Exception {
    String name = RdmaDevice.list().getFirst().name();
    String arrived;
    // snippet: verbs
    try (var device = RdmaDevice.open(name);
        var domain = device.allocateProtectionDomain();
        var memory = domain.register(4096, AccessFlag.LOCAL_WRITE);
        var queue = device.createCompletionQueue(4, device.createCompletionChannel());
        var queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
        var peer = domain.createQueuePair(QueuePairConfig.reliable(queue))) {
      queuePair.connect(PathConfig.to(peer.address()));
      peer.connect(PathConfig.to(queuePair.address()));
      peer.receiveRequests(1).add(1).into(memory, 2048, 64).post();
      memory.segment().setString(0, "hello");
      queuePair.sendRequests(1).add(2).from(memory, 0, 6).post();
      Completions completions = queue.completions(1);
      completions.await(TIMEOUT);
      completions.requireSuccess(0); // of the receive; the send is not signaled
      arrived = memory.segment().getString(2048);
    }
    // end
    assertThat(arrived).isEqualTo("hello");
  }
}
