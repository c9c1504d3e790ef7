package org.rdma4j.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** What a node has done, has and uses. */
@Name("org.rdma4j.NodeStatistics")
@Label("RDMA node statistics")
@Category("RDMA")
@Description("What a node has done, has and uses.")
@Period("1 s")
@StackTrace(false)
public final class NodeEvent extends TrafficEvent {
  @Label("Connections")
  public int connections;

  @Label("Connections That Are Not Writable")
  public int notWritable;

  @Label("Refused Peers")
  public long refused;

  @Label("Broken Connections")
  public long broken;

  @Label("Buffers")
  public int buffers;

  @Label("Maximum Buffers")
  public int maxBuffers;

  @Label("Buffers In Use")
  public int buffersInUse;

  @Label("Posted Receives")
  public int postedReceives;

  @Label("Bytes for Longer Messages")
  @DataAmount
  public long largeBytes;
}
