package org.rdma4j.nio;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.nio.handover.Proof;

/**
 * Where the RDMA connections of this process meet the channels that they belong to: listens next to
 * channels that listen, connects for channels that have connected, and lets both sides prove it.
 *
 * <p>All of it happens in other threads, so that no program waits for it. Whatever fails leaves the
 * channel with TCP.
 */
final class Rendezvous {
  /** From where to where the TCP connections of some channels go. */
  private record Route(InetAddress local, InetSocketAddress server) {}

  /**
   * The longest message that needs no RDMA read: with its header of 16 bytes a whole number of
   * packets.
   */
  static final int PIECE = (16 << 10) - 16;

  /** The memory of a channel for messages longer than a piece: as many as a channel sends. */
  private static final long MAX_BYTES = RdmaStream.WINDOW;

  /**
   * The length of the longest message of a peer without a proof. A claim has a few hundred bytes.
   */
  private static final int UNPROVEN_BYTES = 4 << 10;

  /** The limits are much lower than by default, because peers are not authenticated at first. */
  private static final NodeConfig CONFIG =
      NodeConfig.DEFAULT
          .bufferBytes(PIECE)
          .maxMessageBytes(MAX_BYTES)
          .initialMessageBytes(UNPROVEN_BYTES);

  /**
   * The maximum number of RDMA connections without a proof of the peer: those of many clients,
   * because one connects for {@link #MAX_CLAIMS} channels at the same time.
   */
  private static final int MAX_UNPROVEN = 256;

  /**
   * The maximum number of channels for which a client connects to a server at the same time. Others
   * wait: if all did concurrently, the last ones would not be answered in time, and would stay on
   * TCP.
   */
  private static final int MAX_CLAIMS = 16;

  private static final int MAX_REFUSALS = 1024;

  /** How many channels in a row a server may not know until others are not tried for a while. */
  private static final int MAX_UNKNOWN = 256;

  /**
   * How long a client waits before it tries again to connect to a server that does not listen over
   * RDMA. Each later pause is twice as long, up to {@link #LONGEST_PAUSE_MILLIS}.
   */
  private static final long FIRST_PAUSE_MILLIS = 100;

  private static final long LONGEST_PAUSE_MILLIS = 1600;

  /** How long a listener waits until it tries again to get a port that another one has. */
  private static final long BIND_PAUSE_MILLIS = 20;

  /**
   * The maximum number of channels that try again to connect to a server at the same time. Others
   * give up immediately.
   */
  private static final int MAX_TRYING_AGAIN = 64;

  /** A runtime may lack the module. */
  private static final boolean HAS_RECORDER = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private final ChannelSettings settings;
  private final UsableDevices devices;
  private final MemoryBudget memory;
  private final Map<String, Upgrade> accepted = new ConcurrentHashMap<>();
  private final Map<InetSocketAddress, Long> refusals = new ConcurrentHashMap<>();

  /** Which servers cannot be reached over RDMA from an address of this side, and until when. */
  private final Map<Route, Long> routes = new ConcurrentHashMap<>();

  private final Semaphore unproven = new Semaphore(MAX_UNPROVEN);
  private final Turns<InetSocketAddress> claims = new Turns<>(MAX_CLAIMS);
  private final Turns<InetSocketAddress> tryingAgain = new Turns<>(MAX_TRYING_AGAIN);
  private final Set<Upgrade> overRdma = ConcurrentHashMap.newKeySet();
  private final Map<InetSocketAddress, Integer> unknown = new ConcurrentHashMap<>();
  private final AtomicBoolean logged = new AtomicBoolean();
  private final AtomicBoolean loggedOneSided = new AtomicBoolean();
  private final AtomicBoolean loggedMemory = new AtomicBoolean();
  private final AtomicBoolean loggedThisHost = new AtomicBoolean();
  private final AtomicBoolean looksForLate = new AtomicBoolean();
  private final Exit exit = new Exit(overRdma);
  private final Marks marks = new Marks(this, overRdma);
  private final TcpTable tcpTable = new TcpTable();
  private final AtomicLong upgraded = new AtomicLong();
  private final AtomicLong stayed = new AtomicLong();
  private final AtomicLong resumed = new AtomicLong();
  private final ChannelRegister register = new ChannelRegister();
  private final ChannelsBean bean = new ChannelsBean(this);
  private final LongAdder sentBytes = new LongAdder();
  private final LongAdder receivedBytes = new LongAdder();
  private final ScheduledThreadPoolExecutor timer = timer();
  private volatile boolean available;
  private volatile @Nullable RdmaNode node;
  private volatile @Nullable String whyUnavailable;

  Rendezvous(ChannelSettings settings) {
    this.settings = settings;
    this.devices = new UsableDevices(settings.allDevices());
    this.memory = new MemoryBudget(settings.maxRegisteredBytes());
    this.available = settings.enabled();
  }

  Proof proof() {
    return settings.proof();
  }

  /** Returns the time that a peer has for its part of the handover. */
  Duration timeout() {
    return settings.timeout();
  }

  Exit exit() {
    return exit;
  }

  Marks marks() {
    return marks;
  }

  MemoryBudget memory() {
    return memory;
  }

  TcpTable tcpTable() {
    return tcpTable;
  }

  ChannelStatistics statistics() {
    RdmaNode open = node;
    return new ChannelStatistics(
        upgraded.get(),
        stayed.get(),
        resumed.get(),
        sentBytes.sum(),
        receivedBytes.sum(),
        register.tcpSent().sum(),
        register.tcpReceived().sum(),
        open == null ? 0 : MemoryBudget.registered(open.statistics()),
        register.stayedByReason());
  }

  ChannelsBean bean() {
    return bean;
  }

  ChannelRegister register() {
    return register;
  }

  /** Returns what is used and what is not, and why. */
  String summary() {
    String known = whyUnavailable;
    return known != null
        ? known
        : "channels are upgraded to RDMA over %s, with peers in %s, and share %d MiB of registered memory"
            .formatted(
                devices.summary(), settings.networkNames(), settings.maxRegisteredBytes() >> 20);
  }

  /** Counts the bytes of all channels that were sent over RDMA. */
  LongAdder sentBytes() {
    return sentBytes;
  }

  /** Counts the bytes of all channels that came over RDMA, and were read. */
  LongAdder receivedBytes() {
    return receivedBytes;
  }

  // ---- Which channels

  /** Returns the upgrade of a channel that has connected; null if it stays on TCP. */
  @Nullable Upgrade connected(TcpEnd tcp, InetSocketAddress from, InetSocketAddress to) {
    bean.registerSoon();
    StayReason why = whyNot(to);
    if (why == null && !devices.includePeer(from.getAddress(), to.getAddress())) {
      logThisHost(to);
      why = StayReason.SAME_HOST;
    }
    if (why == null && isRefused(routes.get(new Route(from.getAddress(), to)))) {
      why = StayReason.UNAVAILABLE;
    }
    if (why != null) {
      register.stays(tcp.record(), why, why.text());
      return null;
    }
    return new Upgrade(this, tcp, tcp.record().name(), from, true, proof(), 0);
  }

  /** Returns the upgrade of a channel that was accepted; null if it stays on TCP. */
  @Nullable Upgrade accepted(TcpEnd tcp, InetSocketAddress from, InetSocketAddress to) {
    StayReason why = null;
    if (!settings.includes(from.getAddress())) {
      why = StayReason.OTHER_NETWORK;
    } else if (!devices.includePeer(to.getAddress(), from.getAddress())) {
      why = StayReason.SAME_HOST;
    }
    if (why != null) {
      register.stays(tcp.record(), why, why.text());
      return null;
    }
    Upgrade upgrade = new Upgrade(this, tcp, tcp.record().name(), to, false, proof(), 0);
    accepted.put(upgrade.name(), upgrade);
    if (!looksForLate.getAndSet(true)) {
      var unused = later(timeout(), this::letLateStay);
    }
    return upgrade;
  }

  /** Expects a claim for a channel that was upgraded before. */
  void expect(Upgrade upgrade) {
    accepted.put(upgrade.name(), upgrade);
  }

  /** Lets accepted channels that no client has claimed in time stay on TCP, at intervals. */
  private void letLateStay() {
    looksForLate.set(false);
    accepted.values().forEach(each -> each.claiming().stayIfLate());
    if (!accepted.isEmpty() && !looksForLate.getAndSet(true)) {
      var unused = later(timeout(), this::letLateStay);
    }
  }

  /** Forgets a channel that was closed, or stays on TCP. */
  void forget(Upgrade upgrade) {
    accepted.remove(upgrade.name(), upgrade);
    overRdma.remove(upgrade);
  }

  /** Returns whether it is worth trying for channels to a server. */
  boolean mayUpgrade(InetSocketAddress server) {
    return whyNot(server) == null;
  }

  private @Nullable StayReason whyNot(InetSocketAddress server) {
    InetAddress address = server.getAddress();
    if (!available) {
      return StayReason.UNAVAILABLE;
    }
    if (settings.rdmaAddress(address).isLoopbackAddress()) {
      return StayReason.SAME_HOST;
    }
    if (!settings.includes(address)) {
      return StayReason.OTHER_NETWORK;
    }
    return isRefused(refusals.get(server)) ? StayReason.LEFT_ALONE : null;
  }

  private static boolean isRefused(@Nullable Long until) {
    return until != null && System.nanoTime() - until < 0;
  }

  /** Returns why no further channel may be upgraded; null if it may. */
  @Nullable String whyFull() {
    String tooMany = whyTooMany();
    return tooMany == null ? whyNoMemory() : tooMany;
  }

  /** Channels that are about to be upgraded are not counted. */
  private @Nullable String whyTooMany() {
    return overRdma.size() < settings.maxUpgradedChannels()
        ? null
        : "org.rdma4j.nio.maxUpgradedChannels is "
            + settings.maxUpgradedChannels()
            + ", and so many channels of this process are over RDMA: raise it to upgrade more";
  }

  private @Nullable String whyNoMemory() {
    RdmaNode open = node;
    if (open == null || !memory.isUsedUp(open, overRdma)) {
      return null;
    }
    String why = memory.whyUsedUp();
    if (!loggedMemory.getAndSet(true)) {
      System.getLogger("org.rdma4j.nio").log(Level.INFO, "channels stay on TCP: " + why);
    }
    return why;
  }

  // ---- The node

  /**
   * Returns the node, which the first call opens.
   *
   * @throws RdmaException if this process cannot use RDMA
   */
  synchronized RdmaNode node() {
    RdmaNode open = node;
    if (open == null) {
      devices.check();
      open = RdmaNode.open(memory.limit(CONFIG));
      node = open;
      System.getLogger("org.rdma4j.nio").log(Level.INFO, summary());
    }
    return open;
  }

  /**
   * Lets a thread that selects, or waits for a channel, poll as long as that pays, and then sleep.
   * All handlers of the node are of this package, and do not wait, so they can run in that thread.
   */
  void pollUntil(BooleanSupplier done, Runnable sleep) {
    RdmaNode open = node;
    if (open == null) {
      sleep.run();
    } else {
      open.pollUntil(done, sleep);
    }
  }

  /** Closes the node, and with it all upgraded channels. */
  synchronized void close() {
    available = false;
    bean.close();
    RdmaNode open = node;
    if (open != null) {
      open.close();
    }
  }

  /** Uses TCP only from now on, and logs the reason, once. */
  private void giveUp(Throwable why) {
    available = false;
    if (logged.compareAndSet(false, true)) {
      String reason =
          why instanceof LinkageError
              ? why
                  + ": put the jars of rdma4j and rdma4j-bindings on the class path, and the module jdk.jfr into the runtime"
              : why.getMessage();
      whyUnavailable = "all channels of this process use TCP: " + reason;
      System.getLogger("org.rdma4j.nio").log(Level.INFO, whyUnavailable);
    }
  }

  /** Returns a timer whose thread ends when it has had nothing to do for a while. */
  private static ScheduledThreadPoolExecutor timer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1, ChannelThreads.named("rdma4j-nio-timer").factory());
    timer.setKeepAliveTime(10, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** Runs something that does not wait, after a pause. */
  Future<?> later(Duration pause, Runnable action) {
    return timer.schedule(action, pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Logs, once, that channels to peers on this host stay on TCP. */
  private void logThisHost(InetSocketAddress server) {
    if (!loggedThisHost.getAndSet(true)) {
      System.getLogger("org.rdma4j.nio")
          .log(
              Level.INFO,
              "channels to peers on this host, such as "
                  + server
                  + ", stay on TCP: "
                  + UsableDevices.REMEDY);
    }
  }

  /** Says, once at the level INFO, that a channel stays on TCP because one direction is silent. */
  void oneSided(Upgrade upgrade, long bytes) {
    String reason =
        "%d bytes went almost all in one direction, and each must have carried %d to prove an upgrade: lower org.rdma4j.nio.upgradeAfterBytes, which without org.rdma4j.nio.secretFile weakens the proof"
            .formatted(bytes, proof().least());
    if (!loggedOneSided.getAndSet(true)) {
      System.getLogger("org.rdma4j.nio")
          .log(Level.INFO, upgrade.name() + ": stays on TCP, as others may: " + reason);
    }
    stays(upgrade, StayReason.ONE_DIRECTION, reason);
  }

  void log(String connection, String event) {
    System.getLogger("org.rdma4j.nio").log(Level.DEBUG, connection + ": " + event);
  }

  /** Closes a connection without waiting for it. */
  void close(RdmaConnection connection) {
    var unused = ChannelThreads.start("rdma4j-nio-close", () -> closeNow(connection));
  }

  void close(RdmaServer server) {
    var unused = ChannelThreads.start("rdma4j-nio-close", () -> closeNow(server));
  }

  private void closeNow(RdmaServer server) {
    try {
      server.close();
    } catch (RdmaException failed) {
      log(String.valueOf(server), "cannot be closed: " + failed);
    }
  }

  void closeNow(RdmaConnection connection) {
    try {
      connection.close();
    } catch (RdmaException failed) {
      log(String.valueOf(connection), "cannot be closed: " + failed);
    }
  }

  // ---- The client

  /** Connects for a channel, in another thread. */
  void claim(Upgrade upgrade) {
    // One for each channel that waits for its turn: not a platform thread.
    var unused =
        Thread.ofVirtual()
            .inheritInheritableThreadLocals(false)
            .name("rdma4j-nio-connect")
            .start(() -> connect(upgrade));
  }

  private void connect(Upgrade upgrade) {
    InetSocketAddress server = upgrade.tcp().remote();
    InetAddress host = settings.rdmaAddress(server.getAddress());
    if (!devices.includePeer(server.getAddress()) || !devices.includePeer(host)) {
      logThisHost(server);
      keepTcp(upgrade, StayReason.SAME_HOST, "the peer is on this host: " + UsableDevices.REMEDY);
      return;
    }
    RdmaNode open;
    try {
      open = node();
    } catch (RuntimeException | LinkageError unavailable) {
      giveUp(unavailable);
      keepTcp(upgrade, StayReason.UNAVAILABLE, String.valueOf(unavailable));
      return;
    }
    try {
      connect(open, upgrade, new InetSocketAddress(host, server.getPort()));
    } catch (RuntimeException | TimeoutException | InterruptedException failed) {
      if (hasNoDevice(failed)) {
        leaveAlone(routes, new Route(upgrade.local().getAddress(), server));
      } else {
        refused(server);
      }
      if (failed instanceof RdmaException known
          && known.errno() == ErrorNumber.ENOMEM.value()
          && !loggedMemory.getAndSet(true)) {
        System.getLogger("org.rdma4j.nio")
            .log(Level.INFO, "channels stay on TCP while memory is missing: " + known.getMessage());
      }
      keepTcp(
          upgrade,
          failed instanceof ConnectionException ? StayReason.REFUSED : StayReason.FAILED,
          failed.getMessage());
    }
  }

  /**
   * Connects, at the first try or one of the next ones: a server that was just started listens over
   * TCP a moment before it listens over RDMA, and its clients are back immediately. They keep their
   * connections for long.
   */
  private void connect(RdmaNode open, Upgrade upgrade, InetSocketAddress address)
      throws TimeoutException, InterruptedException {
    InetSocketAddress server = upgrade.tcp().remote();
    try {
      tryOnce(open, upgrade, address);
      return;
    } catch (ConnectionException refused) {
      if (refused.reason() != ConnectionException.Reason.REFUSED || !tryingAgain.tryBegin(server)) {
        throw refused;
      }
    }
    try {
      tryAgain(open, upgrade, address);
    } finally {
      tryingAgain.end(server);
    }
  }

  private void tryAgain(RdmaNode open, Upgrade upgrade, InetSocketAddress address)
      throws TimeoutException, InterruptedException {
    long end = System.nanoTime() + timeout().toNanos();
    long pause = FIRST_PAUSE_MILLIS;
    while (true) {
      Thread.sleep(pause);
      try {
        tryOnce(open, upgrade, address);
        return;
      } catch (ConnectionException refused) {
        if (refused.reason() != ConnectionException.Reason.REFUSED
            || System.nanoTime() - end >= 0
            || !upgrade.tcp().isOpen()) {
          throw refused;
        }
      }
      pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    }
  }

  /**
   * Connects and claims, in its turn, unless the channel was closed or the server has refused
   * another one before that.
   */
  private void tryOnce(RdmaNode open, Upgrade upgrade, InetSocketAddress address)
      throws TimeoutException, InterruptedException {
    InetSocketAddress server = upgrade.tcp().remote();
    claims.begin(server);
    FutureTask<Void> attempt =
        new FutureTask<>(
            () -> {
              attempt(open, upgrade, address);
              return null;
            });
    try {
      // The server waits for what follows.
      var unused = ChannelThreads.start("rdma4j-nio-connect", attempt);
      attempt.get();
    } catch (ExecutionException failed) {
      switch (Objects.requireNonNull(failed.getCause())) {
        case RuntimeException cause -> throw cause;
        case TimeoutException cause -> throw cause;
        case InterruptedException cause -> throw cause;
        default -> throw new IllegalStateException(failed);
      }
    } finally {
      claims.end(server);
    }
  }

  private void attempt(RdmaNode open, Upgrade upgrade, InetSocketAddress address)
      throws TimeoutException, InterruptedException {
    InetSocketAddress server = upgrade.tcp().remote();
    if (!upgrade.tcp().isOpen()) {
      log(upgrade.name(), "was closed before it was its turn to be upgraded");
      return;
    }
    if (!mayUpgrade(server)) {
      keepTcp(upgrade, StayReason.LEFT_ALONE, "the server has just refused another channel");
      return;
    }
    String tooMany = whyTooMany();
    if (tooMany != null) {
      keepTcp(upgrade, StayReason.LIMIT, tooMany);
      return;
    }
    String noMemory = whyNoMemory();
    if (noMemory != null) {
      keepTcp(upgrade, StayReason.MEMORY, noMemory);
      return;
    }
    RdmaConnection connection = connectFrom(upgrade.local().getAddress(), open, address);
    boolean claimed = false;
    try {
      if (!devices.includeThatOf(connection)) {
        leaveAlone(routes, new Route(upgrade.local().getAddress(), server));
        keepTcp(upgrade, StayReason.SOFTWARE_DEVICE, whySoftware(connection));
        return;
      }
      switch (Meeting.claim(this, connection, upgrade)) {
        case REFUSED -> refused(server);
        case UNKNOWN -> unknownTo(server);
        case DONE -> unknown.remove(server);
      }
      claimed = true;
    } finally {
      if (!claimed) {
        close(connection);
      }
    }
  }

  private static String whySoftware(RdmaConnection connection) {
    return UsableDevices.name(connection) + " is a software device: " + UsableDevices.REMEDY;
  }

  /**
   * Connects from the address that TCP uses, because the server expects that. Without an address of
   * this side, the device of a route is chosen.
   */
  private RdmaConnection connectFrom(InetAddress tcp, RdmaNode open, InetSocketAddress address)
      throws TimeoutException, InterruptedException {
    InetAddress local = settings.rdmaAddress(tcp);
    return local.isLoopbackAddress()
        ? open.connect(address, timeout())
        : open.connect(new InetSocketAddress(local, 0), address, timeout());
  }

  /**
   * The server does not know a channel, because it has ended, or another process has accepted it at
   * the same port. If that is so for very many in a row, they are not asked for a while.
   */
  private void unknownTo(InetSocketAddress server) {
    if (unknown.size() >= MAX_REFUSALS) {
      unknown.clear();
    }
    if (unknown.merge(server, 1, Integer::sum) >= MAX_UNKNOWN) {
      unknown.remove(server);
      refused(server);
    }
  }

  private void refused(InetSocketAddress server) {
    leaveAlone(refusals, server);
  }

  private <K> void leaveAlone(Map<K, Long> refused, K which) {
    if (refused.size() >= MAX_REFUSALS) {
      refused.clear();
    }
    refused.put(which, System.nanoTime() + TimeUnit.SECONDS.toNanos(settings.retryDelaySeconds()));
  }

  /** Returns whether the address of this side is that of no RDMA device that reaches the server. */
  private static boolean hasNoDevice(Exception failed) {
    return failed instanceof RdmaException known
        && (known.errno() == ErrorNumber.ENODEV.value()
            || known.errno() == ErrorNumber.EADDRNOTAVAIL.value());
  }

  // ---- The server

  /** Returns whether it is worth trying to listen over RDMA at an address of TCP. */
  boolean mayListen(InetSocketAddress local) {
    return available && !settings.rdmaAddress(local.getAddress()).isLoopbackAddress();
  }

  /** Listens over RDMA in addition to TCP, in another thread. */
  void listen(RdmaListener listener, InetSocketAddress local) {
    var unused = ChannelThreads.start("rdma4j-nio-listen", () -> listenNow(listener, local));
  }

  private void listenNow(RdmaListener listener, InetSocketAddress local) {
    RdmaNode open;
    try {
      open = node();
    } catch (RuntimeException | LinkageError unavailable) {
      giveUp(unavailable);
      listener.listensOverTcpOnly();
      return;
    }
    InetAddress address = settings.rdmaAddress(local.getAddress());
    try (RdmaServer server =
        bind(open, listener, new InetSocketAddress(address, local.getPort()))) {
      if (!listener.listensOverRdma(server)) {
        return;
      }
      while (!listener.isClosed()) {
        RdmaConnection connection = server.accept();
        if (unproven.tryAcquire()) {
          var unused = ChannelThreads.start("rdma4j-nio-accept", () -> prove(connection));
        } else {
          close(connection);
        }
      }
    } catch (IllegalStateException closed) {
      log(String.valueOf(local), "does not listen over RDMA any more");
    } catch (RdmaException | InterruptedException failed) {
      listener.listensOverTcpOnly();
      if (isInUse(failed) && !listener.isClosed()) {
        System.getLogger("org.rdma4j.nio")
            .log(
                Level.INFO,
                local
                    + " listens over TCP only: another process, or another listener, has the port over RDMA: "
                    + failed.getMessage());
      } else {
        log(String.valueOf(local), "listens over TCP only: " + failed.getMessage());
      }
    }
  }

  private static boolean isInUse(Exception failed) {
    return failed instanceof RdmaException known && known.errno() == ErrorNumber.EADDRINUSE.value();
  }

  /** Binds a listener, also if another listener that had the port before is still closing. */
  private RdmaServer bind(RdmaNode open, RdmaListener listener, InetSocketAddress address)
      throws InterruptedException {
    long end = System.nanoTime() + timeout().toNanos();
    while (true) {
      try {
        return open.bind(address);
      } catch (RdmaException failed) {
        if (!isInUse(failed) || listener.isClosed() || System.nanoTime() - end >= 0) {
          throw failed;
        }
        Thread.sleep(BIND_PAUSE_MILLIS);
      }
    }
  }

  private void prove(RdmaConnection connection) {
    try {
      if (devices.includeThatOf(connection)) {
        Meeting.grant(this, connection);
      } else {
        log(String.valueOf(connection), "refused: " + whySoftware(connection));
        close(connection);
      }
    } catch (RdmaException | IllegalStateException | InterruptedException failed) {
      log(String.valueOf(connection), "failed before it was proven: " + failed.getMessage());
      close(connection);
    } finally {
      unproven.release();
    }
  }

  /** Returns the accepted channel of a name, if its peer has the address of an RDMA peer. */
  @Nullable Upgrade find(String name, InetSocketAddress peer) {
    Upgrade upgrade = accepted.get(name);
    return upgrade != null && isSameHost(upgrade.tcp(), peer) ? upgrade : null;
  }

  /** A channel was upgraded to RDMA. */
  void joined(Upgrade upgrade) {
    upgraded.incrementAndGet();
    accepted.remove(upgrade.name(), upgrade);
    overRdma.add(upgrade);
    exit.watch();
    upgrade.tcp().record().upgraded();
    record(upgrade, true, "", "");
  }

  /** A channel goes on over TCP after RDMA has failed. */
  void resumed(Upgrade upgrade, int again, String reason) {
    resumed.incrementAndGet();
    forget(upgrade);
    String text =
        "RDMA failed, and the channel goes on over TCP, which carries %d bytes again: %s"
            .formatted(again, reason);
    upgrade.tcp().record().resumed(text);
    record(upgrade, false, "resumed", text);
    System.getLogger("org.rdma4j.nio").log(Level.INFO, upgrade.name() + ": " + text);
  }

  /**
   * Keeps a channel of a client on TCP, and notifies it that no RDMA connection will come, unless
   * it was upgraded before and is tried again.
   */
  private void keepTcp(Upgrade upgrade, StayReason kind, @Nullable String reason) {
    upgrade.linkEnded(true);
    notUpgraded(upgrade, kind, String.valueOf(reason));
  }

  /** A claim of a client has led to nothing. */
  void notUpgraded(Upgrade upgrade, StayReason kind, String reason) {
    if (upgrade.isForgotten()) {
      stays(upgrade, kind, reason);
    } else {
      log(upgrade.name(), "cannot be upgraded again now, and is tried later: " + reason);
    }
  }

  /** A channel stays on TCP. */
  void stays(Upgrade upgrade, StayReason kind, String reason) {
    if (upgrade.isClient()) {
      stayed.incrementAndGet();
    }
    register.stays(upgrade.tcp().record(), kind, reason);
    log(upgrade.name(), "stays on TCP: " + reason);
    record(upgrade, false, kind.tag(), reason);
  }

  private static void record(Upgrade upgrade, boolean overRdma, String kind, String reason) {
    if (HAS_RECORDER && FlightRecorder.isInitialized()) {
      UpgradeEvent event = new UpgradeEvent();
      event.connection = upgrade.name();
      event.overRdma = overRdma;
      event.client = upgrade.isClient();
      event.kind = kind;
      event.reason = reason;
      event.commit();
    }
  }

  /** Returns whether the peer of an RDMA connection has the address of the peer over TCP. */
  private boolean isSameHost(TcpEnd tcp, InetSocketAddress peer) {
    InetAddress address = tcp.remote().getAddress();
    return settings.rdmaAddress(address).equals(peer.getAddress());
  }
}
