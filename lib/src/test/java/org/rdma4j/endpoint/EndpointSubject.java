package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.soak.Link;
import org.rdma4j.soak.Subject;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Mtu;

/** Endpoints, and peers that break their handshake in every way. */
@SuppressWarnings("exports") // nobody but Soak uses it
public final class EndpointSubject implements Subject {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** How long the server waits for a message; an endpoint is not told that its peer is gone. */
  private static final Duration SILENCE = Duration.ofSeconds(20);

  private static final EndpointConfig CONFIG =
      EndpointConfig.DEFAULT.bufferBytes(2 * Link.MAX_BYTES).sendDepth(2).receiveDepth(2);

  /** Ways to break the handshake. */
  private enum Lie {
    SILENT,
    NOISE,
    CHANGED_HELLO,
    RANDOM_ADDRESS,
    NEVER_READY,
    WRONG_READY,
    SLOW,
    MISSING_QUEUE_PAIR
  }

  private final EndpointListener listener;
  private final EndpointAddress real;

  /** Starts to listen. */
  public EndpointSubject() throws Exception {
    listener = Endpoint.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONFIG);
    try (LocalDevice device = LocalDevice.open()) {
      real = device.address();
    }
  }

  /** A device, for an address that was once valid. */
  private record LocalDevice(LocalPort port, EndpointAddress address) implements AutoCloseable {
    static LocalDevice open() {
      LocalPort port = LocalPort.open(CONFIG);
      return new LocalDevice(
          port, LocalEnd.create(port, CONFIG, new InetSocketAddress(0)).address());
    }

    @Override
    public void close() {
      port.device().close();
    }
  }

  @Override
  public InetSocketAddress address() {
    return listener.address();
  }

  @Override
  public @Nullable Link accept() throws Exception {
    try {
      return new EndpointLink(listener.accept(Duration.ofSeconds(5)), SILENCE);
    } catch (SocketTimeoutException nobody) {
      return null;
    }
  }

  @Override
  public boolean mayThrow(Exception failure) {
    return failure instanceof HandshakeException;
  }

  @Override
  public Link connect(InetSocketAddress server) throws Exception {
    return new EndpointLink(Endpoint.connect(server, CONFIG, PATIENCE), PATIENCE);
  }

  /** Messages go from the first half of the buffer into the second half. */
  private record EndpointLink(Endpoint endpoint, Duration silence) implements Link {
    private static final long RECEIVE = 0;
    private static final long SEND = 1;

    private EndpointLink {
      endpoint.postReceive(RECEIVE, MAX_BYTES, MAX_BYTES);
    }

    @Override
    public void send(byte[] message) throws Exception {
      endpoint.buffer().byteBuffer().put(0, message);
      endpoint.postSend(SEND, 0, message.length);
      endpoint.await(SEND, PATIENCE);
    }

    @Override
    public byte @Nullable [] receive() throws Exception {
      try {
        byte[] message = new byte[(int) endpoint.await(RECEIVE, silence).bytes()];
        endpoint.buffer().byteBuffer().get(MAX_BYTES, message);
        endpoint.postReceive(RECEIVE, MAX_BYTES, MAX_BYTES);
        return message;
      } catch (TimeoutException silent) {
        return null;
      }
    }

    @Override
    public void close() {
      endpoint.close();
    }
  }

  @Override
  public void fuzz(Random random) throws Exception {
    if (random.nextBoolean()) {
      send(random, randomAddress(random), Lie.RANDOM_ADDRESS);
    } else {
      send(random, changed(random), Lie.CHANGED_HELLO);
    }
  }

  @Override
  public String lie(Random random) throws Exception {
    Lie lie = any(random, Lie.values());
    byte[] hello =
        switch (lie) {
          case SILENT -> new byte[0];
          case NOISE -> bytes(random, random.nextInt(1, 200));
          case CHANGED_HELLO -> changed(random);
          case RANDOM_ADDRESS -> randomAddress(random);
          case NEVER_READY, WRONG_READY, SLOW, MISSING_QUEUE_PAIR -> hello(real);
        };
    send(random, hello, lie);
    return "lied, " + lie;
  }

  private void send(Random random, byte[] hello, Lie lie) throws Exception {
    try (Socket socket = new Socket(address().getAddress(), address().getPort())) {
      if (random.nextBoolean()) {
        socket.setSoLinger(true, 0);
      }
      socket.setSoTimeout(random.nextInt(1, lie == Lie.SILENT ? 3000 : 500));
      for (int i = 0; i < hello.length && lie == Lie.SLOW; i++) {
        socket.getOutputStream().write(hello[i]);
        Thread.sleep(10);
      }
      if (lie != Lie.SLOW) {
        socket.getOutputStream().write(hello);
      }
      read(socket, IncomingMessage.Kind.ADDRESS.encode(new byte[EndpointAddress.ENCODED_BYTES]));
      switch (lie) {
        case WRONG_READY -> socket.getOutputStream().write(bytes(random, 16));
        case MISSING_QUEUE_PAIR -> {
          socket.getOutputStream().write(IncomingMessage.Kind.READY.encode(new byte[0]).array());
          read(socket, IncomingMessage.Kind.ACCEPTED.encode(new byte[0]));
        }
        default -> socket.shutdownOutput();
      }
    }
  }

  /** Reads a message of the server of this form, if it comes soon. */
  private static void read(Socket socket, ByteBuffer form) throws IOException {
    try {
      socket.getInputStream().readNBytes(form.limit());
    } catch (SocketTimeoutException none) {
      socket.setSoTimeout(1);
    }
  }

  private byte[] changed(Random random) {
    byte[] hello = hello(real);
    for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
      hello[random.nextInt(hello.length)] = (byte) random.nextInt();
    }
    return hello;
  }

  /** Returns an address each part of which is real or random. */
  private byte[] randomAddress(Random random) {
    QueuePairAddress own = real.queuePair();
    return hello(
        new EndpointAddress(
            new QueuePairAddress(
                random.nextBoolean() ? own.lid() : random.nextInt(1 << 16),
                random.nextInt(1 << 24),
                random.nextInt(1 << 24),
                random.nextBoolean() ? own.gid() : new Gid(random.nextLong(), random.nextLong())),
            any(random, Mtu.values()),
            random.nextInt(256),
            random.nextLong(),
            random.nextInt(),
            random.nextLong(1, Long.MAX_VALUE)));
  }

  private static <T> T any(Random random, T[] values) {
    return values[random.nextInt(values.length)];
  }

  private static byte[] hello(EndpointAddress address) {
    return IncomingMessage.Kind.ADDRESS.encode(address.encode()).array();
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
