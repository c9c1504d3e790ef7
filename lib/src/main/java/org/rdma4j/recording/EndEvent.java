package org.rdma4j.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The end of a connection. */
@Name("org.rdma4j.ConnectionEnd")
@Label("RDMA connection end")
@Category("RDMA")
@Description("The end of a connection.")
@StackTrace(false)
public final class EndEvent extends Event {
  @Label("Connection")
  public String connection = "";

  @Label("Failure")
  @Description("Why the connection broke; empty if it was closed")
  public String failure = "";
}
