package org.rdma4j.tools.perftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.WorkCompletionException;

/** The channel over a connection of the connection manager, on which addresses are structs. */
final class CmControl implements Control {
  static final ConnectionConfig PARAMETERS =
      ConnectionConfig.DEFAULT.remoteReads(0).reads(0).retries(7).rnrRetries(7);

  /** The peer's messages have this id; the number has no meaning. */
  private static final long ID = 5;

  private static final Duration SLICE = Duration.ofMillis(100);

  private final SynchronousCmId id;
  private final boolean server;
  private final String program;
  private final Duration timeout;
  private final SimpleMessages messages;
  private final MemoryRegion memory;

  private CmControl(SynchronousCmId id, boolean server, String program, Duration timeout) {
    this.id = id;
    this.server = server;
    this.program = program;
    this.timeout = timeout;
    messages = SimpleMessages.create(id.id(), 1, 1);
    memory = messages.registerMessages(2 * Keys.STRUCT_BYTES);
    postReceive();
  }

  /** Connects to a server. */
  static CmControl connect(InetSocketAddress server, String program, Duration timeout)
      throws InterruptedException, TimeoutException {
    SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP);
    try {
      id.resolveAddress(server, timeout);
      id.resolveRoute(timeout);
      CmControl control = new CmControl(id, false, program, timeout);
      id.connect(PARAMETERS, timeout);
      return control;
    } catch (ConnectionRejectedException refused) {
      id.close();
      throw new Failure(
          "no server listens with -R at %s; start it first, with the same command but without a server name"
              .formatted(server),
          refused);
    } catch (RuntimeException | InterruptedException | TimeoutException failed) {
      id.close();
      throw failed;
    }
  }

  /** Waits for a client, then stops listening. */
  static CmControl accept(int port, String program, Duration timeout)
      throws InterruptedException, TimeoutException {
    SynchronousCmId id;
    try (SynchronousCmId listener = listen(PortSpace.TCP, port, 1)) {
      id =
          listener
              .awaitRequest(timeout)
              .orElseThrow(
                  () ->
                      new Failure(
                          "no client connected to port %d of the connection manager within %d s; start the client with -R, or wait longer with --timeout"
                              .formatted(port, timeout.toSeconds())));
    }
    try {
      CmControl control = new CmControl(id, true, program, timeout);
      id.accept(PARAMETERS, timeout);
      return control;
    } catch (RuntimeException | InterruptedException | TimeoutException failed) {
      id.close();
      throw failed;
    }
  }

  /** Listens on all addresses of this machine. */
  static SynchronousCmId listen(PortSpace space, int port, int backlog) {
    SynchronousCmId listener = SynchronousCmId.open(space);
    try {
      listener.id().bind(new InetSocketAddress(port));
      listener.id().listen(backlog);
      return listener;
    } catch (RdmaException failed) {
      listener.close();
      throw new Failure(
          "cannot listen on port %d of the connection manager (%s); end the program that uses it, or give both sides another -p"
              .formatted(port, failed.getMessage()),
          failed);
    }
  }

  /** Returns the device that leads to the peer. */
  RdmaDevice device() {
    return id.id().device();
  }

  /** Returns the port of the device. */
  int port() {
    return id.id().port();
  }

  @Override
  public byte[] exchange(byte[] mine, boolean patiently) {
    try {
      if (!server) {
        send(mine);
        return receive(mine.length, patiently);
      }
      byte[] theirs = receive(mine.length, patiently);
      send(mine);
      return theirs;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while waiting for the peer", interrupted);
    } catch (WorkCompletionException failed) {
      throw closed(failed);
    }
  }

  @Override
  public Keys exchange(Keys mine, boolean patiently) {
    return Keys.ofStruct(exchange(mine.toStruct(), patiently));
  }

  private void send(byte[] message) throws InterruptedException {
    MemorySegment.copy(message, 0, memory.segment(), ValueLayout.JAVA_BYTE, 0, message.length);
    messages.postSend(ID, memory.slice(0, message.length));
    if (messages.awaitSend(timeout).isEmpty()) {
      throw new Failure(
          "the peer did not take a message within %d s; check its output"
              .formatted(timeout.toSeconds()));
    }
  }

  private byte[] receive(int bytes, boolean patiently) throws InterruptedException {
    SimpleMessages.Completed received = awaitReceive(patiently ? Patience.WHOLE_TEST : timeout);
    if (received.bytes() != bytes) {
      throw new Failure(
          "the peer sent %d bytes where %d are due; check that it is %s, with the same options"
              .formatted(received.bytes(), bytes, program));
    }
    byte[] message = new byte[bytes];
    MemorySegment.copy(
        memory.segment(), ValueLayout.JAVA_BYTE, Keys.STRUCT_BYTES, message, 0, bytes);
    postReceive();
    return message;
  }

  private SimpleMessages.Completed awaitReceive(Duration limit) throws InterruptedException {
    long began = System.nanoTime();
    while (true) {
      Optional<SimpleMessages.Completed> received = messages.awaitReceive(SLICE);
      if (received.isPresent()) {
        return received.get();
      }
      if (id.awaitDisconnected(Duration.ZERO)) {
        throw closed(null);
      }
      if (System.nanoTime() - began > limit.toNanos()) {
        throw new Failure(
            "the peer was silent for %d s; check that it is %s, with the same options"
                .formatted(limit.toSeconds(), program));
      }
    }
  }

  private Failure closed(@Nullable Exception cause) {
    String message =
        "the peer closed the connection; check its output, and that it is %s with the same options"
            .formatted(program);
    return cause == null ? new Failure(message) : new Failure(message, cause);
  }

  private void postReceive() {
    messages.postReceive(ID, memory.slice(Keys.STRUCT_BYTES, Keys.STRUCT_BYTES));
  }

  @Override
  public void end() {
    // The last message was the end.
  }

  @Override
  public void close() {
    messages.close();
    id.close();
  }
}
