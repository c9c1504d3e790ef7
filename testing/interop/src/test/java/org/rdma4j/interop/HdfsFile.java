package org.rdma4j.interop;

import java.io.DataInputStream;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/** Writes a file to HDFS, and reads and checks it. */
final class HdfsFile {
  static final int PART_BYTES = 1_000_000;
  static final String WRITTEN = "written ";
  static final String READ = "read ";

  private HdfsFile() {}

  /** Takes the address of the file system, the number of replicas and that of parts. */
  public static void main(String[] args) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", args[0]);
    configuration.set("dfs.replication", args[1]);
    int parts = Integer.parseInt(args[2]);
    Path path = new Path("/file");
    try (DistributedFileSystem files = (DistributedFileSystem) FileSystem.get(configuration)) {
      // Until all data nodes are there.
      while (files.isInSafeMode()) {
        Thread.sleep(100);
      }
      try (OutputStream out = files.create(path)) {
        for (int i = 0; i < parts; i++) {
          out.write(NumberedBytes.of(i, PART_BYTES));
          System.out.println(WRITTEN + i);
        }
      }
      try (DataInputStream in = files.open(path)) {
        byte[] part = new byte[PART_BYTES];
        for (int i = 0; i < parts; i++) {
          in.readFully(part);
          NumberedBytes.check(part, i);
        }
        System.out.println(READ + parts);
        if (in.read() >= 0) {
          throw new IllegalStateException("the file is longer than what was written");
        }
      }
    }
    System.exit(0);
  }
}
