package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.ChildProcess;

/** HTTP servers and a client, each as it is, in a JVM of its own. */
final class HttpServersTest {
  private static final int REQUESTS = 100;

  @ParameterizedTest
  @ValueSource(
      classes = {HttpServers.Jdk.class, HttpServers.EmbeddedTomcat.class, HttpServers.Jetty.class})
  void answersAreWhatWasSent(Class<?> server, @TempDir Path folder) throws Exception {
    try (ChildProcess serving = ChildProcess.start(Program.command(server, folder.toString()))) {
      String port = serving.awaitLine(HttpServers.LISTENS);
      try (ChildProcess asking =
          ChildProcess.start(Program.command(HttpRequests.class, port, String.valueOf(REQUESTS)))) {
        var outcome = asking.await();
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        Way.check(outcome.out(), 2L * REQUESTS * HttpRequests.BYTES);
      }
    }
  }
}
