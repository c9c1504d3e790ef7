package org.rdma4j.soak;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What {@link Soak} tries: a server, and peers of it. Only its implementations know the API. */
public interface Subject extends AutoCloseable {
  /** Returns the address of the server. */
  InetSocketAddress address();

  /**
   * Waits for a peer of the server, in any number of threads.
   *
   * @return the connection; null if no peer came for a while
   * @throws Exception what {@link #mayThrow} permits, and nothing else
   */
  @Nullable Link accept() throws Exception;

  /** Returns whether the documentation of accept says that a peer can make it throw this. */
  boolean mayThrow(Exception failure);

  /** Connects to a server, as a program would. */
  Link connect(InetSocketAddress server) throws Exception;

  /** Is a peer that lies, in a way that it chooses. Returns the name of that way. */
  String lie(Random random) throws Exception;

  /** Is a peer whose first words are random. */
  void fuzz(Random random) throws Exception;

  /** Returns the kinds of objects of which some stay for later peers, as {@link Held} has them. */
  default Set<String> kept() {
    return Set.of();
  }

  @Override
  void close() throws IOException;
}
