package org.rdma4j.tools.selftest;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.tools.command.Failure;

/** Sends messages of several lengths over a connection, and back. */
final class EchoCheck implements SelfCheck {
  private static final int[] LENGTHS = {1, 100, 4096, 100_000, 8 << 20};

  @Override
  public String name() {
    return "connection";
  }

  @Override
  public String run(TestedDevice tested) throws Exception {
    try (DeviceConnection connection = DeviceConnection.open(tested)) {
      Random random = new Random(1);
      for (int length : LENGTHS) {
        byte[] message = Expected.random(random, length);
        byte[] there = pass(connection.client(), connection.peer(), message);
        Expected.equal("a message", there, message);
        byte[] back = pass(connection.peer(), connection.client(), there);
        Expected.equal("its echo", back, message);
      }
    }
    return "%d messages of up to %d bytes, to and fro"
        .formatted(LENGTHS.length, LENGTHS[LENGTHS.length - 1]);
  }

  private static byte[] pass(RdmaConnection from, RdmaConnection to, byte[] message)
      throws Exception {
    CompletableFuture<Void> sent = from.sendAsync(ByteBuffer.wrap(message));
    try (MessageBuffer received =
        to.receive(DeviceConnection.TIMEOUT)
            .orElseThrow(() -> new Failure("the connection has ended"))) {
      byte[] bytes = new byte[received.byteBuffer().remaining()];
      received.byteBuffer().get(bytes);
      sent.get(DeviceConnection.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
      return bytes;
    }
  }
}
