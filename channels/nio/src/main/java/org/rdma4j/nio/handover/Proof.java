package org.rdma4j.nio.handover;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Shows that a peer knows the bytes of a TCP connection, without telling them: HMAC-SHA256 over
 * random bytes of both sides, the addresses, and the digests of the first bytes of both directions.
 *
 * <p>With a secret that both sides were given, it also shows that the peer knows the secret.
 * Without one, it is as strong as the bytes are hard to guess. The client names the number of bytes
 * that it proves, so the least number decides how strong the proof is.
 */
public final class Proof {
  /** The number of bytes in each direction that a proof covers at most: the first ones. */
  public static final int RECORDED = Evidence.KEPT;

  /** The length of a nonce, of a token and of a challenge. */
  static final int BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";
  private static final byte[] NO_SECRET = "rdma4j nio".getBytes(StandardCharsets.US_ASCII);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SecretKeySpec key;
  private final long least;

  /**
   * Creates the proof of a process.
   *
   * @param secret the secret; empty if there is none
   * @param least the number of bytes that must have been exchanged in each direction, at least 1
   */
  public Proof(byte[] secret, long least) {
    this.key = new SecretKeySpec(secret.length == 0 ? NO_SECRET : secret, ALGORITHM);
    this.least = Math.max(1, least);
  }

  /**
   * Returns the proof for the next upgrade of a connection that has resumed. No other process has
   * its key, so one byte in each direction suffices.
   *
   * @param resumeKey the key of the resume
   * @return the proof
   */
  public Proof after(byte[] resumeKey) {
    return new Proof(authenticate(resumeKey, key.getEncoded()), 1);
  }

  /**
   * Returns the number of bytes that each direction must have carried.
   *
   * @return the number, at least 1
   */
  public long least() {
    return least;
  }

  /**
   * Returns whether so many bytes in each direction are enough to prove something.
   *
   * @param sent the number of bytes in one direction
   * @param received the number in the other one
   * @return whether both are at least the least number
   */
  public boolean suffices(long sent, long received) {
    return sent >= least && received >= least;
  }

  byte[] ofClient(byte[] challenge, Claim claim, Evidence toServer, Evidence toClient) {
    return token((byte) 'c', challenge, claim, toServer, toClient);
  }

  byte[] ofServer(byte[] challenge, Claim claim, Evidence toServer, Evidence toClient) {
    return token((byte) 's', challenge, claim, toServer, toClient);
  }

  private byte[] token(
      byte side, byte[] challenge, Claim claim, Evidence toServer, Evidence toClient) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update(side);
      mac.update(challenge);
      mac.update(claim.nonce());
      mac.update(toServer.digest(claim.sent()));
      mac.update(toClient.digest(claim.received()));
      ByteBuffer counts = ByteBuffer.allocate(2 * Long.BYTES);
      mac.update(counts.putLong(claim.sent()).putLong(claim.received()).flip());
      // The only part whose length varies comes last.
      return mac.doFinal(claim.connection().getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException | InvalidKeyException impossible) {
      throw new IllegalStateException("each JDK has HMAC-SHA256", impossible);
    }
  }

  /** Derives the key of the {@link Resume} of an upgrade. */
  byte[] resumeKey(byte[] challenge, Claim claim, Evidence toServer, Evidence toClient) {
    return token((byte) 'r', challenge, claim, toServer, toClient);
  }

  /** Authenticates bytes with a key. */
  static byte[] authenticate(byte[] key, byte[] bytes) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac.doFinal(bytes);
    } catch (NoSuchAlgorithmException | InvalidKeyException impossible) {
      throw new IllegalStateException("each JDK has HMAC-SHA256", impossible);
    }
  }

  static boolean equal(byte[] token, byte[] other) {
    return MessageDigest.isEqual(token, other);
  }

  /**
   * Returns random bytes: a challenge or a nonce.
   *
   * @return new bytes
   */
  public static byte[] random() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return bytes;
  }

  /** Takes a nonce or a token from a message. */
  static byte[] bytes(ByteBuffer message) {
    byte[] bytes = new byte[BYTES];
    message.get(bytes);
    return bytes;
  }
}
