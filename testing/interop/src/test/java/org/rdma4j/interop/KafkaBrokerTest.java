package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** A broker of Kafka in one JVM, and its clients in another. */
final class KafkaBrokerTest {
  private static final int RECORDS = 100_000;

  @TempDir private Path folder;
  private int port;
  private int controllerPort;

  private Path configuration() throws Exception {
    port = FreePort.find();
    controllerPort = FreePort.find();
    Path file = folder.resolve("server.properties");
    Files.writeString(
        file,
        """
        process.roles=broker,controller
        node.id=1
        controller.quorum.voters=1@127.0.0.1:%2$d
        listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
        advertised.listeners=PLAINTEXT://127.0.0.1:%1$d
        controller.listener.names=CONTROLLER
        log.dirs=%3$s
        num.partitions=1
        offsets.topic.replication.factor=1
        offsets.topic.num.partitions=1
        transaction.state.log.replication.factor=1
        transaction.state.log.min.isr=1
        group.initial.rebalance.delay.ms=0
        """
            .formatted(port, controllerPort, folder.resolve("data")));
    return file;
  }

  private static List<String> command(Class<?> main, String... args) {
    return Program.command(List.of("-Xmx512m"), main, args);
  }

  private static ChildProcess run(Class<?> main, String... args) {
    return ChildProcess.start(command(main, args));
  }

  private ChildProcess startBroker(Path configuration) throws Exception {
    return Program.startServer(port, command(kafka.Kafka.class, configuration.toString()));
  }

  @Test
  void recordsSurviveTheEndOfTheBroker() throws Exception {
    Path configuration = configuration();
    try (ChildProcess format =
        run(
            kafka.tools.StorageTool.class,
            "format",
            "--cluster-id",
            Uuid.randomUuid().toString(),
            "--config",
            configuration.toString())) {
      Outcome outcome = format.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
    }
    ChildProcess broker = startBroker(configuration);
    try (ChildProcess clients =
        run(KafkaRecords.class, "127.0.0.1:" + port, String.valueOf(RECORDS))) {
      clients.awaitOutput(KafkaRecords.PRODUCED + RECORDS / 10 * 4);
      broker.kill();
      broker.close();
      broker = startBroker(configuration);
      Outcome outcome = clients.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      assertThat(outcome.out()).contains("consumed " + RECORDS);
      Way.check(outcome.out(), (long) RECORDS * KafkaRecords.VALUE_BYTES);
    } finally {
      broker.close();
    }
  }
}
