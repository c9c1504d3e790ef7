package org.rdma4j.cm;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What is wanted of {@link AddressInfo#resolve}: the hints of {@code rdma_getaddrinfo}. Immutable;
 * each method that takes a value returns a changed copy.
 *
 * @param passive whether the address is one to listen on instead of a peer's: {@code RAI_PASSIVE}
 * @param numericHost whether the node is an address in digits, so that no name service is asked:
 *     {@code RAI_NUMERICHOST}
 * @param noRoute whether the route is not needed yet: {@code RAI_NOROUTE}
 * @param family what kind of address is wanted; null for any
 * @param space what kind of communication it is for
 * @param source the local address of a connection to a peer; null where any will do
 */
public record AddressHints(
    boolean passive,
    boolean numericHost,
    boolean noRoute,
    @Nullable AddressFamily family,
    PortSpace space,
    @Nullable SocketAddress source) {
  /** The address of a peer to connect to in port space TCP, of any kind. */
  public static final AddressHints DEFAULT =
      new AddressHints(false, false, false, null, PortSpace.TCP, null);

  /**
   * A copy with another {@link #passive()}.
   *
   * @param passive whether the address is one to listen on instead of a peer's: {@code RAI_PASSIVE}
   * @return the copy
   */
  public AddressHints passive(boolean passive) {
    return new AddressHints(passive, numericHost, noRoute, family, space, source);
  }

  /**
   * A copy with another {@link #numericHost()}.
   *
   * @param numericHost whether the node is an address in digits, so that no name service is asked:
   *     {@code RAI_NUMERICHOST}
   * @return the copy
   */
  public AddressHints numericHost(boolean numericHost) {
    return new AddressHints(passive, numericHost, noRoute, family, space, source);
  }

  /**
   * A copy with another {@link #noRoute()}.
   *
   * @param noRoute whether the route is not needed yet: {@code RAI_NOROUTE}
   * @return the copy
   */
  public AddressHints noRoute(boolean noRoute) {
    return new AddressHints(passive, numericHost, noRoute, family, space, source);
  }

  /**
   * A copy with another {@link #family()}.
   *
   * @param family what kind of address is wanted; null for any
   * @return the copy
   */
  public AddressHints family(@Nullable AddressFamily family) {
    return new AddressHints(passive, numericHost, noRoute, family, space, source);
  }

  /**
   * A copy with another {@link #space()}.
   *
   * @param space what kind of communication it is for
   * @return the copy
   */
  public AddressHints space(PortSpace space) {
    return new AddressHints(passive, numericHost, noRoute, family, space, source);
  }

  /**
   * A copy with another {@link #source()}.
   *
   * @param source the local address of a connection to a peer; null where any will do
   * @return the copy
   */
  public AddressHints source(@Nullable SocketAddress source) {
    return new AddressHints(passive, numericHost, noRoute, family, space, source);
  }
}
