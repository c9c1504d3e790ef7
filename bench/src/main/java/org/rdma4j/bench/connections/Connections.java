package org.rdma4j.bench.connections;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.NodeStatistics;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.verbs.RemoteMemory;

/**
 * Compares connections with what else sends over the same device, in pairs: ours and the other run
 * in turn.
 */
public final class Connections {
  private static final Duration TIME = Duration.ofSeconds(3);
  private static final int PORT = 18_590;
  private static final int OTHER_PORT = 18_591;
  private static final int VALKEY_PORT = 18_592;

  /** The columns of perftest: bytes, iterations, MiB/s at most, MiB/s, millions of messages. */
  private static final Pattern BANDWIDTH =
      Pattern.compile("(?m)^ *\\d+\\s+\\d+\\s+[\\d.]+\\s+([\\d.]+)\\s+[\\d.]+\\s*$");

  private static final Pattern MESSAGE_RATE =
      Pattern.compile("(?m)^ *\\d+\\s+\\d+\\s+[\\d.]+\\s+[\\d.]+\\s+([\\d.]+)\\s*$");

  /** The time for one connection in each line of cmtime for a step of the set-up. */
  private static final Pattern STEP =
      Pattern.compile("(?m)^(?:create|resolve|connect).*:.*\\s([\\d.]+)\\s*$");

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int THOUSAND = 1000;

  /** Takes minutes, and more memory than a guest has, so it runs only if it is named. */
  private static final String TEN_THOUSAND = "many-10k";

  /** Has room for more connections than a node has by default. */
  static final NodeConfig LARGE = NodeConfig.DEFAULT.maxBuffers(1 << 15);

  private static final int OPENED_TOGETHER = 200;
  private static final int OPENINGS_BEFORE = 7;
  private static final int BUSY = 200;
  private static final int BUSY_BYTES = 64;
  private static final int BUSY_ROUNDS = 40;
  private static final Duration BUSY_TIME = Duration.ofMillis(200);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** How many messages are sent back before the measurement, and in it. */
  private static final String ECHOES_BEFORE = "30000";

  private static final String ECHOES = "20000";

  private static final Pattern PER_ITERATION = Pattern.compile("= ([\\d.]+) usec/iter");

  private static final OperationHandler IGNORE = (token, failure) -> {};

  /** The options that this JVM was started with, for the others. */
  private static final List<String> OPTIONS =
      ManagementFactory.getRuntimeMXBean().getInputArguments();

  private final String java;
  private final String tools;
  private final String device;
  private final String gid;
  private final InetSocketAddress server;
  private final int pairs;

  private Connections(String[] arguments) {
    java = arguments[0];
    tools = arguments[1];
    device = arguments[2];
    gid = arguments[3];
    server = new InetSocketAddress(arguments[4], PORT);
    pairs = Integer.parseInt(arguments[5]);
  }

  /** A measurement over a connection that is open. */
  interface Measurement {
    double measure(RdmaConnection connection, Duration time) throws Exception;
  }

  /** One line of the result. */
  interface Step {
    ConnectionComparison measure() throws Exception;
  }

  /**
   * Measures, and prints a table.
   *
   * @param arguments the java program, the jar of the tools, the device, the index of its GID, its
   *     address, the number of pairs, and the names of the comparisons; without names, all
   */
  public static void main(String[] arguments) throws Exception {
    Connections measurements = new Connections(arguments);
    List<String> names = List.of(arguments).subList(6, arguments.length);
    Map<String, Step> steps = measurements.steps();
    List<ConnectionComparison> results = new ArrayList<>();
    Process peer = measurements.startPeer();
    try {
      for (Map.Entry<String, Step> step : steps.entrySet()) {
        if (names.isEmpty() ? !step.getKey().equals(TEN_THOUSAND) : names.contains(step.getKey())) {
          System.out.println(step.getKey());
          results.add(step.getValue().measure());
        }
      }
    } finally {
      peer.destroy();
    }
    System.out.println();
    System.out.println(ConnectionComparison.header());
    results.forEach(result -> System.out.println(result.row()));
  }

  private Map<String, Step> steps() {
    Map<String, Step> steps = new TreeMap<>();
    steps.put("send-64", () -> sends(64, 0.95, 200_000));
    steps.put("send-4k", () -> sends(4096, 0.95, 60_000));
    steps.put("send-16k", this::pieces);
    steps.put("send-64k", () -> offers(1 << 16, 6_000));
    steps.put("send-1m", () -> offers(1 << 20, 400));
    steps.put("write-64k", () -> remote("ib_write_bw", 6_000, Rates::writes));
    steps.put("read-64k", () -> remote("ib_read_bw", 6_000, Rates::reads));
    steps.put("echo", this::echo);
    steps.put("echo-driven", this::drivenEcho);
    steps.put("echo-async", this::asyncEcho);
    steps.put("allocation", () -> allocation("blocking", "echo", 64, Rates::copiedEchoes));
    steps.put(
        "allocation-handler", () -> allocation("handler", "answer", 64, Rates::handledEchoes));
    steps.put(
        "allocation-16k",
        () -> allocation("16 KiB, blocking", "echo", 1 << 14, Rates::copiedEchoes));
    steps.put("first", this::first);
    steps.put("many", () -> many(RdmaNode.open(), THOUSAND, THOUSAND));
    steps.put(TEN_THOUSAND, () -> many(RdmaNode.open(LARGE), 10 * THOUSAND, 2 * THOUSAND / 10));
    steps.put("open", this::open);
    steps.put("close", this::closeBusy);
    steps.putAll(new ChannelComparisons(server, pairs).steps());
    List<String> jucx = newJava(JucxPeer.class);
    steps.putAll(new JucxComparisons(jucx, device, server, OTHER_PORT, pairs).steps());
    steps.putAll(new ValkeyComparisons(server.getHostString(), VALKEY_PORT, pairs).steps());
    return steps;
  }

  private Process startPeer() throws IOException {
    List<String> command = newJava(Peer.class);
    command.addAll(List.of(server.getHostString(), "" + PORT));
    Process peer =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String line = peer.inputReader().readLine();
    if (!"listening".equals(line)) {
      peer.destroy();
      throw new IOException("the peer did not start, and printed: " + line);
    }
    return peer;
  }

  private RdmaConnection connect() throws InterruptedException {
    return RdmaConnection.connect(server);
  }

  private ConnectionComparison sends(int bytes, double aim, int iterations) throws Exception {
    return bandwidth(
        ConnectionComparison.atLeast(aim, bytes + " B one way", "messages/s"),
        perftest("ib_send_bw", bytes, iterations),
        (connection, time) -> Rates.sends(connection, bytes, time).perSecond(),
        bytes);
  }

  private ConnectionComparison offers(int bytes, int iterations) throws Exception {
    return bandwidth(
        ConnectionComparison.atLeast(0.95, (bytes >> 10) + " KiB one way", "messages/s"),
        perftest("ib_send_bw", bytes, iterations),
        (connection, time) -> Rates.offers(connection, bytes, time).perSecond(),
        bytes);
  }

  /** The same bytes in messages of a quarter of the length. */
  private ConnectionComparison pieces() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atLeast(
            0.9, "64 KiB one way in messages of 16 KiB, beside one message", "pieces/s");
    try (RdmaConnection connection = connect()) {
      Rates.ask(connection, "sink");
      WarmUp.run(connection, time -> Rates.offers(connection, 1 << 14, time));
      WarmUp.run(connection, time -> Rates.offers(connection, 1 << 16, time));
      for (int i = 0; i < pairs; i++) {
        comparison.add(
            Rates.offers(connection, 1 << 14, TIME).perSecond() / 4,
            Rates.offers(connection, 1 << 16, TIME).perSecond());
      }
    }
    return comparison;
  }

  private ConnectionComparison bandwidth(
      ConnectionComparison comparison, OtherPair other, Measurement measurement, int bytes)
      throws Exception {
    try (RdmaConnection connection = connect()) {
      Rates.ask(connection, "sink");
      WarmUp.run(connection, time -> measurement.measure(connection, time));
      for (int i = 0; i < pairs; i++) {
        double our = measurement.measure(connection, TIME);
        comparison.add(our, perSecond(other, bytes));
      }
    }
    return comparison;
  }

  private static double perSecond(OtherPair perftest, int bytes) throws Exception {
    return perftest.run() * (bytes > 4096 ? (1 << 20) / (double) bytes : 1e6);
  }

  /** What is measured with memory of the peer. */
  private interface Remote {
    Rates.Result run(RdmaConnection connection, RemoteMemory memory, Duration time)
        throws Exception;
  }

  private ConnectionComparison remote(String program, int iterations, Remote operation)
      throws Exception {
    int bytes = 1 << 16;
    ConnectionComparison comparison =
        ConnectionComparison.atLeast(0.95, program + " of 64 KiB", "operations/s");
    try (RdmaConnection connection = connect()) {
      RemoteMemory memory = Rates.memoryOf(connection, bytes);
      WarmUp.run(connection, time -> operation.run(connection, memory, time));
      for (int i = 0; i < pairs; i++) {
        double our = operation.run(connection, memory, TIME).perSecond();
        comparison.add(our, perSecond(perftest(program, bytes, iterations), bytes));
      }
    }
    return comparison;
  }

  private ConnectionComparison echo() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(1.1, "echo of 64 B, one outstanding", "us");
    OtherPair pingPong = pingPong();
    try (RdmaConnection connection = connect()) {
      Rates.ask(connection, "echo");
      WarmUp.run(connection, time -> Rates.echoes(connection, 64, time));
      for (int i = 0; i < pairs; i++) {
        comparison.add(Rates.echoes(connection, 64, TIME).result().micros(), pingPong.run());
      }
    }
    return comparison;
  }

  private ConnectionComparison drivenEcho() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(1.1, "echo of 64 B over two driven nodes", "us");
    OtherPair driven =
        OtherPair.withLastFigure(
            drivenEcho("server"), drivenEcho("client"), OTHER_PORT, PER_ITERATION);
    OtherPair pingPong = pingPong();
    for (int i = 0; i < pairs; i++) {
      comparison.add(driven.run(), pingPong.run());
    }
    return comparison;
  }

  private List<String> drivenEcho(String side) {
    List<String> command = newJava(DrivenEcho.class);
    command.addAll(List.of(side, server.getHostString(), "" + OTHER_PORT));
    command.addAll(List.of("64", ECHOES_BEFORE, ECHOES));
    return command;
  }

  private ConnectionComparison asyncEcho() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(
            1.2, "echo of 64 B by sendAsync and a handler, beside blocking calls", "us");
    try (RdmaConnection handled = connect();
        RdmaConnection blocking = connect()) {
      Rates.ask(handled, "answer");
      Rates.ask(blocking, "echo");
      WarmUp.run(handled, time -> Rates.handledEchoes(handled, 64, time));
      WarmUp.run(blocking, time -> Rates.echoes(blocking, 64, time));
      for (int i = 0; i < pairs; i++) {
        comparison.add(
            Rates.handledEchoes(handled, 64, TIME).micros(),
            Rates.echoes(blocking, 64, TIME).result().micros());
      }
    }
    return comparison;
  }

  private OtherPair pingPong() {
    List<String> command = new ArrayList<>(List.of(java));
    command.addAll(OPTIONS);
    command.addAll(List.of("-jar", tools, "rc-pingpong", "-d", device, "-g", gid, "-s", "64"));
    command.addAll(List.of("-n", ECHOES, "--warmup", ECHOES_BEFORE, "-p", "" + OTHER_PORT));
    List<String> client = new ArrayList<>(command);
    client.add("localhost");
    return OtherPair.withLastFigure(command, client, OTHER_PORT, PER_ITERATION);
  }

  /** An echo over a connection that is open. */
  private interface Echo {
    Rates.Result run(RdmaConnection connection, int bytes, Duration time) throws Exception;
  }

  /** Without what the process allocates in the same time while nothing is sent. */
  private ConnectionComparison allocation(String form, String answer, int bytes, Echo echo)
      throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(
            0, "allocation for a message sent and one received, " + form, "B");
    try (RdmaConnection connection = connect()) {
      Rates.ask(connection, answer);
      WarmUp.run(connection, time -> echo.run(connection, bytes, time));
      long begin = THREADS.getTotalThreadAllocatedBytes();
      Thread.sleep(TIME);
      long idle = THREADS.getTotalThreadAllocatedBytes() - begin;
      for (int i = 0; i < pairs; i++) {
        long before = THREADS.getTotalThreadAllocatedBytes();
        long echoes = echo.run(connection, bytes, TIME).operations();
        long busy = THREADS.getTotalThreadAllocatedBytes() - before;
        comparison.add((busy - idle) / (double) echoes);
      }
    }
    return comparison;
  }

  /** Both in a new JVM each time, in which both ends are. */
  private ConnectionComparison first() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(2, "time until half of the warm rate, 64 B", "ms");
    for (int i = 0; i < pairs; i++) {
      comparison.add(firstMessages("connection"), firstMessages("verbs"));
    }
    return comparison;
  }

  private double firstMessages(String kind) throws IOException, InterruptedException {
    List<String> command = newJava(FirstMessages.class);
    command.addAll(List.of(kind, device, gid, server.getHostString()));
    return Double.parseDouble(OtherPair.run(command).strip());
  }

  private List<String> newJava(Class<?> program) {
    List<String> command = new ArrayList<>(List.of(java));
    command.addAll(OPTIONS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    return command;
  }

  /** Echoes over some connections of a node that has many, compared with a node that has 16. */
  private ConnectionComparison many(RdmaNode node, int number, int busy) throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atLeast(
            0.5,
            "echoes over %d of %d connections, beside 16".formatted(busy, number),
            "messages/s");
    try (RdmaNode lots = node;
        RdmaNode few = RdmaNode.open()) {
      List<RdmaConnection> sixteen = open(few, 16);
      long begin = System.nanoTime();
      List<RdmaConnection> all = new ArrayList<>();
      while (all.size() < number) {
        // A server has 1024 handshakes at most, and more at a time would be late.
        all.addAll(open(lots, OPENED_TOGETHER));
      }
      System.out.printf("  opened %d in %d ms%n", number, millisSince(begin));
      List<RdmaConnection> used = all.subList(0, busy);
      for (List<RdmaConnection> each : List.of(sixteen, used)) {
        for (RdmaConnection connection : each) {
          Rates.ask(connection, "answer");
        }
        WarmUp.run(each.getFirst(), time -> Rates.echoesOfAll(each, 64, time));
      }
      for (int i = 0; i < pairs; i++) {
        double rate = Rates.echoesOfAll(used, 64, TIME).perSecond();
        comparison.add(rate, Rates.echoesOfAll(sixteen, 64, TIME).perSecond());
      }
      NodeStatistics held = lots.statistics();
      System.out.printf(
          "  %d connections: %d buffers of %d bytes, of which %d are posted; %d files, %d threads%n",
          number,
          held.buffers(),
          lots.config().bufferBytes(),
          held.postedReceives(),
          openFiles(),
          THREADS.getThreadCount());
      close(sixteen);
      begin = System.nanoTime();
      close(all);
      System.out.printf("  closed %d in %d ms%n", number, millisSince(begin));
    }
    return comparison;
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  private static long openFiles() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  private List<RdmaConnection> open(RdmaNode node, int number) throws Exception {
    List<Future<RdmaConnection>> opening = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < number; i++) {
        opening.add(threads.submit(() -> node.connect(server, PATIENCE)));
      }
    }
    List<RdmaConnection> open = new ArrayList<>();
    for (Future<RdmaConnection> each : opening) {
      open.add(each.get());
    }
    return open;
  }

  /** The connections of one side at once, as cmtime does it. */
  private ConnectionComparison open() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(1.2, "opening a connection, 1000 at once, warm", "us");
    List<String> serving = List.of("cmtime", "-b", server.getHostString(), "-p", "" + OTHER_PORT);
    List<String> client =
        List.of("cmtime", "-s", server.getHostString(), "-p", "" + OTHER_PORT, "-c", "" + THOUSAND);
    OtherPair cmtime = new OtherPair(serving, client, OTHER_PORT, STEP, Double::sum);
    double cold = openAndClose();
    // What sets up a connection runs a few times for each, and is compiled only after some rounds.
    for (int i = 1; i < OPENINGS_BEFORE; i++) {
      openAndClose();
    }
    System.out.printf("  the first 1000 connections of this process: %.0f us each%n", cold);
    for (int i = 0; i < pairs; i++) {
      comparison.add(openAndClose(), cmtime.run());
    }
    return comparison;
  }

  /** Closes the connections before their node, so that the peer has room for the next thousand. */
  private static void close(List<RdmaConnection> connections) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      connections.forEach(each -> threads.execute(each::close));
    }
  }

  private double openAndClose() throws Exception {
    try (RdmaNode node = RdmaNode.open()) {
      open(node, 1);
      long begin = System.nanoTime();
      List<RdmaConnection> thousand = open(node, THOUSAND);
      double micros = (System.nanoTime() - begin) / 1e3 / THOUSAND;
      close(thousand);
      return micros;
    }
  }

  /** Closes a node whose connections are all in use, again and again. */
  private ConnectionComparison closeBusy() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(
            (double) NodeConfig.DEFAULT.closeTimeout().toMillis(),
            "closing a node with 200 busy connections, the longest of 40",
            "ms");
    for (int i = 0; i < pairs; i++) {
      double longest = 0;
      for (int j = 0; j < BUSY_ROUNDS; j++) {
        longest = Math.max(longest, closeBusyOnce());
      }
      comparison.add(longest);
    }
    return comparison;
  }

  private double closeBusyOnce() throws Exception {
    long begin;
    try (RdmaNode node = RdmaNode.open()) {
      for (RdmaConnection connection : open(node, BUSY)) {
        Rates.ask(connection, "answer");
        connection.onMessage(message -> answer(connection, message));
        connection.sendAsync(connection.allocateBuffer(BUSY_BYTES), 0, IGNORE);
      }
      Thread.sleep(BUSY_TIME);
      begin = System.nanoTime();
    }
    return (System.nanoTime() - begin) / 1e6;
  }

  private static void answer(RdmaConnection connection, MessageBuffer message) {
    try {
      connection.sendAsync(message, 0, IGNORE);
    } catch (IllegalStateException | RdmaException closed) {
      message.close();
    }
  }

  private OtherPair perftest(String program, int bytes, int iterations) {
    List<String> command = new ArrayList<>(List.of(program, "-d", device, "-x", gid));
    command.addAll(List.of("-s", "" + bytes, "-n", "" + iterations, "-p", "" + OTHER_PORT));
    command.addAll(List.of("-t", "" + Rates.OUTSTANDING, "-F"));
    List<String> client = new ArrayList<>(command);
    client.add("localhost");
    return OtherPair.withLastFigure(
        command, client, OTHER_PORT, bytes > 4096 ? BANDWIDTH : MESSAGE_RATE);
  }
}
