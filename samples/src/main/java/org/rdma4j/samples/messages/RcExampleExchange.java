package org.rdma4j.samples.messages;

import java.nio.ByteBuffer;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.TcpPeer;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

/**
 * What the two sides of the example exchange over TCP: a message of 34 bytes in network byte order,
 * and single letters with which each waits for the other.
 */
final class RcExampleExchange {
  private static final int MESSAGE_BYTES = 8 + 4 + 4 + 2 + 16;

  private final TcpPeer peer;

  RcExampleExchange(TcpPeer peer) {
    this.peer = peer;
  }

  /**
   * The addresses of a side.
   *
   * @param address the address of its memory
   * @param key the remote key of its memory
   * @param queuePair its queue pair; the sequence number is 0 and is not sent
   */
  record Side(long address, int key, QueuePairAddress queuePair) {
    byte[] encode() {
      return ByteBuffer.allocate(MESSAGE_BYTES)
          .putLong(address)
          .putInt(key)
          .putInt(queuePair.queuePairNumber())
          .putShort((short) queuePair.lid())
          .putLong(queuePair.gid().subnetPrefix())
          .putLong(queuePair.gid().interfaceId())
          .array();
    }

    static Side decode(byte[] message) {
      ByteBuffer fields = ByteBuffer.wrap(message);
      long address = fields.getLong();
      int key = fields.getInt();
      int number = fields.getInt();
      int lid = Short.toUnsignedInt(fields.getShort());
      Gid gid = new Gid(fields.getLong(), fields.getLong());
      try {
        return new Side(address, key, new QueuePairAddress(lid, number, 0, gid));
      } catch (IllegalArgumentException wrong) {
        throw new Failure(
            "the peer did not send the address of a queue pair (%s); check that it is rc-example"
                .formatted(wrong.getMessage()),
            wrong);
      }
    }
  }

  /** Sends the addresses of this side, and reads those of the other. */
  Side exchange(Side local) {
    peer.write(local.encode());
    return Side.decode(peer.read(MESSAGE_BYTES));
  }

  /** Waits until the other side has reached the same step. */
  void meet(char letter) {
    peer.write(new byte[] {(byte) letter});
    byte met = peer.read(1)[0];
    if (met != letter) {
      throw new Failure(
          "the peer is at step 0x%02x, this side at %c; check that the peer is rc-example"
              .formatted(met, letter));
    }
  }
}
