package org.rdma4j.samples.rcopy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;

/** Sends one file, which it reads directly into registered memory. */
final class FileSender {
  static final int PART_BYTES = 1 << 20;
  private static final int IN_FLIGHT = 8;

  private final Rcopy program;
  private final RdmaConnection connection;
  private final Queue<CompletableFuture<Void>> onTheirWay = new ArrayDeque<>();

  FileSender(Rcopy program, RdmaConnection connection) {
    this.program = program;
    this.connection = connection;
  }

  void send(Path source, String name) throws InterruptedException, TimeoutException, IOException {
    try (FileChannel file = FileChannel.open(source)) {
      FileProgress progress = new FileProgress(file.size());
      MessageDigest digest = FileReceiver.sha256();
      try {
        connection.send(new FileOffer(name, file.size()).write(), Rcopy.TIMEOUT);
        requireSuccess();
        while (progress.left() > 0) {
          sendPart(file, progress, digest);
        }
        byte[] sum = digest.digest();
        connection.send(ByteBuffer.wrap(sum), Rcopy.TIMEOUT);
        requireSuccess();
        program.printResult(name, progress, HexFormat.of().formatHex(sum));
      } catch (RdmaException broken) {
        throw withAnswer(broken);
      }
    }
  }

  /** Returns what the server said before it closed the connection, if it said anything. */
  private RuntimeException withAnswer(RdmaException broken) throws InterruptedException {
    try {
      String problem = awaitAnswer(Duration.ofSeconds(1)).orElse("");
      if (!problem.isEmpty()) {
        return new CopyFailure("the server says: " + problem, broken);
      }
    } catch (TimeoutException | RdmaException silent) {
      broken.addSuppressed(silent);
    }
    return broken;
  }

  private void sendPart(FileChannel file, FileProgress progress, MessageDigest digest)
      throws InterruptedException, TimeoutException, IOException {
    if (onTheirWay.size() == IN_FLIGHT) {
      awaitFirst();
    }
    int part = (int) Math.min(PART_BYTES, progress.left());
    try (MessageBuffer buffer = connection.buffer(part, Rcopy.TIMEOUT)) {
      ByteBuffer bytes = buffer.byteBuffer();
      if (file.read(bytes) < 1) {
        throw new CopyFailure(
            "the file became shorter by %d bytes while it was being read"
                .formatted(progress.left()));
      }
      bytes.flip();
      digest.update(bytes.duplicate());
      progress.add(bytes.remaining());
      // The server fetches this part while the next one is read.
      onTheirWay.add(connection.sendAsync(buffer));
    }
  }

  private void awaitFirst() throws InterruptedException, TimeoutException {
    try {
      onTheirWay.remove().get(Rcopy.TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RdmaException broken) {
        throw broken;
      }
      throw new CopyFailure("a part of the file was not sent", failed);
    }
  }

  private void requireSuccess() throws InterruptedException, TimeoutException {
    String problem =
        awaitAnswer(Rcopy.TIMEOUT)
            .orElseThrow(
                () -> new CopyFailure("the server disconnected before the end of the copy"));
    if (!problem.isEmpty()) {
      throw new CopyFailure("the server says: " + problem);
    }
  }

  /** Returns what is wrong, empty text for success, or nothing if the server disconnected. */
  private Optional<String> awaitAnswer(Duration timeout)
      throws InterruptedException, TimeoutException {
    try (MessageBuffer message = connection.receive(timeout).orElse(null)) {
      return Optional.ofNullable(message)
          .map(answer -> StandardCharsets.UTF_8.decode(answer.byteBuffer()).toString())
          .map(Printable::of);
    }
  }
}
