package org.rdma4j.nio;

import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** All connected channels of a provider that are open, and counters of all that there were. */
final class ChannelRegister {
  /** Guarded by this. Weak, because a program may drop a socket that it has not closed. */
  private final Set<ChannelRecord> open = Collections.newSetFromMap(new WeakHashMap<>());

  private final Map<StayReason, LongAdder> stayed = new ConcurrentHashMap<>();

  private final LongAdder tcpSent = new LongAdder();
  private final LongAdder tcpReceived = new LongAdder();

  /** Adds a channel that has connected. */
  synchronized ChannelRecord add(
      InetSocketAddress client, InetSocketAddress server, boolean isClient) {
    ChannelRecord record = new ChannelRecord(this, client, server, isClient);
    open.add(record);
    return record;
  }

  synchronized void remove(ChannelRecord record) {
    open.remove(record);
  }

  /** Records why a channel stays on TCP. It counts for the first reason only. */
  void stays(ChannelRecord record, StayReason kind, String reason) {
    if (record.staysOnTcp(kind, reason)) {
      stayed.computeIfAbsent(kind, each -> new LongAdder()).increment();
    }
  }

  synchronized List<ChannelState> states() {
    return open.stream().map(ChannelRecord::state).toList();
  }

  /** Counts the bytes of all channels that were written to TCP. */
  LongAdder tcpSent() {
    return tcpSent;
  }

  /** Counts the bytes of all channels that were read from TCP. */
  LongAdder tcpReceived() {
    return tcpReceived;
  }

  /** Returns how many channels stay on TCP for each reason, also those without any. */
  Map<String, Long> stayedByReason() {
    Map<String, Long> counts = new TreeMap<>();
    for (StayReason each : StayReason.values()) {
      LongAdder count = stayed.get(each);
      counts.put(each.tag(), count == null ? 0 : count.sum());
    }
    return counts;
  }
}
