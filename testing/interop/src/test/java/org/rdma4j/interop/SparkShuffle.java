package org.rdma4j.interop;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** A job of Spark in which two executors, each in a JVM of its own, exchange records. */
final class SparkShuffle {
  static final int RECORDS_OF_EACH_TASK = 1000;
  static final int RECORD_BYTES = 4000;
  static final int TASKS = 8;
  static final String SUM = "the sum of all records: ";

  /** Long enough for both executors to be asked. */
  private static final int ASKING_MILLIS = 200;

  private SparkShuffle() {}

  /** Takes the options of the executors. */
  public static void main(String[] arguments) {
    SparkConf conf =
        new SparkConf()
            .setAppName("shuffle")
            .setMaster("local-cluster[2,1,1024]")
            .set("spark.ui.enabled", "false")
            .set("spark.shuffle.io.mode", "NIO")
            .set("spark.rpc.io.mode", "NIO")
            // The class path has an older LZ4, that of Kafka.
            .set("spark.io.compression.codec", "snappy")
            // Executors of one host would read each other's files.
            .set("spark.shuffle.readHostLocalDisk", "false")
            .set("spark.executor.extraClassPath", System.getProperty("java.class.path"))
            .set("spark.executor.extraJavaOptions", String.join(" ", arguments));
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      List<Integer> tasks = IntStream.range(0, TASKS).boxed().toList();
      JavaPairRDD<Integer, byte[]> records =
          context.parallelize(tasks, TASKS).flatMapToPair(SparkShuffle::records);
      // The first one begins over TCP; the second one may go over RDMA as a whole.
      for (int i = 0; i < 2; i++) {
        long sum =
            records
                .partitionBy(new HashPartitioner(TASKS - i))
                .map(record -> sum(record._2))
                .reduce(Long::sum);
        System.out.println(SUM + sum);
      }
      report(context.parallelize(tasks, TASKS).mapToPair(SparkShuffle::executor).collectAsMap());
    }
  }

  private static Iterator<Tuple2<Integer, byte[]>> records(int task) {
    Random random = new Random(task);
    return IntStream.range(0, RECORDS_OF_EACH_TASK)
        .mapToObj(
            number -> {
              byte[] record = new byte[RECORD_BYTES];
              random.nextBytes(record);
              return new Tuple2<>(number, record);
            })
        .iterator();
  }

  private static long sum(byte[] record) {
    return Arrays.hashCode(record);
  }

  /** Returns the sum of all records, computed without Spark. */
  static long expectedSum() {
    long sum = 0;
    for (int task = 0; task < TASKS; task++) {
      Iterator<Tuple2<Integer, byte[]>> records = records(task);
      while (records.hasNext()) {
        sum += sum(records.next()._2);
      }
    }
    return sum;
  }

  /** Returns the executor that runs a task, and what its channels did. */
  private static Tuple2<String, Program.Report> executor(int task) throws InterruptedException {
    Thread.sleep(ASKING_MILLIS);
    return new Tuple2<>(SparkEnv.get().executorId(), Program.Report.now());
  }

  private static void report(Map<String, Program.Report> executors) {
    System.out.println(executors);
    Program.Report all = new Program.Report(0, 0, 0);
    for (Program.Report each : executors.values()) {
      all = all.plus(each);
    }
    all.print();
  }
}
