package org.rdma4j.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** What a connection has done, and what it is waiting for. */
@Name("org.rdma4j.ConnectionStatistics")
@Label("RDMA connection statistics")
@Category("RDMA")
@Description("What a connection has done, and what it is waiting for.")
@Period("1 s")
@StackTrace(false)
public final class ConnectionEvent extends Event {
  @Label("Connection")
  public String connection = "";

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

  @Label("Credits")
  public int credits;

  @Label("Granted Credits")
  public int grantedCredits;

  @Label("Outstanding")
  public int outstanding;

  @Label("Pending Requests")
  public int pendingRequests;

  @Label("Waits")
  public long waits;
}
