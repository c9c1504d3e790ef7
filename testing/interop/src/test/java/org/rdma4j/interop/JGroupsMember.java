package org.rdma4j.interop;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.jgroups.Address;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * A member of a group of two, which sends many small messages to all, and checks that those of the
 * other one come in order. It prints each view of the group.
 */
final class JGroupsMember implements Receiver {
  static final String VIEW = "view of ";
  static final String RESUMED = "resumed ";
  static final String RECEIVED = "received ";
  private static final int BYTES = 200;
  private static final long TIMEOUT_NANOS = ChildProcess.TIMEOUT.toNanos();

  private final Map<Address, Integer> next = new ConcurrentHashMap<>();
  private final JChannel channel;
  private volatile int members;
  private volatile boolean wrong;

  private JGroupsMember() throws Exception {
    // The configuration that JGroups brings for channels, as its users take it.
    channel = new JChannel("tcp-nio.xml");
    channel.setReceiver(this);
    channel.setDiscardOwnMessages(true);
  }

  /** Sends a number of messages, and breaks its adapter in the middle if told to. */
  public static void main(String[] args) throws Exception {
    new JGroupsMember().run(Integer.parseInt(args[0]), Boolean.parseBoolean(args[1]));
  }

  private void run(int count, boolean breaks) throws Exception {
    channel.connect("group");
    await("the other member", () -> members == 2);
    long end = System.nanoTime() + TIMEOUT_NANOS;
    int sent = 0;
    while (!Way.isFound() && System.nanoTime() - end < 0) {
      send(sent++);
      Thread.sleep(1);
    }
    for (int i = 0; i < count; i++) {
      if (breaks && i == count / 2 && SimulatedAdapter.isLoaded()) {
        SimulatedAdapter.breakForAMoment();
      }
      send(sent++);
    }
    send(-1);
    await("the last message", () -> next.containsValue(-1) || wrong);
    System.out.println(wrong ? "wrong order" : RECEIVED + count);
    Program.Report.now().print();
    System.out.println(RESUMED + Way.statistics().resumed());
    // Stays in the group until it is killed, or the test ends.
    Thread.sleep(Duration.ofHours(1));
  }

  private void send(int number) throws Exception {
    byte[] bytes = new byte[BYTES];
    new Random(number).nextBytes(bytes);
    ByteBuffer.wrap(bytes).putInt(number);
    channel.send(new ObjectMessage(null, bytes));
  }

  @Override
  public void receive(Message message) {
    byte[] bytes = message.getObject();
    int number = ByteBuffer.wrap(bytes).getInt();
    byte[] expected = new byte[BYTES];
    new Random(number).nextBytes(expected);
    ByteBuffer.wrap(expected).putInt(number);
    int before = next.getOrDefault(message.getSrc(), 0);
    if (!Arrays.equals(bytes, expected) || (number >= 0 && number != before)) {
      System.out.println("instead of message " + before + " came " + number);
      wrong = true;
    }
    next.put(message.getSrc(), number < 0 ? -1 : number + 1);
  }

  @Override
  public void viewAccepted(View view) {
    System.out.println(VIEW + view.size());
    members = view.size();
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(String what, Condition condition) throws InterruptedException {
    long end = System.nanoTime() + TIMEOUT_NANOS;
    while (!condition.holds()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(what + " did not come within " + ChildProcess.TIMEOUT);
      }
      Thread.sleep(10);
    }
  }
}
