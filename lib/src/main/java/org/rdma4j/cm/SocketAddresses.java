package org.rdma4j.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.sockaddr;
import org.rdma4j.bindings.generated.sockaddr_ib;
import org.rdma4j.bindings.generated.sockaddr_in;
import org.rdma4j.bindings.generated.sockaddr_in6;
import org.rdma4j.bindings.generated.sockaddr_storage;
import org.rdma4j.verbs.address.Gid;

/** Converts addresses from and to {@code struct sockaddr}. */
final class SocketAddresses {
  private static final ValueLayout.OfShort PORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

  private SocketAddresses() {}

  /**
   * Throws if the address is unresolved or of a kind that C does not have, or if it is link-local
   * and names no interface.
   */
  static void check(SocketAddress address) {
    if (address instanceof InetSocketAddress inet) {
      if (inet.isUnresolved()) {
        throw new IllegalArgumentException("address is " + inet + ", must be resolved");
      }
      if (inet.getAddress() instanceof Inet6Address inet6
          && inet6.isLinkLocalAddress()
          && inet6.getScopeId() == 0) {
        throw new IllegalArgumentException(
            "address is %s, must have a scope, because it is link-local: add the name of the network interface, such as %s%%eth0"
                .formatted(inet, inet6.getHostAddress()));
      }
    } else if (!(address instanceof IbAddress)) {
      throw new IllegalArgumentException(
          "address is a %s, must be an InetSocketAddress or an IbAddress"
              .formatted(address.getClass().getName()));
    }
  }

  /** Returns any address of the same family, with port 0. */
  static SocketAddress wildcard(SocketAddress address) {
    if (address instanceof IbAddress) {
      return IbAddress.of(Gid.ZERO, PortSpace.IB, 0);
    }
    boolean isIpv6 =
        address instanceof InetSocketAddress inet && inet.getAddress() instanceof Inet6Address;
    try {
      return new InetSocketAddress(InetAddress.getByAddress(new byte[isIpv6 ? 16 : 4]), 0);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Writes the address into a {@code struct sockaddr_storage}. */
  static MemorySegment write(SocketAddress address, Arena arena) {
    check(address);
    MemorySegment raw = arena.allocate(sockaddr_storage.layout());
    if (address instanceof IbAddress ib) {
      ib.write(raw);
    } else if (address instanceof InetSocketAddress inet) {
      write(inet, raw);
    }
    return raw;
  }

  /** Returns how many bytes of that struct the address takes. */
  static int length(SocketAddress address) {
    if (address instanceof IbAddress) {
      return (int) sockaddr_ib.layout().byteSize();
    }
    return address instanceof InetSocketAddress inet && inet.getAddress() instanceof Inet6Address
        ? (int) sockaddr_in6.layout().byteSize()
        : (int) sockaddr_in.layout().byteSize();
  }

  private static void write(InetSocketAddress inet, MemorySegment raw) {
    InetAddress address = inet.getAddress();
    byte[] bytes = address.getAddress();
    if (address instanceof Inet6Address inet6) {
      sockaddr_in6.sin6_family(raw, (short) rdma_h.AF_INET6());
      raw.set(PORT, sockaddr_in6.sin6_port$offset(), (short) inet.getPort());
      sockaddr_in6.sin6_addr(raw).copyFrom(MemorySegment.ofArray(bytes));
      sockaddr_in6.sin6_scope_id(raw, inet6.getScopeId());
    } else {
      sockaddr_in.sin_family(raw, (short) rdma_h.AF_INET());
      raw.set(PORT, sockaddr_in.sin_port$offset(), (short) inet.getPort());
      sockaddr_in.sin_addr(raw).copyFrom(MemorySegment.ofArray(bytes));
    }
  }

  /** Reads such a struct; returns the wildcard address and port 0 if nothing is set. */
  static SocketAddress read(MemorySegment raw) {
    int family = Short.toUnsignedInt(sockaddr.sa_family(raw));
    if (family == rdma_h.AF_IB()) {
      return IbAddress.read(raw);
    }
    if (family == rdma_h.AF_INET6()) {
      return new InetSocketAddress(
          inet6(
              sockaddr_in6.sin6_addr(raw).toArray(ValueLayout.JAVA_BYTE),
              sockaddr_in6.sin6_scope_id(raw)),
          Short.toUnsignedInt(raw.get(PORT, sockaddr_in6.sin6_port$offset())));
    }
    if (family == rdma_h.AF_INET()) {
      return new InetSocketAddress(
          inet4(sockaddr_in.sin_addr(raw)),
          Short.toUnsignedInt(raw.get(PORT, sockaddr_in.sin_port$offset())));
    }
    return new InetSocketAddress(0);
  }

  /** Returns an IPv6 address; without a scope if that is 0. */
  static InetAddress inet6(byte[] address, int scope) {
    try {
      return scope == 0
          ? InetAddress.getByAddress(address)
          : Inet6Address.getByAddress(null, address, scope);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static InetAddress inet4(MemorySegment bytes) {
    try {
      return Inet4Address.getByAddress(bytes.toArray(ValueLayout.JAVA_BYTE));
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
