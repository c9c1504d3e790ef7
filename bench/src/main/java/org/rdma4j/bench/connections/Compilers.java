package org.rdma4j.bench.connections;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;

/** How long the compilers of the JVMs have worked, on both sides of a connection. */
final class Compilers {
  private static final CompilationMXBean HERE = ManagementFactory.getCompilationMXBean();

  private Compilers() {}

  /** Returns the milliseconds of this JVM. */
  static long millisHere() {
    return HERE.getTotalCompilationTime();
  }

  /** Returns the milliseconds of this JVM, as the answer to a request. */
  static ByteBuffer write() {
    return ByteBuffer.allocate(Long.BYTES).putLong(millisHere()).flip();
  }

  /** Returns the milliseconds of both JVMs; the peer answers a request for its own. */
  static long millis(RdmaConnection connection) throws InterruptedException, ExecutionException {
    try (MessageBuffer answer = connection.request(ByteBuffer.allocate(0)).get()) {
      return millisHere() + answer.byteBuffer().getLong();
    }
  }
}
