package org.rdma4j.recording;

import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Label;

/** What was transferred: a flight recording can only have such fields in the event itself. */
public abstract sealed class TrafficEvent extends Event permits ConnectionEvent, NodeEvent {
  @Label("Sent Messages")
  public long sentMessages;

  @Label("Sent Bytes")
  @DataAmount
  public long sentBytes;

  @Label("Received Messages")
  public long receivedMessages;

  @Label("Received Bytes")
  @DataAmount
  public long receivedBytes;

  @Label("Reads")
  public long reads;

  @Label("Read Bytes")
  @DataAmount
  public long readBytes;

  @Label("Writes")
  public long writes;

  @Label("Written Bytes")
  @DataAmount
  public long writtenBytes;

  @Label("Atomic Operations")
  public long atomics;
}
