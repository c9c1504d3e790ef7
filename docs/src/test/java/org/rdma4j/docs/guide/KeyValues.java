package org.rdma4j.docs.guide;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;

/** A server that keeps values by key, for any number of clients. */
@SuppressWarnings("FutureReturnValueIgnored") // no code waits for the end of a connection
final class KeyValues {
  private static final byte GET = 1;
  private static final byte PUT = 2;

  private KeyValues() {}

  // snippet: server
  static void serve(RdmaServer server, Map<Long, byte[]> values) {
    server.onAccept( // also connections that are there already
        client -> {
          client.onRequest(request -> answer(request, values)); // also requests that have arrived
          client.ended().whenComplete((nothing, failure) -> client.close());
        });
  }

  private static void answer(IncomingRequest request, Map<Long, byte[]> values) {
    ByteBuffer question = request.message().byteBuffer(); // big-endian, as everywhere in java.nio
    byte command = question.get();
    long key = question.getLong(); // if this throws an exception, the request is refused
    if (command == PUT) {
      byte[] value = new byte[question.remaining()];
      question.get(value); // a copy, because the buffer is reused after the answer
      values.put(key, value);
    }
    request.answer(ByteBuffer.wrap(values.getOrDefault(key, new byte[0])));
  }

  // end

  // snippet: client
  static CompletableFuture<byte[]> get(RdmaConnection server, long key) {
    MessageBuffer request = server.allocateBuffer(9); // registered memory: nothing is copied
    request.byteBuffer().put(GET).putLong(key).flip();
    return server.request(request).thenApply(KeyValues::value);
  }

  static CompletableFuture<byte[]> put(RdmaConnection server, long key, byte[] value) {
    MessageBuffer request = server.allocateBuffer(9 + value.length);
    request.byteBuffer().put(PUT).putLong(key).put(value).flip();
    return server.request(request).thenApply(KeyValues::value);
  }

  private static byte[] value(MessageBuffer answer) {
    try (answer) { // close each answer
      byte[] value = new byte[answer.byteBuffer().remaining()];
      answer.byteBuffer().get(value);
      return value;
    }
  }

  // end
}
