package org.rdma4j.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import java.util.Map;

/**
 * The options of a {@link RdmaServerSocketChannel}: SO_BACKLOG, besides the options that all
 * channels of Netty have. What concerns TCP alone is refused, as in {@link
 * RdmaSocketChannelConfig}.
 */
public final class RdmaServerSocketChannelConfig extends DefaultChannelConfig
    implements ServerSocketChannelConfig {
  private final RdmaServerSocketChannel owner;
  private volatile int backlog = NetUtil.SOMAXCONN;

  RdmaServerSocketChannelConfig(RdmaServerSocketChannel channel) {
    super(channel, new ServerChannelRecvByteBufAllocator());
    this.owner = channel;
  }

  @Override
  public Map<ChannelOption<?>, Object> getOptions() {
    return getOptions(super.getOptions(), ChannelOption.SO_BACKLOG);
  }

  @Override
  @SuppressWarnings("unchecked") // The type of the value is that of the option.
  public <T> T getOption(ChannelOption<T> option) {
    return option.equals(ChannelOption.SO_BACKLOG)
        ? (T) Integer.valueOf(backlog)
        : super.getOption(option);
  }

  @Override
  public <T> boolean setOption(ChannelOption<T> option, T value) {
    validate(option, value);
    if (option.equals(ChannelOption.SO_BACKLOG)) {
      setBacklog((Integer) value);
      return true;
    }
    return super.setOption(option, value);
  }

  @Override
  public int getBacklog() {
    return backlog;
  }

  /**
   * Sets how many peers that have connected may wait to be accepted. Further ones are reset. It
   * takes effect when the channel is bound.
   *
   * @param backlog the number, at least 1
   * @return this
   * @throws IllegalArgumentException if it is less
   */
  @Override
  public RdmaServerSocketChannelConfig setBacklog(int backlog) {
    if (backlog < 1) {
      throw new IllegalArgumentException("backlog is " + backlog + ", must be at least 1");
    }
    this.backlog = backlog;
    return this;
  }

  @Override
  public boolean isReuseAddress() {
    throw RdmaSocketChannelConfig.unsupported("SO_REUSEADDR");
  }

  @Override
  public RdmaServerSocketChannelConfig setReuseAddress(boolean reuseAddress) {
    throw RdmaSocketChannelConfig.unsupported("SO_REUSEADDR");
  }

  @Override
  public int getReceiveBufferSize() {
    throw RdmaSocketChannelConfig.unsupported("SO_RCVBUF");
  }

  @Override
  public RdmaServerSocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
    throw RdmaSocketChannelConfig.unsupported("SO_RCVBUF");
  }

  @Override
  public RdmaServerSocketChannelConfig setPerformancePreferences(
      int connectionTime, int latency, int bandwidth) {
    return this;
  }

  @Override
  protected void autoReadCleared() {
    owner.clearReadPending();
  }

  @Override
  public RdmaServerSocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
    super.setConnectTimeoutMillis(connectTimeoutMillis);
    return this;
  }

  @Override
  @Deprecated
  public RdmaServerSocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
    super.setMaxMessagesPerRead(maxMessagesPerRead);
    return this;
  }

  @Override
  public RdmaServerSocketChannelConfig setWriteSpinCount(int writeSpinCount) {
    super.setWriteSpinCount(writeSpinCount);
    return this;
  }

  @Override
  public RdmaServerSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
    super.setAllocator(allocator);
    return this;
  }

  @Override
  public RdmaServerSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
    super.setRecvByteBufAllocator(allocator);
    return this;
  }

  @Override
  public RdmaServerSocketChannelConfig setAutoRead(boolean autoRead) {
    super.setAutoRead(autoRead);
    return this;
  }

  @Override
  public RdmaServerSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
    super.setMessageSizeEstimator(estimator);
    return this;
  }

  @Override
  public RdmaServerSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark waterMark) {
    super.setWriteBufferWaterMark(waterMark);
    return this;
  }

  @Override
  @Deprecated
  public RdmaServerSocketChannelConfig setWriteBufferHighWaterMark(int waterMark) {
    super.setWriteBufferHighWaterMark(waterMark);
    return this;
  }

  @Override
  @Deprecated
  public RdmaServerSocketChannelConfig setWriteBufferLowWaterMark(int waterMark) {
    super.setWriteBufferLowWaterMark(waterMark);
    return this;
  }
}
