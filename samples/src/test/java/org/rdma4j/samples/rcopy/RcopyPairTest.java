package org.rdma4j.samples.rcopy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.samples.pair.PeerProcess;
import org.rdma4j.samples.testing.Outcome;
import org.rdma4j.samples.testing.SamplesJvm;

/** Copies a file from one guest to another. */
@Tag("pair")
@Timeout(900)
class RcopyPairTest {
  private static final int MEBIBYTES = Integer.getInteger("org.rdma4j.pair.copy.mebibytes", 64);
  private static final String PORT = "7427";

  /** Long enough for the first connection of a server in an emulated guest on a busy machine. */
  private static final String TIMEOUT = "300";

  private static final int ATTEMPTS = 300;

  @TempDir Path scratch;

  @Test
  void fileArrivesWithTheSameBytes() throws Exception {
    Path file = scratch.resolve("file");
    try (PeerProcess server =
        PeerProcess.start(
            SamplesJvm.command(
                "rcopy", "-n", "1", "-p", PORT, "--timeout", TIMEOUT, "--directory", "/tmp"))) {
      write(file);
      Outcome client = copy(file);

      assertThat(client.err()).isEmpty();
      assertThat(client.out().get(0)).startsWith(Files.size(file) + " bytes in ");
      System.out.println(client.out().get(0));
      String sum = client.out().get(1);
      assertThat(server.await()).last().isEqualTo(sum);
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
  private static Outcome copy(Path file) throws InterruptedException {
    for (int i = 0; i < ATTEMPTS; i++) {
      Outcome client =
          Outcome.of("rcopy", "-p", PORT, "--timeout", TIMEOUT, file.toString(), PeerProcess.HOST);
      if (!client.err().toString().contains("rdma_connect")) {
        return client;
      }
      Thread.sleep(500);
    }
    throw new AssertionError("nobody answers on port " + PORT);
  }

  private static String sumThere() throws Exception {
    try (PeerProcess sum = PeerProcess.start(List.of("sha256sum", "/tmp/file"))) {
      return sum.awaitLine("").substring(0, 64);
    }
  }
}
