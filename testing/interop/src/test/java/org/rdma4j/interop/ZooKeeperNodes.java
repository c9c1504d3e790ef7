package org.rdma4j.interop;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.ConnectionLossException;
import org.apache.zookeeper.KeeperException.NodeExistsException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.rdma4j.testing.ChildProcess;

/** Creates nodes of ZooKeeper, and reads and checks them. */
final class ZooKeeperNodes {
  static final int BYTES = 10_000;
  static final String CREATED = "created ";

  /** Long enough for a server to start again. */
  static final int SESSION_MILLIS = (int) ChildProcess.TIMEOUT.toMillis();

  private static final long TIMEOUT_NANOS = ChildProcess.TIMEOUT.toNanos();

  private interface Call {
    void run() throws KeeperException, InterruptedException;
  }

  private ZooKeeperNodes() {}

  /** Creates a number of nodes on a server, says when a tenth of them is done, and checks. */
  @SuppressWarnings("try") // Nobody interrupts this thread while it closes the client.
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[1]);
    try (ZooKeeper server = new ZooKeeper(args[0], SESSION_MILLIS, event -> {})) {
      long end = System.nanoTime() + TIMEOUT_NANOS;
      again(() -> server.exists("/", false));
      while (!Way.isFound()) {
        if (System.nanoTime() - end > 0) {
          throw new IllegalStateException(
              "no byte has come over RDMA within " + ChildProcess.TIMEOUT);
        }
        again(() -> server.exists("/", false));
      }
      for (int i = 0; i < count; i++) {
        int index = i;
        again(() -> create(server, index));
        if (i % (count / 10) == 0) {
          System.out.println(CREATED + i);
        }
      }
      readAll(server, count);
    }
    System.exit(0);
  }

  /** Calls a server, if need be again until it is back. */
  private static void again(Call call) throws KeeperException, InterruptedException {
    long end = System.nanoTime() + TIMEOUT_NANOS;
    while (true) {
      try {
        call.run();
        return;
      } catch (ConnectionLossException ended) {
        if (System.nanoTime() - end > 0) {
          throw ended;
        }
      }
    }
  }

  private static void create(ZooKeeper server, int index)
      throws KeeperException, InterruptedException {
    try {
      server.create(path(index), value(index), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (NodeExistsException unanswered) {
      // The server had created it before its end.
    }
  }

  /** Reads all nodes, if need be again, until all came the way that they should. */
  private static void readAll(ZooKeeper server, int count) throws Exception {
    long end = System.nanoTime() + TIMEOUT_NANOS;
    long before;
    do {
      before = Way.statistics().receivedBytes();
      for (int i = 0; i < count; i++) {
        if (!Arrays.equals(server.getData(path(i), false, null), value(i))) {
          throw new IOException(path(i) + " has another value");
        }
      }
      System.out.println("read " + count);
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "not all nodes have come over RDMA within " + ChildProcess.TIMEOUT);
      }
    } while (Way.isRdma() && Way.statistics().receivedBytes() - before < (long) count * BYTES);
  }

  private static String path(int index) {
    return "/" + index;
  }

  private static byte[] value(int index) {
    byte[] value = new byte[BYTES];
    new Random(index).nextBytes(value);
    return value;
  }
}
