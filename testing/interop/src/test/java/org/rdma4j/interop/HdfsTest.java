package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** A name node and three data nodes of HDFS, and a client, in a JVM each. */
final class HdfsTest {
  private static final int NODES = 3;
  private static final int PARTS = 60;

  /**
   * A connection of a data node carries a file in one direction, and little in the other: fewer
   * than the 1024 bytes after which a channel is upgraded otherwise.
   */
  private static final List<String> OPTIONS =
      List.of("-Xmx256m", "-Dorg.rdma4j.nio.upgradeAfterBytes=64");

  @TempDir private Path folder;
  private String files;

  private List<String> command(Class<?> server, int number, String... args) {
    List<String> words = new ArrayList<>();
    for (String setting :
        List.of(
            "fs.defaultFS=" + files,
            "dfs.namenode.name.dir=" + folder.resolve("names"),
            "dfs.datanode.data.dir=" + folder.resolve("data-" + number),
            "dfs.namenode.http-address=127.0.0.1:0",
            "dfs.datanode.address=127.0.0.1:0",
            "dfs.datanode.ipc.address=127.0.0.1:0",
            "dfs.datanode.http.address=127.0.0.1:0",
            "dfs.namenode.safemode.extension=0",
            "dfs.namenode.safemode.min.datanodes=" + NODES,
            "hadoop.tmp.dir=" + folder.resolve("other"))) {
      words.add("-D");
      words.add(setting);
    }
    words.addAll(Arrays.asList(args));
    return Program.command(OPTIONS, server, words.toArray(String[]::new));
  }

  @Test
  void aFileIsCompleteAfterTheEndOfADataNode() throws Exception {
    int port = FreePort.find();
    files = "hdfs://127.0.0.1:" + port;
    try (ChildProcess format = ChildProcess.start(command(NameNode.class, 0, "-format"))) {
      Outcome outcome = format.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
    }
    try (ChildProcess names = Program.startServer(port, command(NameNode.class, 0));
        ChildProcess first = ChildProcess.start(command(DataNode.class, 1));
        ChildProcess second = ChildProcess.start(command(DataNode.class, 2));
        ChildProcess third = ChildProcess.start(command(DataNode.class, 3));
        ChildProcess client =
            ChildProcess.start(
                Program.command(
                    OPTIONS,
                    HdfsFile.class,
                    files,
                    String.valueOf(NODES),
                    String.valueOf(PARTS)))) {
      client.awaitOutput(HdfsFile.WRITTEN + PARTS / 2);
      third.kill();
      Outcome outcome = client.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      assertThat(outcome.out()).contains(HdfsFile.READ + PARTS);
      Way.check(outcome.out(), (long) PARTS * HdfsFile.PART_BYTES / 4);
      for (ChildProcess node : List.of(first, second)) {
        node.interrupt();
        Way.check(node.await().out(), (long) PARTS * HdfsFile.PART_BYTES / 4);
      }
      assertThat(names.isAlive()).isTrue();
    }
  }
}
