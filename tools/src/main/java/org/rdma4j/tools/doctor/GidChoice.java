package org.rdma4j.tools.doctor;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The GID of an Ethernet port that suits most connections.
 *
 * @param gid the GID
 * @param reason what it is, and why it was chosen
 * @param worksEverywhere whether it also works through routers
 */
record GidChoice(PortGid gid, String reason, boolean worksEverywhere) {
  /** The kinds of GIDs, the best first. */
  private enum Kind {
    IPV4("RoCE v2 with the IPv4 address %s of %s, which is up; it works through routers"),
    GLOBAL_IPV6("RoCE v2 with the IPv6 address %s of %s, which is up; none has an IPv4 address"),
    LINK_LOCAL(
        "RoCE v2 with the link-local address %s of %s; none has another address, so it works only"
            + " within one network, and the connection manager finds no address"),
    LOOPBACK(
        "RoCE v2 with the address %s of %s; none has another one, so it reaches only this machine"),
    VERSION_1(
        "RoCE v1 with %s of %s; none is for RoCE v2, so it works only within one network, and only"
            + " with peers of RoCE v1");

    private final String reason;

    Kind(String reason) {
      this.reason = reason;
    }

    static Kind of(PortGid gid) {
      if (!gid.roceV2()) {
        return VERSION_1;
      }
      if (gid.isLinkLocal()) {
        return LINK_LOCAL;
      }
      if (gid.isLoopback()) {
        return LOOPBACK;
      }
      return gid.isIpv4() ? IPV4 : GLOBAL_IPV6;
    }
  }

  /** Chooses among the GIDs of a port; empty if none belongs to an interface that is up. */
  static Optional<GidChoice> of(List<PortGid> gids, NetworkInterfaces interfaces) {
    return gids.stream()
        .filter(gid -> interfaces.isUp(gid.networkInterface()))
        .min(Comparator.comparing(Kind::of).thenComparingInt(PortGid::index))
        .map(GidChoice::of);
  }

  private static GidChoice of(PortGid gid) {
    Kind kind = Kind.of(gid);
    return new GidChoice(
        gid,
        kind.reason.formatted(gid.ip(), gid.networkInterface()),
        kind.compareTo(Kind.LINK_LOCAL) < 0);
  }
}
