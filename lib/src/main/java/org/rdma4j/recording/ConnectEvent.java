package org.rdma4j.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The time from the start of a connection to its establishment. */
@Name("org.rdma4j.Connect")
@Label("RDMA connect")
@Category("RDMA")
@Description("The time from the start of a connection to its establishment.")
@StackTrace(false)
public final class ConnectEvent extends Event {
  @Label("Peer")
  public String peer = "";

  @Label("Failure")
  @Description("Why the connection was not established; empty if it was")
  public String failure = "";
}
