package org.rdma4j.valkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.RemoteMemory;

/** Servers that lie: each lie ends as an IOException that names it, and never as bytes. */
@Tag("device")
@Timeout(60)
final class HostileServerTest {
  private static final int BUFFER = 4096;

  private final ProtocolServer server = new ProtocolServer(BUFFER);

  @AfterEach
  void close() {
    server.close();
  }

  /** What a server does after the features were exchanged, while the client reads. */
  enum Lie {
    MORE_THAN_THE_BUFFER("it announced 4097 bytes", peer -> announce(peer, BUFFER + 1)),
    MORE_THAN_4_GIB("it announced 4294967295 bytes", peer -> announce(peer, -1)),
    LESS_THAN_WRITTEN(
        "it announced 7 bytes with a write of 8 bytes",
        peer -> peer.writeAt(peer.clientBuffer().address(), peer.clientBuffer().key(), 8, 7)),
    UNKNOWN_KIND("kind 65535", peer -> peer.control(0xffff)),
    MESSAGE_OF_CLIENTS("kind 1", peer -> peer.control(ControlMessage.SET_CLIENT_FEATURE)),
    FEATURES_AGAIN("kind 0", peer -> peer.control(ControlMessage.GET_SERVER_FEATURE)),
    SHORT_MESSAGE("a message of 31 bytes", peer -> peer.send(31)),
    EMPTY_MESSAGE("a message of 0 bytes", peer -> peer.send(0)),
    // Devices name it differently.
    LONG_MESSAGE("LOCAL_LENGTH_ERROR|LOCAL_QUEUE_PAIR_OPERATION_ERROR", peer -> peer.send(33)),
    MESSAGE_WITH_IMMEDIATE("without immediate data", peer -> peer.sendWithImmediate(32, 5)),
    BUFFER_TOO_EARLY(
        "it named another buffer while 4096 bytes",
        peer -> peer.register(RemoteMemory.of(peer.buffer))),
    EMPTY_BUFFER(
        "a buffer of 0 bytes",
        peer -> peer.register(new RemoteMemory(peer.buffer.remoteAddress(), 0, 0))),
    WRITE_BEHIND_THE_BUFFER(
        "a write outside the buffer|closed the connection|REMOTE_ACCESS_ERROR",
        peer ->
            peer.writeAt(peer.clientBuffer().address() + BUFFER, peer.clientBuffer().key(), 8, 8)),
    WRONG_KEY(
        "a write outside the buffer|closed the connection|REMOTE_ACCESS_ERROR",
        peer ->
            peer.writeAt(peer.clientBuffer().address(), peer.clientBuffer().key() ^ 0x100, 8, 8));

    final String message;

    @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
    final ProtocolServer.Part part;

    Lie(String message, ProtocolServer.Part part) {
      this.message = message;
      this.part = part;
    }

    private static void announce(ProtocolServer.Peer peer, int bytes) throws Exception {
      peer.writeAt(peer.clientBuffer().address(), peer.clientBuffer().key(), 8, bytes);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aLieEndsTheConnection(Lie lie) throws Exception {
    FutureTask<Void> served = server.serve(lie.part);
    try (ValkeySocket socket = new ValkeySocket()) {
      socket.setReceiveBufferSize(BUFFER);
      socket.setSoTimeout(10_000);
      socket.connect(server.address(), 10_000);
      byte[] read = new byte[16];
      assertThatThrownBy(() -> socket.getInputStream().read(read))
          .isInstanceOf(IOException.class)
          .hasMessageMatching(".*(" + lie.message + ").*");
      assertThat(read).containsOnly(0);
      assertThatThrownBy(() -> socket.getOutputStream().write(1))
          .as("a write after it")
          .isInstanceOf(IOException.class)
          .hasMessageMatching(".*(" + lie.message + ").*");
    }
    isDone(served);
  }

  private static void isDone(FutureTask<Void> task) {
    try {
      ProtocolServer.get(task);
    } catch (Exception refused) {
      // Some lies are refused by the device, which the server learns.
      assertThat(refused).hasRootCauseInstanceOf(RdmaException.class);
    }
  }

  /** What a server says about its buffer, while the client writes. */
  enum FalseName {
    KEY(
        peer ->
            new RemoteMemory(peer.buffer.remoteAddress(), peer.buffer.remoteKey() ^ 0x100, BUFFER)),
    ADDRESS(peer -> new RemoteMemory(0x1000, peer.buffer.remoteKey(), BUFFER)),
    LENGTH(
        peer ->
            new RemoteMemory(peer.buffer.remoteAddress(), peer.buffer.remoteKey(), 0xffff_ffffL));

    @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
    final Function<ProtocolServer.Peer, RemoteMemory> name;

    FalseName(Function<ProtocolServer.Peer, RemoteMemory> name) {
      this.name = name;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBufferThatIsNotThereEndsTheConnection(FalseName lie) throws Exception {
    FutureTask<Void> served =
        server.accept(
            peer -> {
              peer.answerFeatures();
              peer.register(lie.name.apply(peer));
              peer.await(() -> false);
            });
    try (ValkeySocket socket = new ValkeySocket()) {
      socket.setSoTimeout(10_000);
      socket.connect(server.address(), 10_000);
      assertThatThrownBy(
              () -> {
                socket.getOutputStream().write(new byte[3 * BUFFER]);
                socket.getInputStream().read();
              })
          .isInstanceOf(IOException.class)
          .hasMessageContaining("REMOTE_ACCESS_ERROR");
    }
    isDone(served);
  }

  /** What a server does instead of the exchange of features. */
  enum BadBeginning {
    BYTES_FIRST("before it knew where to", 20_000, peer -> peer.writeAt(0, 0, 0, 0)),
    GARBAGE("unexpected message of kind 257", 20_000, peer -> peer.control(257)),
    SILENCE("answer", 1000, peer -> Thread.sleep(1500)),
    HALF(
        "answer",
        1000,
        peer -> {
          peer.answerFeatures();
          Thread.sleep(1500);
        }),
    END("closed the connection", 20_000, peer -> {});

    final String message;
    final int timeout;

    @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
    final ProtocolServer.Part part;

    BadBeginning(String message, int timeout, ProtocolServer.Part part) {
      this.message = message;
      this.timeout = timeout;
      this.part = part;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBadBeginningFailsTheConnect(BadBeginning beginning) throws Exception {
    FutureTask<Void> served = server.accept(beginning.part);
    try (ValkeySocket socket = new ValkeySocket()) {
      assertThatThrownBy(() -> socket.connect(server.address(), beginning.timeout))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(beginning.message);
      assertThat(socket.isConnected()).isFalse();
    }
    isDone(served);
  }
}
