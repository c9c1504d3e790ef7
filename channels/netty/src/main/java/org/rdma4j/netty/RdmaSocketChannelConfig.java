package org.rdma4j.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannelConfig;
import java.util.Map;

/**
 * The options of a {@link RdmaSocketChannel}, besides the options that all channels of Netty have:
 *
 * <ul>
 *   <li>ALLOW_HALF_CLOSURE: as with other transports.
 *   <li>SO_SNDBUF: how many bytes may be in flight to the peer; default 1 MiB.
 *   <li>SO_LINGER: 0 for a close that resets the connection. By default, what was flushed is sent
 *       after the close. Other values are refused.
 *   <li>TCP_NODELAY and SO_KEEPALIVE are always true: nothing is held back, and {@link
 *       org.rdma4j.connection.NodeConfig#keepAlive} looks after idle connections.
 * </ul>
 *
 * <p>What concerns TCP alone is refused: {@link #setOption} returns false, and a setter throws an
 * UnsupportedOperationException.
 */
public final class RdmaSocketChannelConfig extends DefaultChannelConfig
    implements SocketChannelConfig {
  private static final int SEND_BUFFER = 1 << 20;

  private final RdmaSocketChannel owner;
  private volatile boolean allowHalfClosure;
  private volatile boolean resets;
  private volatile int sendBufferSize = SEND_BUFFER;

  RdmaSocketChannelConfig(RdmaSocketChannel channel) {
    super(channel);
    this.owner = channel;
  }

  @Override
  public Map<ChannelOption<?>, Object> getOptions() {
    return getOptions(
        super.getOptions(),
        ChannelOption.ALLOW_HALF_CLOSURE,
        ChannelOption.SO_SNDBUF,
        ChannelOption.SO_LINGER,
        ChannelOption.SO_KEEPALIVE,
        ChannelOption.TCP_NODELAY);
  }

  @Override
  @SuppressWarnings("unchecked") // The type of each value is that of its option.
  public <T> T getOption(ChannelOption<T> option) {
    if (option.equals(ChannelOption.ALLOW_HALF_CLOSURE)) {
      return (T) Boolean.valueOf(allowHalfClosure);
    } else if (option.equals(ChannelOption.SO_SNDBUF)) {
      return (T) Integer.valueOf(sendBufferSize);
    } else if (option.equals(ChannelOption.SO_LINGER)) {
      return (T) Integer.valueOf(getSoLinger());
    } else if (option.equals(ChannelOption.SO_KEEPALIVE)
        || option.equals(ChannelOption.TCP_NODELAY)) {
      return (T) Boolean.TRUE;
    }
    return super.getOption(option);
  }

  @Override
  public <T> boolean setOption(ChannelOption<T> option, T value) {
    validate(option, value);
    if (option.equals(ChannelOption.ALLOW_HALF_CLOSURE)) {
      setAllowHalfClosure((Boolean) value);
    } else if (option.equals(ChannelOption.SO_SNDBUF)) {
      setSendBufferSize((Integer) value);
    } else if (option.equals(ChannelOption.SO_LINGER)) {
      int seconds = (Integer) value;
      if (seconds > 0) {
        return false;
      }
      setSoLinger(seconds);
    } else if (option.equals(ChannelOption.SO_KEEPALIVE)
        || option.equals(ChannelOption.TCP_NODELAY)) {
      return (Boolean) value;
    } else {
      return super.setOption(option, value);
    }
    return true;
  }

  @Override
  public boolean isAllowHalfClosure() {
    return allowHalfClosure;
  }

  @Override
  public RdmaSocketChannelConfig setAllowHalfClosure(boolean allowHalfClosure) {
    this.allowHalfClosure = allowHalfClosure;
    return this;
  }

  @Override
  public int getSendBufferSize() {
    return sendBufferSize;
  }

  /**
   * Sets how many bytes may be in flight to the peer.
   *
   * @param sendBufferSize the number, at least 1
   * @return this
   * @throws IllegalArgumentException if it is less
   */
  @Override
  public RdmaSocketChannelConfig setSendBufferSize(int sendBufferSize) {
    if (sendBufferSize < 1) {
      throw new IllegalArgumentException(
          "sendBufferSize is " + sendBufferSize + ", must be at least 1");
    }
    this.sendBufferSize = sendBufferSize;
    return this;
  }

  @Override
  public int getSoLinger() {
    return resets ? 0 : -1;
  }

  @Override
  public RdmaSocketChannelConfig setSoLinger(int soLinger) {
    if (soLinger > 0) {
      throw unsupported("SO_LINGER=" + soLinger);
    }
    resets = soLinger == 0;
    return this;
  }

  @Override
  public boolean isTcpNoDelay() {
    return true;
  }

  @Override
  public RdmaSocketChannelConfig setTcpNoDelay(boolean tcpNoDelay) {
    return alwaysTrue("TCP_NODELAY", tcpNoDelay);
  }

  @Override
  public boolean isKeepAlive() {
    return true;
  }

  @Override
  public RdmaSocketChannelConfig setKeepAlive(boolean keepAlive) {
    return alwaysTrue("SO_KEEPALIVE", keepAlive);
  }

  private RdmaSocketChannelConfig alwaysTrue(String option, boolean value) {
    if (!value) {
      throw unsupported(option + "=false");
    }
    return this;
  }

  @Override
  public int getReceiveBufferSize() {
    throw unsupported("SO_RCVBUF");
  }

  @Override
  public RdmaSocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
    throw unsupported("SO_RCVBUF");
  }

  @Override
  public int getTrafficClass() {
    throw unsupported("IP_TOS");
  }

  @Override
  public RdmaSocketChannelConfig setTrafficClass(int trafficClass) {
    throw unsupported("IP_TOS");
  }

  @Override
  public boolean isReuseAddress() {
    throw unsupported("SO_REUSEADDR");
  }

  @Override
  public RdmaSocketChannelConfig setReuseAddress(boolean reuseAddress) {
    throw unsupported("SO_REUSEADDR");
  }

  @Override
  public RdmaSocketChannelConfig setPerformancePreferences(
      int connectionTime, int latency, int bandwidth) {
    return this;
  }

  static UnsupportedOperationException unsupported(String option) {
    return new UnsupportedOperationException(
        option + " has no meaning for a connection over RDMA: leave it out");
  }

  @Override
  protected void autoReadCleared() {
    owner.clearReadPending();
  }

  @Override
  public RdmaSocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
    super.setConnectTimeoutMillis(connectTimeoutMillis);
    return this;
  }

  @Override
  @Deprecated
  public RdmaSocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
    super.setMaxMessagesPerRead(maxMessagesPerRead);
    return this;
  }

  @Override
  public RdmaSocketChannelConfig setWriteSpinCount(int writeSpinCount) {
    super.setWriteSpinCount(writeSpinCount);
    return this;
  }

  @Override
  public RdmaSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
    super.setAllocator(allocator);
    return this;
  }

  @Override
  public RdmaSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
    super.setRecvByteBufAllocator(allocator);
    return this;
  }

  @Override
  public RdmaSocketChannelConfig setAutoRead(boolean autoRead) {
    super.setAutoRead(autoRead);
    return this;
  }

  @Override
  public RdmaSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
    super.setMessageSizeEstimator(estimator);
    return this;
  }

  @Override
  public RdmaSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark waterMark) {
    super.setWriteBufferWaterMark(waterMark);
    return this;
  }

  @Override
  public RdmaSocketChannelConfig setAutoClose(boolean autoClose) {
    super.setAutoClose(autoClose);
    return this;
  }
}
