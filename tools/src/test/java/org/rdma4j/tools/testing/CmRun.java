package org.rdma4j.tools.testing;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** The results of a server and a client of the connection manager, of which one may be in C. */
public record CmRun(Outcome server, Outcome client) {
  private static final long TIMEOUT_SECONDS = 90;

  /** Runs a server in Java with a client in C. */
  public static CmRun withClientInC(int port, String server, String clientInC) throws Exception {
    CompletableFuture<Outcome> served = InThisJvm.begin(server.split(" "));
    ChildProcess.awaitListeningCm(port);
    try (ChildProcess client = ChildProcess.start(List.of(clientInC.split(" ")))) {
      Outcome clientOutcome = client.await();
      return new CmRun(served.get(TIMEOUT_SECONDS, TimeUnit.SECONDS), clientOutcome);
    }
  }

  /** Runs a server in C with a client in Java. */
  public static CmRun withServerInC(int port, String serverInC, String client) throws Exception {
    try (ChildProcess server = ChildProcess.start(List.of(serverInC.split(" ")))) {
      ChildProcess.awaitListeningCm(port);
      Outcome clientOutcome = InThisJvm.run(client.split(" "));
      return new CmRun(server.await(), clientOutcome);
    }
  }

  /** Runs both in Java. */
  public static CmRun inJava(int port, String server, String client) throws Exception {
    CompletableFuture<Outcome> served = InThisJvm.begin(server.split(" "));
    ChildProcess.awaitListeningCm(port);
    Outcome clientOutcome = InThisJvm.run(client.split(" "));
    return new CmRun(served.get(TIMEOUT_SECONDS, TimeUnit.SECONDS), clientOutcome);
  }
}
