package org.rdma4j.samples.endpoint;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.address.QueuePairAddress;

/**
 * One end of a reliable connection, with a buffer that the peer can read and write. Requests have
 * ids: each transfers a part of the buffer, and completes later.
 *
 * <p>This class is to learn from, and to copy: it shows how the objects of the verbs fit together.
 * It is for one thread. For an application, {@code org.rdma4j.connection} does more: it finds peers
 * by IP address, and its messages have flow control.
 */
public final class Endpoint implements AutoCloseable {
  /** The first word on the TCP connection: "rdma", and the version of what follows. */
  private static final long GREETING = 0x72646d61_00000001L;

  private final RdmaDevice device;
  private final MemoryRegion region;
  private final QueuePair queuePair;
  private final SendRequests sends;
  private final ReceiveRequests receives;

  // A queue for each direction, because a completion that failed does not say what it was.
  private final Completions sent;
  private final Completions received;

  /** Completions that were polled while the program waited for others. */
  private final Queue<Completion> kept = new ArrayDeque<>();

  private long remoteAddress;
  private int remoteKey;
  private long remoteBytes;

  /** How a request ended. */
  public record Completion(long id, boolean isReceive, long bytes) {}

  /**
   * Opens a device and creates what a connection needs.
   *
   * @param deviceName the name of the device, such as {@code mlx5_0}
   * @param buffer memory outside the Java heap, which the endpoint registers. Its arena must stay
   *     open as long as the endpoint
   * @param sendDepth the number of sends, reads and writes that can be outstanding
   * @param receiveDepth the number of receives that can be outstanding
   */
  public Endpoint(String deviceName, MemorySegment buffer, int sendDepth, int receiveDepth) {
    device = RdmaDevice.open(deviceName);
    try {
      ProtectionDomain domain = device.allocateProtectionDomain();
      // A peer with the key of a region with these flags can read and write it.
      region =
          domain.register(
              MemoryRegionConfig.of(buffer)
                  .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
      CompletionQueue sendQueue = device.createCompletionQueue(sendDepth);
      CompletionQueue receiveQueue = device.createCompletionQueue(receiveDepth);
      queuePair =
          domain.createQueuePair(
              QueuePairConfig.reliable(sendQueue, receiveQueue)
                  .sendDepth(sendDepth)
                  .receiveDepth(receiveDepth));
      sends = queuePair.sendRequests(1);
      receives = queuePair.receiveRequests(1);
      sent = sendQueue.completions(1);
      received = receiveQueue.completions(1);
    } catch (RuntimeException failed) {
      device.close(); // and, with it, what was created
      throw failed;
    }
  }

  /** Waits for a peer at a TCP port of this machine, and connects to it. */
  public void acceptPeer(int tcpPort, Duration timeout) throws IOException {
    try (ServerSocket listener = new ServerSocket(tcpPort)) {
      listener.setSoTimeout((int) timeout.toMillis());
      try (Socket peer = listener.accept()) {
        exchangeAddresses(peer, timeout);
      }
    }
  }

  /** Connects to a peer that waits at a TCP port of a host. */
  public void connectToPeer(String host, int tcpPort, Duration timeout) throws IOException {
    try (Socket peer = new Socket()) {
      peer.connect(
          new InetSocketAddress(InetAddress.getByName(host), tcpPort), (int) timeout.toMillis());
      exchangeAddresses(peer, timeout);
    }
  }

  /**
   * Sends the peer what it must know of this side, reads the same of the peer, and connects the
   * queue pairs. Both sides do the same:
   *
   * <pre>
   * greeting, 8 bytes
   * address of the queue pair: LID, number, sequence number, GID ({@link QueuePairAddress#toBytes})
   * buffer: address (8 bytes), remote key (4), length (8)
   * then, once the queue pair can receive: one byte
   * </pre>
   */
  private void exchangeAddresses(Socket peer, Duration timeout) throws IOException {
    peer.setSoTimeout((int) timeout.toMillis());
    peer.setTcpNoDelay(true);
    DataOutputStream out = new DataOutputStream(peer.getOutputStream());
    out.writeLong(GREETING);
    out.write(queuePair.address().toBytes());
    out.writeLong(region.remoteAddress());
    out.writeInt(region.remoteKey());
    out.writeLong(region.byteSize());

    DataInputStream in = new DataInputStream(peer.getInputStream());
    if (in.readLong() != GREETING) {
      throw new IOException(peer.getRemoteSocketAddress() + " is not an endpoint of this version");
    }
    byte[] remote = new byte[QueuePairAddress.BYTES];
    in.readFully(remote);
    remoteAddress = in.readLong();
    remoteKey = in.readInt();
    remoteBytes = in.readLong();

    queuePair.connect(
        PathConfig.to(QueuePairAddress.of(remote))
            .access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)
            .retries(6)); // Soft-RoCE takes 7 for "forever", also if the peer has gone.
    out.writeByte(1); // The peer may send now,
    in.readByte(); // and so may this side.
  }

  /** Returns the length of the peer's buffer. */
  public long remoteBytes() {
    return remoteBytes;
  }

  /** Posts a receive: the next message goes to this part of the buffer, and may be shorter. */
  public void postReceive(long id, long offset, long length) {
    receives.add(id).into(region, offset, length).post();
  }

  /** Posts a send of a part of the buffer, which must not change until the send has completed. */
  public void postSend(long id, long offset, long length) {
    sends.add(id).signaled().send().from(region, offset, length).post();
  }

  /** Posts a write of a part of the buffer to the peer's buffer. The peer does not notice. */
  public void postWrite(long id, long offset, long length, long remoteOffset) {
    sends
        .add(id)
        .signaled()
        .write(remote(remoteOffset, length), remoteKey)
        .from(region, offset, length)
        .post();
  }

  /** Posts a read of a part of the peer's buffer into the buffer. The peer does not notice. */
  public void postRead(long id, long offset, long length, long remoteOffset) {
    sends
        .add(id)
        .signaled()
        .read(remote(remoteOffset, length), remoteKey)
        .into(region, offset, length)
        .post();
  }

  /** The peer's device refuses what is out of its buffer, and then the connection is broken. */
  private long remote(long offset, long length) {
    if (offset < 0 || length < 0 || offset > remoteBytes - length) {
      throw new IndexOutOfBoundsException(
          "%d bytes at %d of the peer's buffer, which has %d bytes"
              .formatted(length, offset, remoteBytes));
    }
    return remoteAddress + offset;
  }

  /**
   * Polls until the request with an id has completed. Completions of other requests are kept: a
   * later poll returns them.
   *
   * @throws TimeoutException if it did not complete in time; it may complete later
   * @throws org.rdma4j.verbs.WorkCompletionException if a request failed; then the connection is
   *     broken, and all other requests fail too
   */
  public Completion pollCompletion(long id, Duration timeout) throws TimeoutException {
    return poll("request " + id, completion -> completion.id() == id, timeout);
  }

  /** Polls until a send, a read or a write has completed; keeps receives. */
  public Completion pollSendCompletion(Duration timeout) throws TimeoutException {
    return poll("a send", completion -> !completion.isReceive(), timeout);
  }

  /** Polls until a receive has completed, that is, until a message has come; keeps sends. */
  public Completion pollReceiveCompletion(Duration timeout) throws TimeoutException {
    return poll("a receive", Completion::isReceive, timeout);
  }

  private Completion poll(String what, Predicate<Completion> wanted, Duration timeout)
      throws TimeoutException {
    for (Iterator<Completion> each = kept.iterator(); each.hasNext(); ) {
      Completion completion = each.next();
      if (wanted.test(completion)) {
        each.remove();
        return completion;
      }
    }
    long began = System.nanoTime();
    do {
      for (Completions queue : new Completions[] {sent, received}) {
        if (queue.poll() > 0) {
          queue.requireSuccess(0); // A request can also complete because it failed.
          boolean isReceive = queue == received;
          Completion completion =
              new Completion(
                  queue.workRequestId(0), isReceive, isReceive ? queue.byteLength(0) : 0);
          if (wanted.test(completion)) {
            return completion;
          }
          kept.add(completion);
        }
      }
      Thread.onSpinWait();
    } while (System.nanoTime() - began < timeout.toNanos());
    throw new TimeoutException(what + " did not complete within " + timeout.toSeconds() + " s");
  }

  /** Closes the device, and with it what was created on it: youngest first. */
  @Override
  public void close() {
    device.close();
  }

  @Override
  public String toString() {
    return "queue pair %d of %s, buffer of %d bytes at 0x%x with remote key 0x%08x"
        .formatted(
            queuePair.number(),
            device.info().name(),
            region.byteSize(),
            region.remoteAddress(),
            region.remoteKey());
  }
}
