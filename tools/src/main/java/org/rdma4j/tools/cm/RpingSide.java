package org.rdma4j.tools.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendRequests;

/**
 * One side of rping's connection: its queue pair, its memory, and the steps of a ping. Only one
 * thread may use it.
 */
final class RpingSide implements AutoCloseable {
  private static final int SEND_DEPTH = 16;
  private static final int RECEIVE_DEPTH = 2;

  /** A message holds the address, the key and the length of a part of the sender's memory. */
  private static final int MESSAGE_BYTES = 16;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int KEY = 8;
  private static final int LENGTH = 12;
  private static final char FIRST_LETTER = 'A';
  private static final char LAST_LETTER = 'z';

  /** Counts completions by opcode, since one queue has those of sends and receives. */
  private final Map<CompletionOpcode, Integer> done = new EnumMap<>(CompletionOpcode.class);

  private final Rping options;
  private final SynchronousCmId id;
  private final DomainAndChannel parts;
  private final QueuePair queuePair;
  private final Completions completions;
  private final SendRequests sends;
  private final PreparedSends announcement;
  private final PreparedReceives receive;
  private final MemoryRegion received;
  private final MemoryRegion sent;

  /** The client: where the server writes to. The server: where it stores what it reads. */
  private final MemoryRegion data;

  /** The client: what the server reads. */
  private final MemoryRegion start;

  private long remoteAddress;
  private int remoteKey;
  private int remoteLength;

  /** Creates everything, and posts the receive for the first message. */
  RpingSide(Rping options, SynchronousCmId id) {
    this.options = options;
    this.id = id;
    RdmaDevice device = id.id().device();
    parts = DomainAndChannel.of(device);
    try {
      ProtectionDomain domain = parts.domain();
      CompletionQueue queue = device.createCompletionQueue(2 * SEND_DEPTH, parts.channel());
      QueuePairConfig config =
          QueuePairConfig.reliable(queue).sendDepth(SEND_DEPTH).receiveDepth(RECEIVE_DEPTH);
      if (options.ownQueuePair) {
        queuePair = domain.createQueuePair(config);
        queuePair.initialize(id.id().port(), 0);
      } else {
        queuePair = id.id().createQueuePair(domain, config);
      }
      completions = queue.completions(SEND_DEPTH);
      sends = queuePair.sendRequests(1);
      received = domain.register(MESSAGE_BYTES, AccessFlag.LOCAL_WRITE);
      receive = queuePair.receiveRequests(1).add(0).into(received, 0, MESSAGE_BYTES).prepare();
      sent = domain.register(MESSAGE_BYTES);
      announcement = sends.add(0).send().from(sent, 0, MESSAGE_BYTES).signaled().prepare();
      data = register(domain);
      start = register(domain);
      options.step("allocated & registered buffers...");
      postReceive();
    } catch (RuntimeException failed) {
      parts.close();
      throw failed;
    }
  }

  private MemoryRegion register(ProtectionDomain domain) {
    return domain.register(
        options.size, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
  }

  void accept() throws InterruptedException, TimeoutException {
    options.step("accepting client connection request");
    ConnectionConfig parameters = ConnectionConfig.DEFAULT;
    if (options.ownQueuePair) {
      bringUp();
      parameters = ownParameters();
    }
    id.accept(parameters, options.common.timeout());
    options.step("ESTABLISHED");
  }

  void connect() throws InterruptedException, TimeoutException {
    if (options.ownQueuePair) {
      id.connectExternal(ownParameters(), options.common.timeout());
      bringUp();
      id.id().externalQueuePair().establish();
    } else {
      id.connect(ownParameters(), options.common.timeout());
    }
  }

  private ConnectionConfig ownParameters() {
    return ConnectionConfig.DEFAULT
        .remoteReads(1)
        .reads(1)
        .queuePairNumber(options.ownQueuePair ? queuePair.number() : 0);
  }

  private void bringUp() {
    for (QueuePairState state :
        List.of(
            QueuePairState.INIT, QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND)) {
      queuePair.modify(id.id().externalQueuePair().changeTo(state));
    }
  }

  /** Sends the client's pings. */
  void ping() throws InterruptedException {
    int before = options.warmup == null ? 0 : options.warmup;
    long began = System.nanoTime();
    for (int ping = 0; options.count == 0 || ping - before < options.count; ping++) {
      if (ping == before) {
        began = System.nanoTime();
      }
      byte[] text = text(ping);
      MemorySegment.copy(text, 0, start.segment(), ValueLayout.JAVA_BYTE, 0, text.length);
      advertise(start);
      awaitServer(ping);
      advertise(data);
      awaitServer(ping);
      if (options.validate && data.segment().mismatch(start.segment()) >= 0) {
        throw new Failure(
            "data mismatch! Ping %d came back with other content; give the server -S %d too"
                .formatted(ping, options.size));
      }
      if (options.verbose) {
        options.out().println("ping data: " + data.segment().getString(0));
      }
    }
    if (options.warmup != null) {
      double micros = (System.nanoTime() - began) / 1e3;
      options
          .out()
          .printf(
              Locale.ROOT,
              "%d pings of %d bytes in %.2f seconds = %.2f usec/ping%n",
              options.count,
              options.size,
              micros / 1e6,
              micros / options.count);
    }
  }

  private byte[] text(int ping) {
    int letters = LAST_LETTER - FIRST_LETTER + 1;
    byte[] prefix = "rdma-ping-%d: ".formatted(ping).getBytes(StandardCharsets.US_ASCII);
    byte[] text = new byte[options.size];
    for (int i = 0; i < text.length - 1; i++) {
      text[i] =
          i < prefix.length
              ? prefix[i]
              : (byte) (FIRST_LETTER + (ping % letters + i - prefix.length) % letters);
    }
    return text;
  }

  private void awaitServer(int ping) throws InterruptedException {
    if (!await(CompletionOpcode.RECEIVE)) {
      throw new Failure("the server disconnected during ping %d; check its output".formatted(ping));
    }
  }

  /** Answers pings until the client disconnects. */
  void answer() throws InterruptedException {
    while (await(CompletionOpcode.RECEIVE)) {
      options.step("server received sink adv");
      checkLength();
      sends.add(0).read(remoteAddress, remoteKey).into(data, 0, remoteLength).signaled().post();
      options.step("server posted rdma read req ");
      if (!await(CompletionOpcode.RDMA_READ)) {
        return;
      }
      options.step("server received read complete");
      int length = textBytes(remoteLength);
      if (options.verbose) {
        byte[] text = data.segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        options.out().println("server ping data: " + new String(text, StandardCharsets.US_ASCII));
      }
      goAhead();
      if (!await(CompletionOpcode.RECEIVE)) {
        return;
      }
      options.step("server received sink adv");
      checkLength();
      sends
          .add(0)
          .write(remoteAddress, remoteKey)
          .from(data, 0, Math.min(length + 1, remoteLength))
          .signaled()
          .post();
      if (!await(CompletionOpcode.RDMA_WRITE)) {
        return;
      }
      options.step("server rdma write complete ");
      goAhead();
    }
  }

  private void checkLength() {
    if (remoteLength < 1 || remoteLength > options.size) {
      throw new Failure(
          "the client sends %d bytes, but this side has space for %d; give both sides the same -S"
              .formatted(Integer.toUnsignedLong(remoteLength), options.size));
    }
  }

  /** Returns the number of bytes before the first 0. */
  private int textBytes(int max) {
    int length = 0;
    while (length < max && data.segment().get(ValueLayout.JAVA_BYTE, length) != 0) {
      length++;
    }
    return length;
  }

  private void advertise(MemoryRegion region) {
    MemorySegment message = sent.segment();
    message.set(LONG, 0, region.remoteAddress());
    message.set(INT, KEY, region.remoteKey());
    message.set(INT, LENGTH, options.size);
    send();
  }

  /** Sends a message whose content has no meaning. */
  private void goAhead() {
    send();
    options.step("server posted go ahead");
  }

  private void send() {
    announcement.post();
  }

  private void postReceive() {
    receive.post();
  }

  /** Waits for a completion with this opcode, and returns false if the peer disconnects instead. */
  private boolean await(CompletionOpcode opcode) throws InterruptedException {
    while (done.getOrDefault(opcode, 0) == 0) {
      if (!options.common.await("a " + opcode, this::poll, id::awaitDisconnected)) {
        return false;
      }
    }
    done.merge(opcode, -1, Integer::sum);
    return true;
  }

  private boolean poll(Duration timeout) throws InterruptedException {
    int taken = completions.await(timeout);
    for (int i = 0; i < taken; i++) {
      // The peer has disconnected, which its event may report later.
      if (completions.status(i) == CompletionStatus.FLUSHED) {
        continue;
      }
      completions.requireSuccess(i);
      CompletionOpcode opcode = completions.opcode(i);
      if (opcode == CompletionOpcode.RECEIVE) {
        receive(completions.byteLength(i));
      }
      done.merge(opcode, 1, Integer::sum);
    }
    return taken > 0;
  }

  /** Copies the message before the next one can overwrite it. */
  private void receive(long bytes) {
    if (bytes != MESSAGE_BYTES) {
      throw new Failure(
          "Received bogus data, size %d; check that the peer is rping".formatted(bytes));
    }
    MemorySegment message = received.segment();
    remoteAddress = message.get(LONG, 0);
    remoteKey = message.get(INT, KEY);
    remoteLength = message.get(INT, LENGTH);
    postReceive();
  }

  @Override
  public void close() {
    parts.close();
  }
}
