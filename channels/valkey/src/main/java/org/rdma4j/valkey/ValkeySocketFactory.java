package org.rdma4j.valkey;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Makes Jedis connect to a Valkey server over RDMA. It takes the place of Jedis's own factory and
 * uses the timeouts of the configuration.
 */
public final class ValkeySocketFactory implements JedisSocketFactory {
  private final HostAndPort server;
  private final JedisClientConfig config;

  /**
   * Creates a factory.
   *
   * @param server the address and port at which the server listens for RDMA
   * @param config the configuration that the client also gets, without TLS, which Valkey does not
   *     offer over RDMA
   * @throws IllegalArgumentException if the configuration asks for TLS
   */
  public ValkeySocketFactory(HostAndPort server, JedisClientConfig config) {
    if (config.isSsl()) {
      throw new IllegalArgumentException(
          "the configuration asks for TLS, which Valkey does not offer over RDMA");
    }
    this.server = server;
    this.config = config;
  }

  /**
   * Connects a socket.
   *
   * @return the socket
   * @throws JedisConnectionException if it cannot be connected; the cause has the reason
   */
  @Override
  public Socket createSocket() {
    try {
      ValkeySocket socket = new ValkeySocket();
      socket.setSoTimeout(config.getSocketTimeoutMillis());
      socket.connect(
          new InetSocketAddress(server.getHost(), server.getPort()),
          config.getConnectionTimeoutMillis());
      return socket;
    } catch (IOException failed) {
      throw new JedisConnectionException(failed.getMessage(), failed);
    }
  }

  @Override
  public String toString() {
    return "ValkeySocketFactory{" + server + "}";
  }
}
