package org.rdma4j.bench.connections;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;

/** The measured loops over channels: what a client does with them for some time. */
final class ChannelRates {
  private static final int PIECE = 1 << 16;

  private ChannelRates() {}

  /** Reads so many bytes, with a buffer that may be shorter. */
  static void read(SocketChannel channel, ByteBuffer buffer, long bytes) throws IOException {
    long left = bytes;
    while (left > 0) {
      int count = channel.read(buffer.clear().limit((int) Math.min(left, buffer.capacity())));
      if (count < 0) {
        throw new EOFException("the stream ended " + left + " bytes early");
      }
      left -= count;
    }
  }

  /** Writes bytes and waits until they are back, again and again. */
  static EchoTimes echoes(SocketChannel channel, int bytes, Duration time) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
    long end = System.nanoTime() + time.toNanos();
    EchoTimes times = new EchoTimes();
    while (System.nanoTime() - end < 0) {
      channel.write(buffer.clear());
      read(channel, buffer, bytes);
      times.isBack();
    }
    return times;
  }

  /**
   * Writes bytes over each of the channels of a selector, which the peer answers, as soon as they
   * are back. No channel is blocking.
   */
  static EchoTimes selectedEchoes(Selector selector, int bytes, Duration time) throws IOException {
    List<SocketChannel> channels =
        selector.keys().stream().map(key -> (SocketChannel) key.channel()).toList();
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
    long end = System.nanoTime() + time.toNanos();
    EchoTimes times = new EchoTimes();
    for (SocketChannel channel : channels) {
      channel.write(buffer.clear());
    }
    int waiting = channels.size();
    while (waiting > 0) {
      selector.select();
      for (SelectionKey key : selector.selectedKeys()) {
        SocketChannel channel = (SocketChannel) key.channel();
        read(channel, buffer, bytes);
        times.isBack();
        if (System.nanoTime() - end < 0) {
          channel.write(buffer.clear());
        } else {
          waiting--;
        }
      }
      selector.selectedKeys().clear();
    }
    return times;
  }

  /** Writes bursts of pieces of 64 KiB; the peer confirms each burst. */
  static Rates.Result pieces(SocketChannel channel, Duration time) throws IOException {
    ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
    ByteBuffer answer = ByteBuffer.allocateDirect(ChannelPeer.ANSWER);
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    long count = 0;
    while (System.nanoTime() - end < 0) {
      for (int i = 0; i < ChannelPeer.BURST / PIECE; i++) {
        channel.write(piece.clear());
        count++;
      }
      read(channel, answer, ChannelPeer.ANSWER);
    }
    return new Rates.Result(count, System.nanoTime() - begin);
  }
}
