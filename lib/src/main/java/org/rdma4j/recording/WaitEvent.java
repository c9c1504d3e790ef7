package org.rdma4j.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** The time that a thread waits for a message, for room, or for an operation. */
@Name("org.rdma4j.Wait")
@Label("RDMA wait")
@Category("RDMA")
@Description("The time that a thread waits for a message, for room, or for an operation.")
public final class WaitEvent extends Event {
  @Label("Connection")
  public String connection = "";

  @Label("Reached")
  @Description("Whether what the thread waited for has happened")
  public boolean reached;
}
