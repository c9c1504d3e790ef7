package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** A driver of Spark in one JVM, and two executors in others. */
final class SparkTest {
  /** Each executor gets about half of the records of the other one. */
  private static final long SHUFFLED =
      (long) SparkShuffle.TASKS * SparkShuffle.RECORDS_OF_EACH_TASK * SparkShuffle.RECORD_BYTES / 4;

  @TempDir private Path folder;

  private List<String> command() {
    List<String> executors = new ArrayList<>(Way.options());
    executors.add("--enable-native-access=ALL-UNNAMED");
    List<String> command =
        Program.command(
            List.of(JavaModuleOptions.defaultModuleOptionArray()),
            SparkShuffle.class,
            executors.toArray(String[]::new));
    command.addAll(
        0,
        List.of(
            "env",
            "SPARK_SCALA_VERSION=2.13",
            "SPARK_LOCAL_IP=127.0.0.1",
            "SPARK_HOME=" + folder,
            "SPARK_LOCAL_DIRS=" + folder.resolve("local"),
            "SPARK_WORKER_DIR=" + folder.resolve("work")));
    return command;
  }

  @Test
  void executorsExchangeTheirRecords() throws Exception {
    // Spark wants a folder in which it is installed.
    Files.createDirectory(folder.resolve("jars"));
    Files.createFile(folder.resolve("RELEASE"));
    try (ChildProcess driver = ChildProcess.start(command())) {
      Outcome outcome = driver.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      String sum = SparkShuffle.SUM + SparkShuffle.expectedSum();
      assertThat(outcome.out()).filteredOn(sum::equals).hasSize(2);
      Way.check(outcome.out(), SHUFFLED);
    }
  }
}
