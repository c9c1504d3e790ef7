package org.rdma4j.samples;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;

/** The client of rcopy: its file is read into registered memory, and sent from there. */
final class FileSender {
  private final Rcopy program;
  private final RdmaConnection connection;

  FileSender(Rcopy program, RdmaConnection connection) {
    this.program = program;
    this.connection = connection;
  }

  void send(Path source, String name) throws InterruptedException, TimeoutException, IOException {
    try (FileChannel file = FileChannel.open(source)) {
      FileProgress progress = program.progress(file.size());
      MessageDigest digest = FileReceiver.sha256();
      try {
        connection.send(new FileOffer(name, file.size()).write(), timeout());
        answer();
        while (progress.left() > 0) {
          sendPart(file, progress, digest);
        }
        byte[] sum = digest.digest();
        connection.send(ByteBuffer.wrap(sum), timeout());
        answer();
        progress.end();
        program.done(name, progress, HexFormat.of().formatHex(sum));
      } catch (RdmaException broken) {
        progress.end();
        throw told(broken);
      }
    }
  }

  /** The server may have said why before it closed. */
  private RuntimeException told(RdmaException broken) throws InterruptedException {
    try {
      String problem = hear(Duration.ofSeconds(1)).orElse("");
      if (!problem.isEmpty()) {
        return new Failure("the server says: " + problem, broken);
      }
    } catch (TimeoutException | RdmaException silent) {
      broken.addSuppressed(silent);
    }
    return broken;
  }

  private void sendPart(FileChannel file, FileProgress progress, MessageDigest digest)
      throws InterruptedException, TimeoutException, IOException {
    try (MessageBuffer buffer = connection.buffer(timeout())) {
      ByteBuffer bytes = buffer.byteBuffer();
      int max = Math.min(bytes.remaining(), connection.maxMessageBytes());
      bytes.limit((int) Math.min(max, progress.left()));
      if (file.read(bytes) < 1) {
        throw new Failure(
            "the file became shorter by %d bytes while it was read".formatted(progress.left()));
      }
      bytes.flip();
      digest.update(bytes.duplicate());
      int part = bytes.remaining();
      connection.send(buffer, timeout());
      progress.add(part);
    }
  }

  private void answer() throws InterruptedException, TimeoutException {
    String problem =
        hear(timeout())
            .orElseThrow(() -> new Failure("the server went away in the middle of the copy"));
    if (!problem.isEmpty()) {
      throw new Failure("the server says: " + problem);
    }
  }

  /** What is not well, no words where all is; nothing where the server closed. */
  private Optional<String> hear(Duration timeout) throws InterruptedException, TimeoutException {
    try (MessageBuffer message = connection.receive(timeout).orElse(null)) {
      return Optional.ofNullable(message)
          .map(said -> StandardCharsets.UTF_8.decode(said.byteBuffer()).toString());
    }
  }

  private Duration timeout() {
    return program.common.timeout();
  }
}
