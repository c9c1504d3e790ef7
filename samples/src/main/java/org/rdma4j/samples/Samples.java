package org.rdma4j.samples;

import java.util.Arrays;
import org.rdma4j.samples.endpoint.ReadWriteDemo;
import org.rdma4j.samples.keyvalue.KeyValue;
import org.rdma4j.samples.loops.Loops;
import org.rdma4j.samples.rcopy.Rcopy;

/** Starts the sample that the first argument names. */
public final class Samples {
  private Samples() {}

  public static void main(String[] args) throws InterruptedException {
    String[] rest = Arrays.copyOfRange(args, Math.min(1, args.length), args.length);
    switch (args.length == 0 ? "" : args[0]) {
      case "read-write-demo" -> ReadWriteDemo.main(rest);
      case "rcopy" -> Rcopy.main(rest);
      case "key-value" -> KeyValue.main(rest);
      case "loops" -> Loops.main(rest);
      default -> {
        System.err.println(
            """
            usage: java -jar rdma4j-samples.jar SAMPLE [ARGUMENT...]

              read-write-demo [HOST [DEVICE]]
              rcopy DIRECTORY
              rcopy FILE SERVER[:NAME]
              key-value [SERVER KEY [VALUE]]
              loops [SERVER]

            The first programs are started by their classes: each says how.\
            """);
        System.exit(2);
      }
    }
  }
}
