package org.rdma4j.tools.perftest;

import java.io.PrintWriter;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.TcpPeer;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.WorkCompletionException;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * The steps of a run, in the order of perftest: both sides agree on their terms, create and connect
 * their queue pairs, exchange the addresses, run the test for each length, and exchange the
 * results.
 */
final class TestRun {
  private final TestOptions options;
  private final Settings settings;
  private final Style style;
  private final PrintWriter out;
  private final PrintWriter err;
  private final String peerProgram;

  TestRun(TestOptions options, Settings settings, Style style) {
    this.options = options;
    this.settings = settings;
    this.style = style;
    out = options.out();
    err = options.err();
    peerProgram = settings.program().nameInC();
  }

  void run() {
    Printer printer = new Printer(out, settings, style);
    try {
      if (options.throughCm()) {
        runWithCm(printer);
      } else {
        runWithTcp(printer);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while waiting for the peer", interrupted);
    } catch (WorkCompletionException failed) {
      throw failure(failed);
    }
  }

  private void runWithTcp(Printer printer) throws InterruptedException {
    try (RdmaDevice device = options.device.openConnectable()) {
      LocalPort port = options.port(device);
      try (TcpControl control = openTcp(printer)) {
        control.withGid(port.hasGid());
        Handshake.Terms terms = agree(control, port);
        Settings fitted = fit(port, terms.mtu());
        try (Resources resources = resources(fitted, port, terms)) {
          List<TestLink> links = Links.create(resources, fitted);
          runTest(fitted, control, resources, links, terms, printer);
        }
      }
    }
  }

  private TcpControl openTcp(Printer printer) {
    Duration timeout = options.peer.timeout();
    String host = options.peer.server();
    if (host != null) {
      TcpPeer peer = TcpPeer.connect(host, options.peer.tcpPort(), peerProgram, timeout);
      return new TcpControl(peer, false, peerProgram, timeout);
    }
    ServerSocket listening = TcpPeer.listen(options.peer.tcpPort());
    printer.waiting();
    TcpPeer peer = TcpPeer.accept(listening, peerProgram, timeout);
    return new TcpControl(peer, true, peerProgram, timeout);
  }

  private void runWithCm(Printer printer) throws InterruptedException {
    Duration timeout = options.peer.timeout();
    int tcpPort = options.peer.tcpPort();
    String host = options.peer.server();
    if (host == null) {
      printer.waiting();
    }
    try (CmControl control =
        host == null
            ? CmControl.accept(tcpPort, peerProgram, timeout)
            : CmControl.connect(CommonOptions.address(host, tcpPort), peerProgram, timeout)) {
      options.requireDevice(control.device());
      LocalPort port = options.port(control.device(), control.port());
      Handshake.Terms terms = agree(control, port);
      Settings fitted = fit(port, terms.mtu());
      try (Resources resources = resources(fitted, port, terms);
          CmLinks connections = new CmLinks(resources, fitted)) {
        if (host == null) {
          try (SynchronousCmId listener = connections.listen(tcpPort)) {
            control.exchange(Keys.NONE, false);
            connections.accept(listener);
          }
        } else {
          control.exchange(Keys.NONE, false);
          connections.connect(CommonOptions.address(host, tcpPort));
        }
        control.exchange(Keys.NONE, false);
        runTest(fitted, control, resources, connections.links(), terms, printer);
      }
    } catch (TimeoutException late) {
      throw new Failure(Failure.describe(late), late);
    }
  }

  private Handshake.Terms agree(Control control, LocalPort port) {
    Handshake.Terms terms =
        new Handshake(control, peerProgram).agree(options.mtu(port.attributes().activeMtu()));
    terms.warning().ifPresent(line -> err.println(options.name() + ": " + line));
    return terms;
  }

  /** A datagram is one packet: without -s, its length is at most the path MTU. */
  private Settings fit(LocalPort port, Mtu mtu) {
    if (settings.transport() != Transport.UD) {
      requireSize(
          port.attributes().maxMessageSize(),
          "the maximum message size of " + port.device().info().name());
    } else if (!settings.sizeGiven() && settings.size() > mtu.bytes()) {
      return settings.ofSize(mtu.bytes());
    } else {
      requireSize(mtu.bytes(), "the path MTU, because a datagram is one packet");
    }
    return settings;
  }

  private void requireSize(long max, String reason) {
    if (!settings.allSizes() && settings.size() > max) {
      throw new Failure("-s is %d, must be at most %d, %s".formatted(settings.size(), max, reason));
    }
  }

  private static Resources resources(Settings fitted, LocalPort port, Handshake.Terms terms) {
    return new Resources(
        port,
        fitted,
        Layout.of(
            fitted.allSizes() ? Settings.MAX_SIZE : fitted.size(),
            fitted.queuePairs(),
            terms.cycle(),
            terms.line()));
  }

  private void runTest(
      Settings fitted,
      Control control,
      Resources resources,
      List<TestLink> links,
      Handshake.Terms terms,
      Printer printer) {
    printer.info(resources, terms.mtu().bytes(), options.throughCm());
    new Introduction(control, resources, fitted, printer, peerProgram)
        .introduce(links, options.throughCm() ? null : options.path(terms.mtu()));
    printer.titles();
    try (Interruption interruption = new Interruption()) {
      new Trial(options, fitted, style, control, resources, links, interruption, terms.mtu())
          .run(printer);
      printer.end();
    }
  }

  private Failure failure(WorkCompletionException failed) {
    CompletionStatus status = failed.status();
    String advice =
        switch (status) {
          case RETRY_EXCEEDED -> "the peer does not answer; it exited early, or packets are lost";
          case RECEIVER_NOT_READY_RETRY_EXCEEDED -> "the peer posts no receives; check its output";
          case REMOTE_ACCESS_ERROR,
              REMOTE_INVALID_REQUEST,
              REMOTE_OPERATION_ERROR,
              LOCAL_LENGTH_ERROR ->
              "give both sides the same -s, -q and -a; check that the peer is " + peerProgram;
          case FLUSHED -> "the connection broke; check the peer's output";
          default -> "vendor error 0x" + Integer.toHexString(failed.vendorError());
        };
    return new Failure("a request failed with %s: %s".formatted(status, advice), failed);
  }
}
