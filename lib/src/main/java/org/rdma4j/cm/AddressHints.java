package org.rdma4j.cm;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.QueuePairType;

/**
 * What {@link AddressInfo#resolve} looks for: the hints of {@code rdma_getaddrinfo}. Immutable;
 * each method that takes a value returns a changed copy.
 *
 * @param passive whether to look for an address to listen on, instead of a peer's address: {@code
 *     RAI_PASSIVE}
 * @param numericHost whether the node is a numeric address, so that no name service is asked:
 *     {@code RAI_NUMERICHOST}
 * @param noRoute whether to leave out the route: {@code RAI_NOROUTE}
 * @param family the kind of address; null for any
 * @param space the kind of communication
 * @param type the type of the queue pairs, which only port space IB leaves open: {@code
 *     ai_qp_type}; null for that of the port space
 * @param source the local address of a connection to a peer; null for any
 * @see AddressInfo
 */
public record AddressHints(
    boolean passive,
    boolean numericHost,
    boolean noRoute,
    @Nullable AddressFamily family,
    PortSpace space,
    @Nullable QueuePairType type,
    @Nullable SocketAddress source) {
  /** Looks for the address of a peer, of any kind, in port space TCP. */
  public static final AddressHints DEFAULT =
      new AddressHints(false, false, false, null, PortSpace.TCP, null, null);

  /**
   * Returns a copy with another {@link #passive()}.
   *
   * @param passive whether to look for an address to listen on, instead of a peer's address
   * @return the copy
   */
  public AddressHints passive(boolean passive) {
    return new AddressHints(passive, numericHost, noRoute, family, space, type, source);
  }

  /**
   * Returns a copy with another {@link #numericHost()}.
   *
   * @param numericHost whether the node is a numeric address, so that no name service is asked
   * @return the copy
   */
  public AddressHints numericHost(boolean numericHost) {
    return new AddressHints(passive, numericHost, noRoute, family, space, type, source);
  }

  /**
   * Returns a copy with another {@link #noRoute()}.
   *
   * @param noRoute whether to leave out the route
   * @return the copy
   */
  public AddressHints noRoute(boolean noRoute) {
    return new AddressHints(passive, numericHost, noRoute, family, space, type, source);
  }

  /**
   * Returns a copy with another {@link #family()}.
   *
   * @param family the kind of address; null for any
   * @return the copy
   */
  public AddressHints family(@Nullable AddressFamily family) {
    return new AddressHints(passive, numericHost, noRoute, family, space, type, source);
  }

  /**
   * Returns a copy with another {@link #space()}.
   *
   * @param space the kind of communication
   * @return the copy
   */
  public AddressHints space(PortSpace space) {
    return new AddressHints(passive, numericHost, noRoute, family, space, type, source);
  }

  /**
   * Returns a copy with another {@link #type()}.
   *
   * @param type the type of the queue pairs: in port space IB also UNRELIABLE_CONNECTION, XRC_SEND
   *     or XRC_RECEIVE; null for that of the port space
   * @return the copy
   */
  public AddressHints type(@Nullable QueuePairType type) {
    return new AddressHints(passive, numericHost, noRoute, family, space, type, source);
  }

  /** Returns the type, or that of the port space. */
  QueuePairType queuePairType() {
    return type == null ? space.queuePairType() : type;
  }

  /**
   * Returns a copy with another {@link #source()}.
   *
   * @param source the local address of a connection to a peer; null for any
   * @return the copy
   */
  public AddressHints source(@Nullable SocketAddress source) {
    return new AddressHints(passive, numericHost, noRoute, family, space, type, source);
  }
}
