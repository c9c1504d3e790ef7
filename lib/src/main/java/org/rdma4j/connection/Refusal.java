package org.rdma4j.connection;

/** Why a server has no connection with a peer that has tried to connect. */
public enum Refusal {
  /** It is not an {@link RdmaConnection}, or uses another version of the protocol. */
  PROTOCOL,

  /** So many peers wait to be accepted as the backlog allows. */
  BACKLOG,

  /** Its address has {@link NodeConfig#maxConnectionsPerAddress} connections. */
  ADDRESS,

  /** No queue pair or no buffer was available. */
  RESOURCES,

  /** The program has rejected it, or was closed: {@link IncomingConnection#reject}. */
  PROGRAM,

  /** It did not finish its part of the handshake, or the program did not decide in time. */
  HANDSHAKE
}
