package org.rdma4j.micrometer;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import org.rdma4j.nio.ChannelStatistics;
import org.rdma4j.nio.RdmaSelectorProvider;

/**
 * Sends bytes through two channels until all use RDMA, and prints what Prometheus gets. If a
 * channel stays on TCP, because the server did not listen over RDMA in time, others are tried.
 */
final class EchoingChannels {
  private static final int LENGTH = 64;

  /** Longer than a client leaves a server alone that has refused, as the test sets it. */
  private static final long REFUSED_MILLIS = 1500;

  private EchoingChannels() {}

  public static void main(String[] args) throws Exception {
    var provider = (RdmaSelectorProvider) SelectorProvider.provider();
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new ChannelMeters(provider).bindTo(registry);
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      while (!goesOver(provider, listener)) {
        System.out.println("still over TCP: " + provider.statistics());
        Thread.sleep(REFUSED_MILLIS);
      }
    }
    System.out.println(registry.scrape());
  }

  private static boolean goesOver(RdmaSelectorProvider provider, ServerSocketChannel listener)
      throws IOException, InterruptedException {
    ChannelStatistics before = provider.statistics();
    try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
        SocketChannel server = listener.accept()) {
      ChannelStatistics now = before;
      while (now.receivedBytes() == 0 && now.stayed() == before.stayed()) {
        move(client, server);
        move(server, client);
        Thread.sleep(1);
        now = provider.statistics();
      }
      return now.receivedBytes() > 0;
    }
  }

  private static void move(SocketChannel from, SocketChannel to) throws IOException {
    ByteBuffer sent = ByteBuffer.allocate(LENGTH);
    while (sent.hasRemaining()) {
      from.write(sent);
    }
    ByteBuffer received = ByteBuffer.allocate(LENGTH);
    while (received.hasRemaining()) {
      if (to.read(received) < 0) {
        throw new IOException("the stream has ended");
      }
    }
  }
}
