package org.rdma4j.connection;

import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import org.jspecify.annotations.Nullable;
import org.rdma4j.recording.ConnectionEvent;
import org.rdma4j.recording.NodeEvent;
import org.rdma4j.recording.TrafficEvent;
import org.rdma4j.recording.WaitEvent;

/**
 * Writes the statistics of a node and its connections to JDK Flight Recorder, at intervals, from
 * the first recording on. Before that, the classes of the recorder are not even loaded.
 */
final class Recording implements FlightRecorderListener {
  private final Supplier<NodeStatistics> ofNode;
  private final Consumer<BiConsumer<String, ConnectionStatistics>> ofConnections;
  private final Runnable connections = this::recordConnections;
  private final Runnable statistics = this::recordNode;

  private Recording(
      Supplier<NodeStatistics> ofNode,
      Consumer<BiConsumer<String, ConnectionStatistics>> ofConnections) {
    this.ofNode = ofNode;
    this.ofConnections = ofConnections;
  }

  /**
   * Begins for a node, and returns what ends it.
   *
   * @param ofConnections gives the name of each connection and its statistics to a consumer
   */
  static Recording of(
      Supplier<NodeStatistics> ofNode,
      Consumer<BiConsumer<String, ConnectionStatistics>> ofConnections) {
    Recording recording = new Recording(ofNode, ofConnections);
    FlightRecorder.addListener(recording);
    return recording;
  }

  /** Returns the event of a wait that begins now; null if nothing is recorded. */
  static @Nullable WaitEvent beginWait() {
    if (!FlightRecorder.isInitialized()) {
      return null;
    }
    WaitEvent event = new WaitEvent();
    event.begin();
    return event;
  }

  @Override
  public void recorderInitialized(FlightRecorder recorder) {
    FlightRecorder.addPeriodicEvent(ConnectionEvent.class, connections);
    FlightRecorder.addPeriodicEvent(NodeEvent.class, statistics);
  }

  void close() {
    FlightRecorder.removeListener(this);
    if (FlightRecorder.isInitialized()) {
      FlightRecorder.removePeriodicEvent(connections);
      FlightRecorder.removePeriodicEvent(statistics);
    }
  }

  private void recordConnections() {
    ofConnections.accept(Recording::record);
  }

  private static void record(String connection, ConnectionStatistics now) {
    ConnectionEvent event = new ConnectionEvent();
    event.connection = connection;
    set(event, now.traffic());
    event.credits = now.credits();
    event.grantedCredits = now.grantedCredits();
    event.outstanding = now.outstanding();
    event.pendingRequests = now.pendingRequests();
    event.heldBytes = now.heldBytes();
    event.waits = now.waits();
    event.commit();
  }

  private void recordNode() {
    NodeStatistics now = ofNode.get();
    NodeEvent event = new NodeEvent();
    set(event, now.traffic());
    event.connections = now.connections();
    event.notWritable = now.notWritable();
    event.refused = sum(now.refused());
    event.broken = sum(now.broken());
    event.buffers = now.buffers();
    event.maxBuffers = now.maxBuffers();
    event.buffersInUse = now.buffersInUse();
    event.postedReceives = now.postedReceives();
    event.largeBytes = now.largeBytes();
    event.commit();
  }

  private static long sum(Map<?, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private static void set(TrafficEvent event, Traffic traffic) {
    event.sentMessages = traffic.sentMessages();
    event.sentBytes = traffic.sentBytes();
    event.receivedMessages = traffic.receivedMessages();
    event.receivedBytes = traffic.receivedBytes();
    event.reads = traffic.reads();
    event.readBytes = traffic.readBytes();
    event.writes = traffic.writes();
    event.writtenBytes = traffic.writtenBytes();
    event.atomics = traffic.atomics();
  }
}
