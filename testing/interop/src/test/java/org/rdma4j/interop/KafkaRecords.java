package org.rdma4j.interop;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.rdma4j.testing.ChildProcess;

/** Produces records, and consumes and checks them. */
final class KafkaRecords {
  static final int VALUE_BYTES = 256;
  static final String PRODUCED = "produced ";
  private static final String TOPIC = "records";
  private static final String OTHER_TOPIC = "others";
  private static final int TIMEOUT_MILLIS = (int) ChildProcess.TIMEOUT.toMillis();

  private KafkaRecords() {}

  /** Produces a number of records to a broker, says when a tenth of them is done, and checks. */
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[1]);
    produce(args[0], count);
    consume(args[0], count);
    System.exit(0);
  }

  private static void produce(String broker, int count) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                broker,
                "acks",
                "all",
                "linger.ms",
                "1",
                "max.block.ms",
                TIMEOUT_MILLIS,
                "delivery.timeout.ms",
                TIMEOUT_MILLIS,
                "key.serializer",
                ByteArraySerializer.class,
                "value.serializer",
                ByteArraySerializer.class))) {
      while (!Way.isFound()) {
        producer.send(new ProducerRecord<>(OTHER_TOPIC, key(0), value(0))).get();
      }
      for (int i = 0; i < count; i++) {
        var sent = producer.send(new ProducerRecord<>(TOPIC, key(i), value(i)));
        if (i % (count / 10) == 0) {
          sent.get();
          System.out.println(PRODUCED + i);
        }
      }
    }
  }

  /** Consumes all records, if need be again, until all came the way that they should. */
  private static void consume(String broker, int count) {
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", broker,
                "key.deserializer", ByteArrayDeserializer.class,
                "value.deserializer", ByteArrayDeserializer.class))) {
      TopicPartition partition = new TopicPartition(TOPIC, 0);
      consumer.assign(List.of(partition));
      long end = System.nanoTime() + ChildProcess.TIMEOUT.toNanos();
      long before;
      do {
        before = Way.statistics().receivedBytes();
        consumer.seekToBeginning(List.of(partition));
        int next = 0;
        while (next < count) {
          for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
            check(record, next++);
          }
          if (System.nanoTime() - end > 0) {
            throw new IllegalStateException(
                "after %s, %d of %d have come".formatted(ChildProcess.TIMEOUT, next, count));
          }
        }
        System.out.println("consumed " + next);
      } while (Way.isRdma()
          && Way.statistics().receivedBytes() - before < (long) count * VALUE_BYTES);
    }
  }

  /** The topic has one partition, so the order is kept. */
  private static void check(ConsumerRecord<byte[], byte[]> record, int index) {
    int key = ByteBuffer.wrap(record.key()).getInt();
    ByteBuffer value = ByteBuffer.wrap(record.value());
    CRC32 crc = new CRC32();
    crc.update(value.array(), Long.BYTES, VALUE_BYTES - Long.BYTES);
    if (key != index || value.capacity() != VALUE_BYTES || value.getLong() != crc.getValue()) {
      throw new IllegalStateException("instead of record " + index + " came " + record);
    }
  }

  private static byte[] key(int index) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(index).array();
  }

  private static byte[] value(int index) {
    byte[] value = new byte[VALUE_BYTES];
    new Random(index).nextBytes(value);
    CRC32 crc = new CRC32();
    crc.update(value, Long.BYTES, VALUE_BYTES - Long.BYTES);
    ByteBuffer.wrap(value).putLong(crc.getValue());
    return value;
  }
}
