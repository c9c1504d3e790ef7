package org.rdma4j.samples.rcopy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.testing.PeerProcess;

/** Copies a file from one guest to another. */
@Tag("pair")
@Timeout(900)
class RcopyPairTest {
  private static final int MEBIBYTES = Integer.getInteger("org.rdma4j.pair.copy.mebibytes", 64);
  private static final int PORT = 7427;

  private static final int ATTEMPTS = 300;

  @TempDir Path scratch;

  @Test
  void fileArrivesWithTheSameBytes() throws Exception {
    Path file = scratch.resolve("file");
    try (PeerProcess server = PeerProcess.start(JavaCommand.of(Rcopy.class, "/tmp"))) {
      write(file);
      Outcome client = copy(file);

      assertThat(client.err()).isEmpty();
      assertThat(client.out().get(0)).startsWith(Files.size(file) + " bytes in ");
      System.out.println(client.out().get(0));
      String sum = client.out().get(1);
      assertThat(server.awaitLine(sum)).isEmpty();
      assertThat(sumThere()).isEqualTo(sum.substring(0, sum.indexOf(' ')));
    }
  }

  /** Writes a file in which all mebibytes differ. */
  private static void write(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
    new Random(1).nextBytes(bytes.array());
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int i = 0; i < MEBIBYTES; i++) {
        bytes.putInt(0, i);
        out.write(bytes.array());
      }
    }
  }

  /**
   * Copies a file, once the server listens and answers within the time that the kernel gives it.
   * Its JVM starts at the same time as this one.
   */
  private static Outcome copy(Path file) throws Exception {
    for (int i = 0; i < ATTEMPTS; i++) {
      Outcome client = copyOnce(file);
      if (!client.err().toString().contains("connect to ")) {
        return client;
      }
      Thread.sleep(500);
    }
    throw new AssertionError("no process answers on port " + PORT);
  }

  private static Outcome copyOnce(Path file) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int status =
        new Rcopy(new PrintStream(out, true), new PrintStream(err, true), PORT, 1)
            .run(file.toString(), PeerProcess.HOST);
    return new Outcome(status, lines(out), lines(err));
  }

  private static List<String> lines(ByteArrayOutputStream printed) {
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private static String sumThere() throws Exception {
    try (PeerProcess sum = PeerProcess.start(List.of("sha256sum", "/tmp/file"))) {
      return sum.awaitLine("").substring(0, 64);
    }
  }
}
