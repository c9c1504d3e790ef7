package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.Resources;

/** {@code -Dorg.rdma4j.connection.cycles=5000} sets the number of cycles. */
@Tag("device")
@Tag("protocol")
@Tag("slow")
@Timeout(600)
final class ConnectionCyclesTest {
  private static final int CYCLES = Integer.getInteger("org.rdma4j.connection.cycles", 1000);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Longer than all cycles take: the held connection waits that long for a message. */
  private static final Duration HELD = Duration.ofHours(2);

  private static final Pattern RESIDENT = Pattern.compile("RssAnon:\\s+(\\d+) kB");

  /** The part of all cycles that comes first, so that the compilers are done before the rest. */
  private static final double WARM_UP = 0.6;

  /**
   * A leak grows in each round; the compilers and the allocator of C take memory now and then, and
   * keep it.
   */
  private static final int ROUNDS = 4;

  /** 20 KiB for each of 400 cycles; the buffer of one message has 100 KiB. */
  private static final long MAX_RESIDENT_GROWTH_KIB = 8 << 10;

  /** 1.3 KB for each of 400 cycles. */
  private static final long MAX_HEAP_GROWTH_KIB = 512;

  @Test
  void connectionsThatEndLeaveNothingBehind() throws Exception {
    try (RdmaServer listener = RdmaServer.bind(RdmaConnectionTest.local());
        ExecutorService servers = Executors.newVirtualThreadPerTaskExecutor()) {
      int warmUp = (int) (CYCLES * WARM_UP);
      cycle(listener, servers, warmUp);
      Future<Boolean> held = servers.submit(() -> echo(listener, HELD));
      try (RdmaConnection stays = RdmaConnection.connect(listener.localAddress(), PATIENCE)) {
        Resources before = Resources.now();
        assertThatARoundLeavesNothing(() -> cycle(listener, servers, CYCLES - warmUp));
        assertThat(Resources.now()).isEqualTo(before);
        assertThat(stays.isOpen()).isTrue();
      }
      assertThat(held.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isFalse();
    }
  }

  private static void cycle(RdmaServer listener, ExecutorService servers, int times)
      throws Exception {
    ByteBuffer message = ByteBuffer.allocate(Integer.BYTES);
    for (int i = 0; i < times; i++) {
      Future<Boolean> server = servers.submit(() -> echo(listener, PATIENCE));
      try (RdmaConnection client = RdmaConnection.connect(listener.localAddress(), PATIENCE)) {
        client.send(message.clear().putInt(i).flip(), PATIENCE);
        try (MessageBuffer answer = client.receive(PATIENCE).orElseThrow()) {
          assertThat(answer.byteBuffer().getInt()).isEqualTo(i);
        }
      }
      assertThat(server.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  /** Sends each message back, and returns whether one arrived. */
  private static boolean echo(RdmaServer listener, Duration patience) throws Exception {
    try (RdmaConnection connection = listener.accept(PATIENCE)) {
      boolean any = false;
      while (true) {
        var message = connection.receive(patience);
        if (message.isEmpty()) {
          return any;
        }
        connection.send(message.get(), PATIENCE);
        any = true;
      }
    }
  }

  /** What one round of cycles does. */
  private interface Round {
    void run() throws Exception;
  }

  /** Repeats the round until the process holds no more after it than before. */
  private static void assertThatARoundLeavesNothing(Round round) throws Exception {
    List<String> growths = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      long resident = resident();
      long heap = heap();
      round.run();
      long moreResident = resident() - resident;
      long moreHeap = heap() - heap;
      if (moreResident <= MAX_RESIDENT_GROWTH_KIB && moreHeap <= MAX_HEAP_GROWTH_KIB) {
        return;
      }
      growths.add("%d KiB resident, %d KiB of heap".formatted(moreResident, moreHeap));
    }
    fail("each of %d rounds left more: %s", ROUNDS, growths);
  }

  private static long heap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10;
  }

  /**
   * Without the heap, all of whose pages the JVM of the tests has touched at its start, and without
   * the pages of files, which the kernel drops and reads again as it likes.
   */
  private static long resident() {
    System.gc();
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted() >> 10;
    try {
      Matcher resident = RESIDENT.matcher(Files.readString(Path.of("/proc/self/status")));
      assertThat(resident.find()).isTrue();
      return Long.parseLong(resident.group(1)) - heap;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
