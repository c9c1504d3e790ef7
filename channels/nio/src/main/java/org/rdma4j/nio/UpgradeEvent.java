package org.rdma4j.nio;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A channel was upgraded to RDMA, or stays on TCP. */
@Name("org.rdma4j.nio.Upgrade")
@Label("Upgrade of a channel")
@Category("RDMA")
@Description("A channel was upgraded to RDMA, or stays on TCP.")
@StackTrace(false)
final class UpgradeEvent extends Event {
  @Label("Connection")
  @Description("The addresses and ports, those of the client first")
  String connection = "";

  @Label("Over RDMA")
  boolean overRdma;

  @Label("Client")
  @Description("Whether this side has connected")
  boolean client;

  @Label("Kind of reason")
  @Description("What the counters by reason call it")
  String kind = "";

  @Label("Reason")
  @Description("Why it stays on TCP")
  String reason = "";
}
