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
 * The configuration of an endpoint; the peer's may differ. Start from {@link #DEFAULT}. Immutable:
 * each method that takes a value returns a changed copy.
 *
 * @param device the name of the RDMA device; by default the first one that has an active port
 * @param port the port of the device, from 1; by default the first active one
 * @param gidIndex the index of the GID in the port's table; by default on Ethernet a RoCE v2 GID of
 *     an IPv4 address, or else any RoCE v2 GID, or else any GID; by default on InfiniBand none
 * @param bufferBytes the length of the registered buffer in bytes, at least 1; default 1 MiB
 * @param sendDepth the number of sends, reads and writes that may be outstanding, at least 1;
 *     default 64
 * @param receiveDepth the number of receives that may be outstanding, at least 1; default 64
 * @param remoteAccess what the peer may do with the buffer, other than send messages into posted
 *     receives; default nothing
 * @see Endpoint
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
   * Creates a configuration with all its values. The limits of the device are checked later.
   *
   * @throws IllegalArgumentException if a number is out of its range, or a flag is not a remote one
   */
  public EndpointConfig {
    port.ifPresent(value -> checkAtLeast("port", value, 1));
    gidIndex.ifPresent(value -> checkAtLeast("gidIndex", value, 0));
    checkAtLeast("bufferBytes", bufferBytes, 1);
    checkAtLeast("sendDepth", sendDepth, 1);
    checkAtLeast("receiveDepth", receiveDepth, 1);
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(remoteAccess);
    if (!REMOTE.containsAll(flags)) {
      throw new IllegalArgumentException(
          "remoteAccess is " + flags + ", must contain only " + REMOTE);
    }
    remoteAccess = Collections.unmodifiableSet(flags);
  }

  private static void checkAtLeast(String name, long value, long min) {
    if (value < min) {
      throw new IllegalArgumentException(name + " is " + value + ", must be at least " + min);
    }
  }

  /**
   * Returns a copy with another {@link #device()}.
   *
   * @param device the name of the RDMA device
   * @return the copy
   */
  public EndpointConfig device(String device) {
    return new EndpointConfig(
        Optional.of(device), port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * Returns a copy with another {@link #port()}.
   *
   * @param port the port of the device, from 1
   * @return the copy
   * @throws IllegalArgumentException if the number is out of its range
   */
  public EndpointConfig port(int port) {
    return new EndpointConfig(
        device, OptionalInt.of(port), gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * Returns a copy with another {@link #gidIndex()}.
   *
   * @param gidIndex the index of the GID, from 0
   * @return the copy
   * @throws IllegalArgumentException if the number is out of its range
   */
  public EndpointConfig gidIndex(int gidIndex) {
    return new EndpointConfig(
        device, port, OptionalInt.of(gidIndex), bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * Returns a copy with another {@link #bufferBytes()}.
   *
   * @param bufferBytes the length of the buffer in bytes, at least 1
   * @return the copy
   * @throws IllegalArgumentException if the number is out of its range
   */
  public EndpointConfig bufferBytes(long bufferBytes) {
    return new EndpointConfig(
        device, port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * Returns a copy with another {@link #sendDepth()}.
   *
   * @param sendDepth the number of sends, reads and writes that may be outstanding, at least 1
   * @return the copy
   * @throws IllegalArgumentException if the number is out of its range
   */
  public EndpointConfig sendDepth(int sendDepth) {
    return new EndpointConfig(
        device, port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * Returns a copy with another {@link #receiveDepth()}.
   *
   * @param receiveDepth the number of receives that may be outstanding, at least 1
   * @return the copy
   * @throws IllegalArgumentException if the number is out of its range
   */
  public EndpointConfig receiveDepth(int receiveDepth) {
    return new EndpointConfig(
        device, port, gidIndex, bufferBytes, sendDepth, receiveDepth, remoteAccess);
  }

  /**
   * Returns a copy with another {@link #remoteAccess()}.
   *
   * @param remoteAccess any of REMOTE_READ, REMOTE_WRITE and REMOTE_ATOMIC
   * @return the copy
   * @throws IllegalArgumentException if a flag is not a remote one
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
