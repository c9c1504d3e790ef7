package org.rdma4j.bench.connections;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpConnectionRequest;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpListener;
import org.openucx.jucx.ucp.UcpListenerParams;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * One of two processes that send each other tagged messages with jucx, the Java binding of UCX. The
 * environment says over which device: {@code UCX_TLS}, {@code UCX_NET_DEVICES}. The client tells
 * the server over TCP what to do.
 */
public final class JucxPeer {
  /** How many messages of a stream are outstanding, and how many receives wait for them. */
  static final int OUTSTANDING = 32;

  private static final int RECEIVES = 2 * OUTSTANDING;
  private static final long TAG = 1;
  private static final long ALL_BITS = -1;

  private final UcpWorker worker;
  private final UcpEndpoint endpoint;
  private final Task task;

  private JucxPeer(UcpWorker worker, UcpEndpoint endpoint, Task task) {
    this.worker = worker;
    this.endpoint = endpoint;
    this.task = task;
  }

  /** What both processes do, of which the client tells the server. */
  private record Task(String name, int bytes, int warmUp, int messages) {
    void write(DataOutputStream out) throws IOException {
      out.writeUTF(name);
      out.writeInt(bytes);
      out.writeInt(warmUp);
      out.writeInt(messages);
    }

    static Task read(DataInputStream in) throws IOException {
      return new Task(in.readUTF(), in.readInt(), in.readInt(), in.readInt());
    }

    int total() {
      return warmUp + messages;
    }
  }

  /**
   * Runs one side.
   *
   * @param arguments the address and the port, and for the client also: {@code echo}, {@code
   *     stream}, or {@code stream-heap}, whose messages are copied out of heap memory; the bytes of
   *     a message; the messages of the warm-up and those that are measured
   */
  public static void main(String[] arguments) throws Exception {
    InetSocketAddress server = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    try (UcpContext context = new UcpContext(new UcpParams().requestTagFeature());
        UcpWorker worker = context.newWorker(new UcpWorkerParams())) {
      if (arguments.length == 2) {
        serve(worker, server);
      } else {
        Task task =
            new Task(
                arguments[2],
                Integer.parseInt(arguments[3]),
                Integer.parseInt(arguments[4]),
                Integer.parseInt(arguments[5]));
        measure(worker, server, task);
      }
    }
  }

  private static void serve(UcpWorker worker, InetSocketAddress local) throws Exception {
    AtomicReference<UcpConnectionRequest> client = new AtomicReference<>();
    UcpListenerParams listening =
        new UcpListenerParams().setSockAddr(local).setConnectionHandler(client::set);
    try (UcpListener requests = worker.newListener(listening);
        ServerSocket tasks =
            new ServerSocket(local.getPort(), 1, InetAddress.getLoopbackAddress());
        Socket socket = tasks.accept()) {
      System.out.println("listens at " + requests.getAddress());
      Task task = Task.read(new DataInputStream(socket.getInputStream()));
      while (client.get() == null) {
        worker.progress();
      }
      try (UcpEndpoint endpoint =
          worker.newEndpoint(new UcpEndpointParams().setConnectionRequest(client.get()))) {
        JucxPeer peer = new JucxPeer(worker, endpoint, task);
        if (task.name().equals("echo")) {
          peer.answer();
        } else {
          peer.receive();
        }
        peer.progressUntilEnd(socket);
      }
    }
  }

  private static void measure(UcpWorker worker, InetSocketAddress server, Task task)
      throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getPort());
        UcpEndpoint endpoint =
            worker.newEndpoint(new UcpEndpointParams().setSocketAddress(server))) {
      task.write(new DataOutputStream(socket.getOutputStream()));
      JucxPeer peer = new JucxPeer(worker, endpoint, task);
      if (task.name().equals("echo")) {
        peer.echo();
      } else {
        peer.stream();
      }
    }
  }

  private UcpRequest receive(ByteBuffer target) {
    return worker.recvTaggedNonBlocking(target.clear(), TAG, ALL_BITS, Failing.CALLBACK);
  }

  private UcpRequest send(ByteBuffer source) {
    return endpoint.sendTaggedNonBlocking(source.clear(), TAG, Failing.CALLBACK);
  }

  /** UCX calls this for each request; only a failure matters. */
  private static final class Failing extends UcxCallback {
    static final UcxCallback CALLBACK = new Failing();

    @Override
    public void onError(int status, String message) {
      throw new UcxException(message);
    }
  }

  private void await(UcpRequest request) throws Exception {
    while (!request.isCompleted()) {
      worker.progress();
    }
  }

  // ---- Echo

  /** Prints the mean and the median of the times there and back. */
  private void echo() throws Exception {
    ByteBuffer sent = ByteBuffer.allocateDirect(task.bytes());
    ByteBuffer received = ByteBuffer.allocateDirect(task.bytes());
    Histogram times = new Histogram(3);
    long begin = System.nanoTime();
    for (int i = 0; i < task.total(); i++) {
      if (i == task.warmUp()) {
        times.reset();
        begin = System.nanoTime();
      }
      long before = System.nanoTime();
      UcpRequest back = receive(received);
      await(send(sent));
      await(back);
      times.recordValue(System.nanoTime() - before);
    }
    double mean = (System.nanoTime() - begin) / 1e3 / task.messages();
    System.out.printf(
        Locale.ROOT, "mean %.3f us, median %.3f us%n", mean, times.getValueAtPercentile(50) / 1e3);
  }

  private void answer() throws Exception {
    ByteBuffer message = ByteBuffer.allocateDirect(task.bytes());
    for (int i = 0; i < task.total(); i++) {
      await(receive(message));
      await(send(message));
    }
  }

  // ---- Stream

  /** Prints the messages for each second. */
  private void stream() throws Exception {
    boolean copies = task.name().equals("stream-heap");
    ByteBuffer heap = ByteBuffer.allocate(task.bytes());
    ByteBuffer[] sources = new ByteBuffer[OUTSTANDING];
    for (int i = 0; i < OUTSTANDING; i++) {
      sources[i] = ByteBuffer.allocateDirect(task.bytes());
    }
    UcpRequest[] requests = new UcpRequest[OUTSTANDING];
    long begin = System.nanoTime();
    for (int i = 0; i < task.total() + OUTSTANDING; i++) {
      if (i == task.warmUp() + OUTSTANDING) {
        begin = System.nanoTime();
      }
      int slot = i % OUTSTANDING;
      if (requests[slot] != null) {
        await(requests[slot]);
      }
      if (i < task.total()) {
        if (copies) {
          sources[slot].clear().put(heap.clear());
        }
        requests[slot] = send(sources[slot]);
      }
    }
    double seconds = (System.nanoTime() - begin) / (double) TimeUnit.SECONDS.toNanos(1);
    System.out.printf(Locale.ROOT, "%.3f messages/s%n", task.messages() / seconds);
  }

  private void receive() throws Exception {
    ByteBuffer[] targets = new ByteBuffer[RECEIVES];
    UcpRequest[] requests = new UcpRequest[RECEIVES];
    for (int i = 0; i < task.total() + RECEIVES; i++) {
      int slot = i % RECEIVES;
      if (requests[slot] != null) {
        await(requests[slot]);
      } else {
        targets[slot] = ByteBuffer.allocateDirect(task.bytes());
      }
      if (i < task.total()) {
        requests[slot] = receive(targets[slot]);
      }
    }
  }

  /** The client may still need the answers of this side to what it has sent. */
  private void progressUntilEnd(Socket socket) throws Exception {
    Thread end = Thread.ofPlatform().daemon().start(() -> awaitEnd(socket));
    try {
      while (end.isAlive()) {
        worker.progress();
      }
    } catch (UcxException ended) {
      // The client has closed its endpoint, which UCX reports as a failure.
    }
  }

  private static void awaitEnd(Socket socket) {
    try {
      var unused = socket.getInputStream().read();
    } catch (IOException reset) {
      // The client is gone.
    }
  }
}
