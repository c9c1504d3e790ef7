package org.rdma4j.interop;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.TimeDuration;

/** A member of a group of Ratis, whose state is a hash of all entries in their order. */
final class RatisMember {
  private RatisMember() {}

  /** Takes a folder, its number in the group, and the ports of all members. */
  public static void main(String[] args) throws Exception {
    RaftGroup group = group(args[2]);
    int number = Integer.parseInt(args[1]);
    File folder = new File(args[0]);
    RaftProperties properties = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(properties, List.of(folder));
    // A busy machine is no failure of the leader.
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.ONE_SECOND);
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(2, TimeUnit.SECONDS));
    GrpcConfigKeys.Server.setHost(properties, "127.0.0.1");
    GrpcConfigKeys.Server.setPort(properties, Integer.parseInt(args[2].split(",", -1)[number]));
    RaftServer.newBuilder()
        .setServerId(peer(group, number).getId())
        .setGroup(group)
        .setProperties(properties)
        .setOption(folder.exists() ? StartupOption.RECOVER : StartupOption.FORMAT)
        .setStateMachine(new Hash())
        .build()
        .start();
    Thread.currentThread().join();
  }

  /** Returns the group whose members have these ports, with commas between them. */
  static RaftGroup group(String ports) {
    List<String> each = Arrays.asList(ports.split(",", -1));
    return RaftGroup.valueOf(
        RaftGroupId.valueOf(new UUID(0, 1)),
        each.stream()
            .map(
                port ->
                    RaftPeer.newBuilder()
                        .setId(String.valueOf(each.indexOf(port)))
                        .setAddress("127.0.0.1:" + port)
                        .build())
            .toList());
  }

  static RaftPeer peer(RaftGroup group, int number) {
    return group.getPeers().stream()
        .filter(peer -> peer.getId().toString().equals(String.valueOf(number)))
        .findFirst()
        .orElseThrow();
  }

  /** The state after an entry that has come after others. */
  static String next(String state, byte[] entry) {
    int space = state.indexOf(' ');
    return (Long.parseLong(state, 0, space, 10) + 1)
        + " "
        + (31 * Integer.parseInt(state.substring(space + 1)) + Arrays.hashCode(entry));
  }

  /** The state of no entry: the number of entries, and their hash. */
  static final String NONE = "0 0";

  /** Which applies one entry at a time. */
  private static final class Hash extends BaseStateMachine {
    private volatile String state = NONE;

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
      LogEntryProto entry = transaction.getLogEntry();
      state = next(state, entry.getStateMachineLogEntry().getLogData().toByteArray());
      updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
      return CompletableFuture.completedFuture(Message.valueOf(state));
    }

    @Override
    public CompletableFuture<Message> query(Message request) {
      return CompletableFuture.completedFuture(Message.valueOf(state));
    }

    @Override
    public CompletableFuture<Message> queryStale(Message request, long minIndex) {
      return query(request);
    }
  }
}
