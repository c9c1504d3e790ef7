package org.rdma4j.interop;

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * Sends small messages through a broker of ActiveMQ Classic, and checks that they come in order.
 */
final class ActiveMqMessages {

  private final CompletableFuture<Integer> received = new CompletableFuture<>();
  private final Session sending;
  private final MessageProducer producer;
  private final MessageConsumer consumer;
  private int next;

  private ActiveMqMessages(Connection connection) throws JMSException {
    sending = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    Session receiving = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    Queue queue = sending.createQueue("messages");
    producer = sending.createProducer(queue);
    consumer = receiving.createConsumer(queue);
  }

  /** Takes the port of the broker and a number of messages. */
  public static void main(String[] args) throws Exception {
    ActiveMQConnectionFactory factory =
        new ActiveMQConnectionFactory(ActiveMqBroker.address(args[0]));
    factory.setUseAsyncSend(true);
    try (Connection connection = factory.createConnection()) {
      connection.start();
      new ActiveMqMessages(connection).run(Integer.parseInt(args[1]));
      System.out.println(NumberedBytes.RESUMED + Way.statistics().resumed());
    }
    System.exit(0);
  }

  private void run(int count) throws Exception {
    while (!Way.isFound()) {
      send(0);
      Objects.requireNonNull(consumer.receive(ChildProcess.TIMEOUT.toMillis()));
    }
    consumer.setMessageListener(message -> check(message, count));
    for (int i = 0; i < count; i++) {
      if (i == count / 2 && SimulatedAdapter.isLoaded()) {
        SimulatedAdapter.breakForAMoment();
      }
      send(i);
    }
    System.out.println(
        NumberedBytes.RECEIVED + received.get(ChildProcess.TIMEOUT.toSeconds(), TimeUnit.SECONDS));
  }

  private void send(int number) throws JMSException {
    BytesMessage message = sending.createBytesMessage();
    message.writeBytes(NumberedBytes.of(number, NumberedBytes.OF_A_MESSAGE));
    producer.send(message);
  }

  private void check(Message message, int count) {
    try {
      NumberedBytes.check(message.getBody(byte[].class), next++);
      if (next == count) {
        received.complete(count);
      }
    } catch (JMSException | RuntimeException failed) {
      received.completeExceptionally(failed);
    }
  }
}
