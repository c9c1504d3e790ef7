package org.rdma4j.tools.perftest;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.TcpPeer;

/** The channel over TCP, on which addresses are texts. */
final class TcpControl implements Control {
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

  private final TcpPeer peer;
  private final boolean server;
  private final String program;
  private final Duration timeout;
  private boolean withGid = true;

  /**
   * Uses a connection.
   *
   * @param peer the connection
   * @param server whether the peer sends first
   * @param program the program in C that the peer should be, for messages
   * @param timeout how long the peer may take to answer
   */
  TcpControl(TcpPeer peer, boolean server, String program, Duration timeout) {
    this.peer = peer;
    this.server = server;
    this.program = program;
    this.timeout = timeout;
  }

  /** Sets whether addresses have a GID, which is so on Ethernet, and on InfiniBand with -x. */
  void withGid(boolean has) {
    withGid = has;
  }

  @Override
  public byte[] exchange(byte[] mine, boolean patiently) {
    if (!server) {
      peer.write(mine);
      return peer.read(mine.length, limit(patiently));
    }
    byte[] theirs = peer.read(mine.length, limit(patiently));
    peer.write(mine);
    return theirs;
  }

  @Override
  public Keys exchange(Keys mine, boolean patiently) {
    byte[] message = mine.toText(withGid);
    if (!server) {
      peer.write(message);
      return readKeys(patiently);
    }
    Keys theirs = readKeys(patiently);
    peer.write(message);
    return theirs;
  }

  private Keys readKeys(boolean patiently) {
    byte[] beginning = peer.read(Keys.TEXT_BYTES, limit(patiently));
    if (Keys.hasGid(beginning) != withGid) {
      throw new Failure(
          withGid
              ? "the peer uses no GID, this side does; give both sides -x, or neither"
              : "the peer uses a GID, this side does not; give both sides -x, or neither");
    }
    if (!withGid) {
      return Keys.ofText(beginning, program);
    }
    byte[] message = Arrays.copyOf(beginning, Keys.TEXT_BYTES_GID);
    byte[] rest = peer.read(Keys.TEXT_BYTES_GID - Keys.TEXT_BYTES, timeout);
    System.arraycopy(rest, 0, message, Keys.TEXT_BYTES, rest.length);
    return Keys.ofText(message, program);
  }

  private Duration limit(boolean patiently) {
    return patiently ? Patience.WHOLE_TEST : timeout;
  }

  @Override
  public void end() {
    peer.write(DONE);
  }

  @Override
  public void close() {
    peer.close();
  }
}
