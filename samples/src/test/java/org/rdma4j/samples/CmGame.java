package org.rdma4j.samples;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A server and a client of the connection manager, of which each is ours or C's. */
record CmGame(Outcome server, Outcome client) {
  private static final long PATIENCE_SECONDS = 90;

  /** Ours with C's client. */
  static CmGame serve(int port, String server, String clientInC) throws Exception {
    CompletableFuture<Outcome> ours = Outcome.begin(server.split(" "));
    ChildProcess.awaitListeningCm(port);
    try (ChildProcess client = ChildProcess.start(List.of(clientInC.split(" ")))) {
      Outcome theirs = client.await();
      return new CmGame(ours.get(PATIENCE_SECONDS, TimeUnit.SECONDS), theirs);
    }
  }

  /** C's with our client. */
  static CmGame play(int port, String serverInC, String client) throws Exception {
    try (ChildProcess server = ChildProcess.start(List.of(serverInC.split(" ")))) {
      ChildProcess.awaitListeningCm(port);
      Outcome ours = Outcome.of(client.split(" "));
      return new CmGame(server.await(), ours);
    }
  }

  /** Ours with itself. */
  static CmGame playAlone(int port, String server, String client) throws Exception {
    CompletableFuture<Outcome> served = Outcome.begin(server.split(" "));
    ChildProcess.awaitListeningCm(port);
    Outcome played = Outcome.of(client.split(" "));
    return new CmGame(served.get(PATIENCE_SECONDS, TimeUnit.SECONDS), played);
  }
}
