package org.rdma4j.interop;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.StaleReadException;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.TimeDuration;
import org.rdma4j.testing.ChildProcess;

/** Appends entries to the log of a group of Ratis, and checks what became of them. */
final class RatisEntries {
  static final int BYTES = 1000;
  static final String LEADER = "the leader is ";
  static final String APPENDED = "appended ";
  static final String MEMBER = "member ";
  static final String LONGEST = "the longest wait in ms: ";

  private final RaftGroup group;
  private final RaftClient client;
  private String state = RatisMember.NONE;
  private int appended;
  private long longestNanos;

  private RatisEntries(RaftGroup group, RaftClient client) {
    this.group = group;
    this.client = client;
  }

  /** Takes the ports of all members, and the number of entries. */
  public static void main(String[] args) throws Exception {
    RaftGroup group = RatisMember.group(args[0]);
    try (RaftClient client =
        RaftClient.newBuilder()
            .setRaftGroup(group)
            .setProperties(new RaftProperties())
            .setRetryPolicy(
                RetryPolicies.retryForeverWithSleep(
                    TimeDuration.valueOf(100, TimeUnit.MILLISECONDS)))
            .build()) {
      new RatisEntries(group, client).run(Integer.parseInt(args[1]));
    }
    System.exit(0);
  }

  private void run(int count) throws Exception {
    do {
      System.out.println(LEADER + append().getServerId());
    } while (!Way.isFound());
    RaftClientReply reply = null;
    for (int i = 0; i < count; i++) {
      reply = append();
      if (i % (count / 10) == 0) {
        System.out.println(APPENDED + i);
      }
    }
    for (RaftPeer member : group.getPeers()) {
      awaitState(member, reply.getLogIndex());
    }
    System.out.println(LONGEST + Duration.ofNanos(longestNanos).toMillis());
  }

  /** Appends the next entry. The answer has the state after it. */
  private RaftClientReply append() throws IOException {
    byte[] entry = NumberedBytes.of(appended++, BYTES);
    state = RatisMember.next(state, entry);
    long began = System.nanoTime();
    RaftClientReply reply =
        client.io().send(Message.valueOf(UnsafeByteOperations.unsafeWrap(entry)));
    longestNanos = Math.max(longestNanos, System.nanoTime() - began);
    if (!reply.isSuccess() || !text(reply).equals(state)) {
      throw new IllegalStateException("instead of " + state + " came " + reply);
    }
    return reply;
  }

  /** Waits until a member has applied all entries. */
  private void awaitState(RaftPeer member, long index) throws Exception {
    long end = System.nanoTime() + ChildProcess.TIMEOUT.toNanos();
    String last = "";
    while (!last.equals(state)) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(member + " has " + last + " instead of " + state);
      }
      Thread.sleep(100);
      try {
        RaftClientReply reply = client.io().sendStaleRead(Message.EMPTY, index, member.getId());
        last = reply.isSuccess() ? text(reply) : String.valueOf(reply.getException());
      } catch (StateMachineException | StaleReadException behind) {
        last = behind.getMessage();
      }
    }
    System.out.println(MEMBER + member.getId() + " has all");
  }

  private static String text(RaftClientReply reply) {
    return reply.getMessage().getContent().toStringUtf8();
  }
}
