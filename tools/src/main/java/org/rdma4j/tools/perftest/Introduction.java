package org.rdma4j.tools.perftest;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.Failure;

/** What both sides send each other about their queue pairs. */
final class Introduction {
  private final Control control;
  private final Resources resources;
  private final Settings settings;
  private final Printer printer;
  private final String peerProgram;

  Introduction(
      Control control,
      Resources resources,
      Settings settings,
      Printer printer,
      String peerProgram) {
    this.control = control;
    this.resources = resources;
    this.settings = settings;
    this.printer = printer;
    this.peerProgram = peerProgram;
  }

  /** Exchanges the addresses, and connects the queue pairs if a path is given. */
  void introduce(List<TestLink> links, Links.@Nullable Path path) {
    LocalPort port = resources.port();
    for (TestLink link : links) {
      link.local(
          new Keys(
              link.queuePair().address(port.number(), port.gidIndex()),
              resources.reads(),
              resources.memory().remoteKey(),
              resources.memory().remoteAddress() + resources.layout().incoming(link.index())));
    }
    Keys first = links.getFirst().local();
    boolean sends = settings.program().verb() == Verb.SEND;
    if (!sends && !settings.program().isBandwidth()) {
      control.exchange(first, false);
    }
    for (TestLink link : links) {
      link.remote(control.exchange(link.local(), false));
      requireOther(links, link);
    }
    if (path != null) {
      links.forEach(link -> Links.connect(link, resources, settings, path));
    }
    if (sends) {
      control.exchange(first, false);
    }
    links.forEach(link -> printer.address("local", link.local(), port.hasGid()));
    for (TestLink link : links) {
      Keys again = control.exchange(link.local(), false);
      if (!again.address().equals(link.remote().address())) {
        throw unequalQueuePairs();
      }
      printer.address("remote", again, port.hasGid());
    }
    if (!sends) {
      control.exchange(first, false);
    }
  }

  /** A peer with fewer queue pairs begins again with its first. */
  private void requireOther(List<TestLink> links, TestLink link) {
    for (TestLink each : links.subList(0, link.index())) {
      if (each.remote().address().queuePairNumber() == link.remote().address().queuePairNumber()) {
        throw new Failure(
            "the peer has %d queue pairs, this side has %d; give both sides the same -q"
                .formatted(link.index(), links.size()));
      }
    }
  }

  private Failure unequalQueuePairs() {
    return new Failure(
        "the peer has more than the %d queue pairs of this side, or is not %s; give both sides the same -q"
            .formatted(settings.queuePairs(), peerProgram));
  }
}
