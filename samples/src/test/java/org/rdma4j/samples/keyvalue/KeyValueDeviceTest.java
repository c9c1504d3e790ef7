package org.rdma4j.samples.keyvalue;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.samples.testing.TestDevice;
import org.rdma4j.testing.Outcome;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

@Tag("device")
@Tag("protocol")
@Timeout(200)
class KeyValueDeviceTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final InetSocketAddress ANY_PORT = new InetSocketAddress(TestDevice.host(), 0);
  private static final int SLOTS = 64;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private KeyValueServer server;

  @BeforeEach
  void serve() {
    server = new KeyValueServer(ANY_PORT, SLOTS);
  }

  @AfterEach
  void end() throws InterruptedException {
    server.close();
    threads.shutdown();
    assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
  }

  private KeyValueClient client() throws InterruptedException, TimeoutException {
    return new KeyValueClient(server.address(), TIMEOUT);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(US_ASCII);
  }

  private static void assertHas(KeyValueClient client, String key, String value) throws Exception {
    assertThat(client.get(key).orElseThrow()).asString(US_ASCII).isEqualTo(value);
  }

  @Test
  void clientsGetWhatOthersHavePut() throws Exception {
    try (KeyValueClient one = client();
        KeyValueClient other = client();
        KeyValueClient third = client()) {
      assertThat(one.get("colour")).isEmpty();
      one.put("colour", bytes("red"));
      assertHas(one, "colour", "red");
      assertHas(other, "colour", "red");
      other.put("colour", bytes("a much longer shade of blue"));
      assertHas(third, "colour", "a much longer shade of blue");
      third.put("colour", new byte[0]);
      assertHas(one, "colour", "");
    }
  }

  @Test
  void aKeyWithTheSameSlotReplacesAnother() throws Exception {
    String other =
        Stream.iterate(1, i -> i + 1)
            .map(i -> "key " + i)
            .filter(key -> slotOf(key) == slotOf("key 0"))
            .findFirst()
            .orElseThrow();
    try (KeyValueClient client = client()) {
      client.put("key 0", bytes("zero"));
      client.put(other, bytes("another"));
      assertThat(client.get("key 0")).isEmpty();
      assertHas(client, other, "another");
    }
  }

  private static long slotOf(String key) {
    return CacheSlot.offset((long) SLOTS * CacheSlot.BYTES, bytes(key));
  }

  @Test
  void nobodyGetsAMixtureOfWhatSeveralPutAtTheSameTime() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    List<Future<Integer>> readers = new ArrayList<>();
    List<Future<Integer>> writers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      char letter = (char) ('a' + i);
      writers.add(threads.submit(() -> write(letter, done)));
      readers.add(threads.submit(() -> read(done)));
      readers.add(threads.submit(() -> read(done)));
    }
    // Writes much more often than clients can, so that many reads are torn.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
    for (int i = 0; System.nanoTime() < end; i++) {
      server.store(CacheSlot.entry(bytes("key"), value('z', i)));
      LockSupport.parkNanos(1000);
    }
    done.set(true);
    int written = 0;
    for (Future<Integer> writer : writers) {
      written += writer.get(60, TimeUnit.SECONDS);
    }
    int torn = 0;
    for (Future<Integer> reader : readers) {
      torn += reader.get(60, TimeUnit.SECONDS);
    }
    System.out.printf("%d puts, %d reads were torn and repeated%n", written, torn);
    assertThat(written).isPositive();
  }

  /** Puts values, each of which has one byte many times; returns their number. */
  private int write(char letter, AtomicBoolean done) throws Exception {
    try (KeyValueClient client = client()) {
      int count = 0;
      while (!done.get()) {
        client.put("key", value(letter, count));
        count++;
      }
      return count;
    }
  }

  private static byte[] value(char letter, int number) {
    byte[] value = new byte[3000 + number % 900];
    Arrays.fill(value, (byte) (letter + number % 13));
    return value;
  }

  /** Gets values until there are no more; returns how many reads had to be repeated. */
  private int read(AtomicBoolean done) throws Exception {
    try (KeyValueClient client = client()) {
      while (!done.get()) {
        Optional<byte[]> value = client.get("key");
        if (value.isPresent()) {
          byte first = value.get()[0];
          for (byte each : value.get()) {
            assertThat(each).isEqualTo(first);
          }
        }
      }
      return client.tornReads();
    }
  }

  @Test
  void aSlotThatIsBeingWrittenIsReadAgainUntilItIsWhole() throws Exception {
    try (RdmaServer listener = RdmaServer.bind(ANY_PORT)) {
      Future<KeyValueClient> connecting =
          threads.submit(() -> new KeyValueClient(listener.localAddress(), TIMEOUT));
      try (RdmaConnection peer = listener.accept(TIMEOUT);
          MemoryRegion table = peer.register(CacheSlot.BYTES, AccessFlag.REMOTE_READ)) {
        CacheSlot.store(table.byteBuffer(), CacheSlot.entry(bytes("key"), bytes("before")));
        ByteBuffer letter = ByteBuffer.allocate(RemoteMemory.BYTES);
        RemoteMemory.of(table).write(letter);
        peer.send(letter.flip(), TIMEOUT);
        try (KeyValueClient client = connecting.get(60, TimeUnit.SECONDS)) {
          ByteBuffer half = table.byteBuffer();
          half.put(20, (byte) 'x');
          Future<Optional<byte[]>> got = threads.submit(() -> client.get("key"));
          while (client.tornReads() < 3) {
            Thread.sleep(1);
          }
          assertThat(got).isNotDone();
          CacheSlot.store(half, CacheSlot.entry(bytes("key"), bytes("after")));
          assertThat(got.get(60, TimeUnit.SECONDS).orElseThrow())
              .asString(US_ASCII)
              .isEqualTo("after");
        }
      }
    }
  }

  @Test
  void entriesThatDoNotFitAreRefusedAndTheClientGoesOn() throws Exception {
    try (KeyValueClient client = client()) {
      assertThatThrownBy(() -> client.put("k".repeat(129), bytes("value")))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("the key has 129 bytes, must have from 1 to 128");
      assertThatThrownBy(() -> client.put("", bytes("value")))
          .hasMessageContaining("the key has 0 bytes");
      assertThatThrownBy(() -> client.put("key", new byte[5000]))
          .hasMessageContaining("the entry has 5007 bytes");
      client.put("key", bytes("value"));
      assertHas(client, "key", "value");
      assertThat(client.get("k".repeat(129))).isEmpty();
    }
  }

  @Test
  void clientsLearnThatTheServerHasEnded() throws Exception {
    try (KeyValueClient client = client()) {
      client.put("key", bytes("value"));
      server.close();
      assertThatThrownBy(
              () -> {
                while (true) {
                  client.get("key");
                }
              })
          .isInstanceOf(RdmaException.class);
      assertThatThrownBy(() -> client.put("key", bytes("value"))).isInstanceOf(RdmaException.class);
    }
  }

  @Test
  void aClientThatVanishesDoesNotDisturbTheOthers() throws Exception {
    try (KeyValueClient stays = client()) {
      for (int i = 0; i < 3; i++) {
        client().close();
        stays.put("key", bytes("value " + i));
        assertHas(stays, "key", "value " + i);
      }
    }
  }

  @Test
  void aClientThatTakesNoMessagesHoldsUpNoOther() throws Exception {
    try (SynchronousCmId deaf = SynchronousCmId.open(PortSpace.TCP)) {
      deaf.resolveAddress(server.address(), TIMEOUT);
      deaf.resolveRoute(TIMEOUT);
      try (SimpleMessages queues = SimpleMessages.create(deaf.id(), 2, 2)) {
        // The bytes of the memory are 0: an empty message, which grants no credit.
        MemoryRegion empty = queues.registerMessages(MessageHeader.BYTES);
        Hello withoutCredits = new Hello(1024, 0, 8, 1 << 20);
        deaf.connect(ConnectionConfig.DEFAULT.privateData(withoutCredits.write()), TIMEOUT);
        queues.postSend(1, empty.slice(0, MessageHeader.BYTES));
        assertThat(queues.awaitSend(TIMEOUT)).isPresent();
        try (KeyValueClient client = client()) {
          client.put("key", bytes("value"));
          assertHas(client, "key", "value");
        }
      }
    }
  }

  @Test
  void theProgramPutsAndGets() throws Exception {
    assertThat(run("lake"))
        .isEqualTo(new Outcome(1, List.of(), List.of("key-value: the cache has no such key")));
    assertThat(run("lake", "deep")).isEqualTo(new Outcome(0, List.of(), List.of()));
    assertThat(run("lake")).isEqualTo(new Outcome(0, List.of("deep"), List.of()));
  }

  /** Runs the program as a client of the server of this test. */
  private Outcome run(String... keyAndValue) throws InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    String[] args =
        Stream.concat(Stream.of(TestDevice.host()), Stream.of(keyAndValue)).toArray(String[]::new);
    int status =
        KeyValue.run(new PrintStream(out), new PrintStream(err), server.address().getPort(), args);
    return new Outcome(status, lines(out), lines(err));
  }

  private static List<String> lines(ByteArrayOutputStream printed) {
    return printed.toString(UTF_8).lines().toList();
  }
}
