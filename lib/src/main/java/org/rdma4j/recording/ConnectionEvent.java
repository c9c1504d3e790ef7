package org.rdma4j.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
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
public final class ConnectionEvent extends TrafficEvent {
  @Label("Connection")
  public String connection = "";

  @Label("Credits")
  public int credits;

  @Label("Granted Credits")
  public int grantedCredits;

  @Label("Outstanding")
  public int outstanding;

  @Label("Pending Requests")
  public int pendingRequests;

  @Label("Bytes Held by Messages")
  @DataAmount
  public long heldBytes;

  @Label("Waits")
  public long waits;
}
