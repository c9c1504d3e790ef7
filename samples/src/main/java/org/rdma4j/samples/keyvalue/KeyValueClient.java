package org.rdma4j.samples.keyvalue;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/** A client. One thread at a time may use it, since all its reads arrive in the same memory. */
final class KeyValueClient implements AutoCloseable {
  private final Duration timeout;
  private final RdmaConnection server;
  private final RemoteMemory table;
  private final MemoryRegion copy;
  private final AtomicInteger tornReads = new AtomicInteger();

  KeyValueClient(InetSocketAddress address, Duration timeout)
      throws InterruptedException, TimeoutException {
    this.timeout = timeout;
    this.server = RdmaConnection.connect(address, timeout);
    try (MessageBuffer letter = server.receive(timeout).orElseThrow()) {
      this.table = RemoteMemory.read(letter.byteBuffer());
    }
    this.copy = server.register(CacheSlot.BYTES, AccessFlag.LOCAL_WRITE);
  }

  /** Reads the slot of the key from the server's memory. No program over there takes part. */
  Optional<byte[]> get(String key) throws InterruptedException, TimeoutException {
    byte[] wanted = key.getBytes(UTF_8);
    long began = System.nanoTime();
    do {
      server.memory().read(CacheSlot.of(table, wanted), copy.slice(0, CacheSlot.BYTES), timeout);
      Optional<ByteBuffer> entry = CacheSlot.load(copy.byteBuffer());
      if (entry.isPresent()) {
        return value(entry.get(), wanted);
      }
      tornReads.incrementAndGet(); // The server was writing the slot: it will soon be done.
    } while (System.nanoTime() - began < timeout.toNanos());
    throw new TimeoutException(
        "the slot of \"" + key + "\" was never whole within " + timeout.toMillis() + " ms");
  }

  private static Optional<byte[]> value(ByteBuffer entry, byte[] wanted) {
    if (!entry.hasRemaining() || !Arrays.equals(CacheSlot.key(entry), wanted)) {
      return Optional.empty();
    }
    byte[] value = new byte[entry.remaining() - Integer.BYTES - wanted.length];
    entry.get(Integer.BYTES + wanted.length, value);
    return Optional.of(value);
  }

  /** Has the server store an entry. After that, each client gets it. */
  void put(String key, byte[] value) throws InterruptedException, TimeoutException {
    try {
      ByteBuffer entry = CacheSlot.entry(key.getBytes(UTF_8), value);
      server.request(entry).get(timeout.toNanos(), TimeUnit.NANOSECONDS).close();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RdmaException refusedOrLost) {
        throw refusedOrLost;
      }
      throw new IllegalStateException(failed);
    }
  }

  /** Returns how often a slot was read while the server wrote it. */
  int tornReads() {
    return tornReads.get();
  }

  @Override
  public void close() {
    copy.close();
    server.close();
  }
}
