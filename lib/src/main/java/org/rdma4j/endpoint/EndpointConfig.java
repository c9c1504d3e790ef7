package org.rdma4j.endpoint;

import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.rdma4j.verbs.AccessFlag;

/**
 * What an endpoint is made with. Immutable; each method that takes a value returns a changed copy.
 * Nothing of it has to agree with the peer's.
 *
 * @param device the name of the RDMA device; default the first one that has an active port
 * @param port the port of the device, from 1; default the first one that is active
 * @param gidIndex the index of the GID in the port's table; by default on Ethernet that of a RoCE
 *     v2 GID of an IPv4 address, where there is none of any RoCE v2 GID, else of any GID; on
 *     InfiniBand none
 * @param bufferBytes the length of the registered buffer in bytes, at least 1; default 1 MiB
 * @param sendDepth how many sends, reads and writes may be outstanding, at least 1; default 64
 * @param receiveDepth how many receives may be outstanding, at least 1; default 64
 * @param remoteAccess what the peer may do with the buffer besides sending messages to where a
 *     receive was posted; default nothing
 */
public record EndpointConfig(
    Optional<String> device,
    OptionalInt port,
    OptionalInt gidIndex,
    long bufferBytes,
    int sendDepth,
    int receiveDepth,
    Set<AccessFlag> remoteAccess) {
  private static final Set<AccessFlag> REMOTE =
      EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

  /** Everything at its default. */
  public static final EndpointConfig DEFAULT =
      new EndpointConfig(
          Optional.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          1 << 20,
          64,
          64,
          EnumSet.noneOf(AccessFlag.class));

  /**
   * Checks the numbers, as far as they can be without the device.
   *
   * @throws IllegalArgumentException where one is out of its range, or a right is not a remote one
   */
  public EndpointConfig {
    port.ifPresent(value -> checkAtLeast("port", value, 1));
    gidIndex.ifPresent(value -> checkAtLeast("gidIndex", value, 0));
    checkAtLeast("bufferBytes", bufferBytes, 1);
    checkAtLeast("sendDepth", sendDepth, 1);
    checkAtLeast("receiveDepth", receiveDepth, 1);
    Set<AccessFlag> rights = EnumSet.noneOf(AccessFlag.class);
    rights.addAll(remoteAccess);
    if (!REMOTE.containsAll(rights)) {
      throw new IllegalArgumentException(
          "remoteAccess is " + rights + ", must be some of " + REMOTE);
    }
    remoteAccess = Collections.unmodifiableSet(rights);
  }

  private static void checkAtLeast(String name, long value, long min) {
    if (value < min) {
      throw new IllegalArgumentException(name + " is " + value + ", must be at least " + min);
    }
  }

  /**
   * A copy with another {@link #device()}.
   *
   * @param device the name of the RDMA device
   * @return the copy
   */
  public EndpointConfig device(String device) {
    return new EndpointConfig(
        Optional.of(device), port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * A copy with another {@link #port()}.
   *
   * @param port the port of the device, from 1
   * @return the copy
   * @throws IllegalArgumentException where it is out of its range
   */
  public EndpointConfig port(int port) {
    return new EndpointConfig(
        device, OptionalInt.of(port), gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * A copy with another {@link #gidIndex()}.
   *
   * @param gidIndex the index of the GID, from 0
   * @return the copy
   * @throws IllegalArgumentException where it is out of its range
   */
  public EndpointConfig gidIndex(int gidIndex) {
    return new EndpointConfig(
        device, port, OptionalInt.of(gidIndex), bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * A copy with another {@link #bufferBytes()}.
   *
   * @param bufferBytes the length of the buffer in bytes, at least 1
   * @return the copy
   * @throws IllegalArgumentException where it is out of its range
   */
  public EndpointConfig bufferBytes(long bufferBytes) {
    return new EndpointConfig(
        device, port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * A copy with another {@link #sendDepth()}.
   *
   * @param sendDepth how many sends, reads and writes may be outstanding, at least 1
   * @return the copy
   * @throws IllegalArgumentException where it is out of its range
   */
  public EndpointConfig sendDepth(int sendDepth) {
    return new EndpointConfig(
        device, port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * A copy with another {@link #receiveDepth()}.
   *
   * @param receiveDepth how many receives may be outstanding, at least 1
   * @return the copy
   * @throws IllegalArgumentException where it is out of its range
   */
  public EndpointConfig receiveDepth(int receiveDepth) {
    return new EndpointConfig(
        device, port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * A copy with another {@link #remoteAccess()}.
   *
   * @param remoteAccess some of REMOTE_READ, REMOTE_WRITE and REMOTE_ATOMIC
   * @return the copy
   * @throws IllegalArgumentException where a right is not a remote one
   */
  public EndpointConfig remoteAccess(AccessFlag... remoteAccess) {
    return new EndpointConfig(
        device,
        port,
        gidIndex,
        bufferBytes,
        sendDepth,
        receiveDepth,
        new HashSet<>(List.of(remoteAccess)));
  }
}
