package org.rdma4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Records the events of a channel: its bytes, events and exceptions. */
final class Collector extends ChannelInboundHandlerAdapter {
  final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
  volatile long received;
  volatile int checksum;

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    int sum = checksum;
    long before = received;
    int length = bytes.readableBytes();
    while (bytes.isReadable()) {
      sum = 31 * sum + bytes.readByte();
    }
    checksum = sum;
    received = before + length;
    bytes.release();
  }

  static int checksum(byte[] bytes, int before) {
    int sum = before;
    for (byte each : bytes) {
      sum = 31 * sum + each;
    }
    return sum;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    events.add(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable thrown) {
    events.add(thrown);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    events.add("inactive");
  }

  Object next() throws InterruptedException {
    return events.poll(ChannelLab.PATIENCE, TimeUnit.SECONDS);
  }

  void await(long bytes) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ChannelLab.PATIENCE);
    while (received < bytes) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("only %d of %d bytes have come".formatted(received, bytes));
      }
      Thread.sleep(1);
    }
  }
}
