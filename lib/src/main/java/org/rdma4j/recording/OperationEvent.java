package org.rdma4j.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The time from the request for an operation until it is done. */
@Name("org.rdma4j.Operation")
@Label("RDMA operation")
@Category("RDMA")
@Description("The time from the request for an operation until it is done.")
@StackTrace(false)
@Enabled(false)
public final class OperationEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(OperationEvent.class);

  @Label("Connection")
  public String connection = "";

  @Label("Operation")
  public String operation = "";

  @Label("Bytes")
  @DataAmount
  public long bytes;

  @Label("Succeeded")
  public boolean succeeded;

  /** Returns whether a recording wants events of operations. */
  public static boolean isWanted() {
    return TYPE.isEnabled();
  }
}
