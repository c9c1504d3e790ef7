package org.rdma4j.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests whose sender gives them up: the receiver can ask, and everything else goes on. */
@Tag("device")
final class CancelledRequestsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final BlockingQueue<IncomingRequest> requests = new LinkedBlockingQueue<>();
  private RdmaNode node;
  private RdmaConnection client;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open();
    RdmaServer server = node.bind(RdmaConnectionTest.local());
    client = node.connect(server.localAddress(), PATIENCE);
    server.accept(PATIENCE).onRequest(requests::add);
  }

  @AfterEach
  void close() {
    node.close();
  }

  private IncomingRequest next() throws InterruptedException {
    IncomingRequest request = requests.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(request).isNotNull();
    return request;
  }

  private static void awaitCancel(IncomingRequest request) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!request.isCancelled() && end - System.nanoTime() > 0) {
      Thread.sleep(1);
    }
    assertThat(request.isCancelled()).isTrue();
  }

  private void checkThatRequestsAreAnswered() throws Exception {
    CompletableFuture<MessageBuffer> answer = client.request(US_ASCII.encode("and now?"));
    IncomingRequest request = next();
    assertThat(request.isCancelled()).isFalse();
    request.answer(US_ASCII.encode("yes"));
    try (MessageBuffer yes = answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      assertThat(US_ASCII.decode(yes.byteBuffer()).toString()).isEqualTo("yes");
    }
    assertThat(request.isCancelled()).isFalse();
  }

  @Test
  void aRequestWhoseFutureIsCancelledIsKnownToBe() throws Exception {
    CompletableFuture<MessageBuffer> answer = client.request(US_ASCII.encode("a long question"));
    CompletableFuture<MessageBuffer> other = client.request(US_ASCII.encode("another one"));
    IncomingRequest request = next();
    IncomingRequest otherRequest = next();
    assertThat(request.isCancelled()).isFalse();
    assertThat(answer.cancel(true)).isTrue();
    awaitCancel(request);
    assertThat(otherRequest.isCancelled()).isFalse();
    request.refuse("it was cancelled");
    assertThat(request.isCancelled()).isFalse();
    otherRequest.answer(US_ASCII.encode("yes"));
    other.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
    checkThatRequestsAreAnswered();
  }

  @Test
  void aRequestWhoseTimeIsOverIsCancelledAndMayBeAnsweredNevertheless() throws Exception {
    CompletableFuture<MessageBuffer> answer =
        client.request(US_ASCII.encode("a long question")).orTimeout(1, TimeUnit.MILLISECONDS);
    IncomingRequest request = next();
    awaitCancel(request);
    assertThat(answer).isCompletedExceptionally();
    request.answer(US_ASCII.encode("too late"));
    checkThatRequestsAreAnswered();
  }
}
