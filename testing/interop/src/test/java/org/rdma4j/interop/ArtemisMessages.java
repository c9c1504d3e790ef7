package org.rdma4j.interop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * Sends small messages through a broker of Artemis, and checks that they come in order. In the
 * middle, the adapter breaks, which must be no failure of the connection.
 */
final class ArtemisMessages {
  private static final String QUEUE = "messages";

  private final CompletableFuture<Integer> received = new CompletableFuture<>();
  private final ClientSession session;
  private final ClientProducer producer;
  private final ClientConsumer consumer;
  private int next;

  private ArtemisMessages(ClientSession session) throws ActiveMQException {
    this.session = session;
    producer = session.createProducer(QUEUE);
    consumer = session.createConsumer(QUEUE);
  }

  /** Takes the port of the broker and a number of messages. */
  public static void main(String[] args) throws Exception {
    try (ServerLocator locator =
            ActiveMQClient.createServerLocator(
                ArtemisBroker.address(Integer.parseInt(args[0])) + "&reconnectAttempts=0");
        ClientSessionFactory connection = locator.createSessionFactory();
        ClientSession session = connection.createSession()) {
      session.createQueue(
          QueueConfiguration.of(QUEUE).setRoutingType(RoutingType.ANYCAST).setDurable(false));
      session.start();
      new ArtemisMessages(session).run(Integer.parseInt(args[1]));
      System.out.println(NumberedBytes.RESUMED + Way.statistics().resumed());
    }
    System.exit(0);
  }

  private void run(int count) throws Exception {
    while (!Way.isFound()) {
      send(0);
      Objects.requireNonNull(consumer.receive(ChildProcess.TIMEOUT.toMillis())).acknowledge();
    }
    consumer.setMessageHandler(message -> check(message, count));
    for (int i = 0; i < count; i++) {
      if (i == count / 2 && SimulatedAdapter.isLoaded()) {
        SimulatedAdapter.breakForAMoment();
      }
      send(i);
    }
    System.out.println(
        NumberedBytes.RECEIVED + received.get(ChildProcess.TIMEOUT.toSeconds(), TimeUnit.SECONDS));
  }

  private void send(int number) throws ActiveMQException {
    ClientMessage message = session.createMessage(false);
    message.getBodyBuffer().writeBytes(NumberedBytes.of(number, NumberedBytes.OF_A_MESSAGE));
    producer.send(message);
  }

  private void check(ClientMessage message, int count) {
    try {
      byte[] bytes = new byte[message.getBodySize()];
      message.getBodyBuffer().readBytes(bytes);
      NumberedBytes.check(bytes, next++);
      message.acknowledge();
      if (next == count) {
        received.complete(count);
      }
    } catch (ActiveMQException | RuntimeException failed) {
      received.completeExceptionally(failed);
    }
  }
}
