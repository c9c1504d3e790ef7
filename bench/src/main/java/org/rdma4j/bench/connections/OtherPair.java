package org.rdma4j.bench.connections;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleBinaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A server and a client that connections are compared with.
 *
 * @param server the command of the server, which ends when the client has ended, or is ended then
 * @param client the command of the client
 * @param port the port that the server listens on
 * @param figure where figures are in what the client prints
 * @param combine makes one figure of several
 */
record OtherPair(
    List<String> server,
    List<String> client,
    int port,
    Pattern figure,
    DoubleBinaryOperator combine) {
  private static final int LIMIT_SECONDS = 300;

  /** Creates a pair whose last figure counts. */
  static OtherPair withLastFigure(
      List<String> server, List<String> client, int port, Pattern figure) {
    return new OtherPair(server, client, port, figure, (earlier, last) -> last);
  }

  /** Runs both, and returns the figure. */
  double run() throws IOException, InterruptedException {
    Process serving =
        new ProcessBuilder(server)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      String listening = "dev/lib/await-listening";
      run(List.of(listening, Long.toString(serving.pid()), Integer.toString(port)));
      String printed = run(client);
      return figure
          .matcher(printed)
          .results()
          .mapToDouble(OtherPair::number)
          .reduce(combine)
          .orElseThrow(
              () -> new IOException(String.join(" ", client) + " printed no figure: " + printed));
    } finally {
      if (!serving.waitFor(2, TimeUnit.SECONDS)) {
        serving.destroyForcibly().waitFor();
      }
    }
  }

  private static double number(MatchResult match) {
    return Double.parseDouble(match.group(1));
  }

  static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(String.join(" ", command) + " failed: " + printed);
    }
    return printed;
  }
}
