package org.rdma4j.samples.rcopy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;

/** Receives one file, and gives it its name if its checksum is right. */
final class FileReceiver {
  /** A client that makes no progress for so long has its slot no longer. */
  private static final Duration PROGRESS_TIMEOUT = Duration.ofSeconds(20);

  private final Rcopy program;
  private final RdmaConnection connection;

  FileReceiver(Rcopy program, RdmaConnection connection) {
    this.program = program;
    this.connection = connection;
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  void receive(Path directory) throws InterruptedException, TimeoutException, IOException {
    Path partial = directory.resolve(".rcopy-" + UUID.randomUUID());
    try {
      FileOffer offer;
      try (MessageBuffer message = next("offered no file")) {
        offer = FileOffer.read(message.byteBuffer());
      }
      FileProgress progress = new FileProgress(offer.length());
      String sum = write(partial, progress);
      Files.move(partial, directory.resolve(offer.name()), StandardCopyOption.ATOMIC_MOVE);
      answer("");
      program.printResult(Printable.of(offer.name()), progress, sum);
    } catch (IOException | RuntimeException failed) {
      refuse(reason(failed));
      throw failed;
    } finally {
      Files.deleteIfExists(partial);
    }
  }

  private String write(Path partial, FileProgress progress)
      throws InterruptedException, TimeoutException, IOException {
    MessageDigest digest = sha256();
    try (FileChannel file =
        FileChannel.open(partial, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      answer("");
      while (progress.left() > 0) {
        try (MessageBuffer message = next("sent no further part of the file")) {
          writePart(file, message.byteBuffer(), progress, digest);
        }
      }
      file.force(true);
    }
    byte[] sum = digest.digest();
    try (MessageBuffer message = next("sent no checksum")) {
      if (!ByteBuffer.wrap(sum).equals(message.byteBuffer())) {
        throw new CopyFailure(
            "the SHA-256 of the received bytes differs from that of the sent bytes;"
                + " copy the file again");
      }
    }
    return HexFormat.of().formatHex(sum);
  }

  private static void writePart(
      FileChannel file, ByteBuffer bytes, FileProgress progress, MessageDigest digest)
      throws IOException {
    int part = bytes.remaining();
    if (part < 1 || part > progress.left()) {
      throw new CopyFailure(
          "the client sent %d bytes, must be from 1 to %d, the number of missing bytes"
              .formatted(part, progress.left()));
    }
    digest.update(bytes.duplicate());
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
    progress.add(part);
  }

  /** Returns what the client may know: other exceptions name directories of this machine. */
  private static String reason(Exception failed) {
    return failed instanceof CopyFailure
        ? String.valueOf(failed.getMessage())
        : "the server could not store the file; its own output has the reason";
  }

  private MessageBuffer next(String missing) throws InterruptedException {
    try {
      return connection
          .receive(PROGRESS_TIMEOUT)
          .orElseThrow(() -> new CopyFailure("the client disconnected before the end of the copy"));
    } catch (TimeoutException silent) {
      throw new CopyFailure(
          "the client %s within %d s".formatted(missing, PROGRESS_TIMEOUT.toSeconds()), silent);
    }
  }

  private void answer(String problem) throws InterruptedException, TimeoutException {
    connection.send(StandardCharsets.UTF_8.encode(problem), PROGRESS_TIMEOUT);
  }

  private void refuse(String problem) throws InterruptedException {
    try {
      answer(problem);
    } catch (RuntimeException | TimeoutException lost) {
      System.getLogger("org.rdma4j")
          .log(System.Logger.Level.DEBUG, "cannot notify the client", lost);
    }
  }
}
