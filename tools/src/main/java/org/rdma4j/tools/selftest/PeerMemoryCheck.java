package org.rdma4j.tools.selftest;

import java.util.Random;
import org.rdma4j.connection.ExposedMemory;
import org.rdma4j.connection.PeerMemory;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;

/** Writes and reads memory that the peer of a connection has exposed. */
final class PeerMemoryCheck implements SelfCheck {
  private static final int BYTES = 1 << 20;

  @Override
  public String name() {
    return "memory of a peer";
  }

  @Override
  public String run(TestedDevice tested) throws Exception {
    try (DeviceConnection connection = DeviceConnection.open(tested)) {
      MemoryRegion here = connection.client().register(2 * BYTES, AccessFlag.LOCAL_WRITE);
      MemoryRegion there =
          connection
              .peer()
              .register(
                  BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
      byte[] bytes = Expected.random(new Random(BYTES), BYTES);
      Expected.put(here, bytes);
      try (ExposedMemory exposed =
          connection
              .peer()
              .expose(there.slice(0, BYTES), AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)) {
        PeerMemory memory = connection.client().memory();
        memory.write(here.slice(0, BYTES), exposed.name(), DeviceConnection.TIMEOUT);
        Expected.equal("a write", Expected.get(there, 0, BYTES), bytes);
        memory.read(exposed.name(), here.slice(BYTES, BYTES), DeviceConnection.TIMEOUT);
        Expected.equal("a read", Expected.get(here, BYTES, BYTES), bytes);
      }
    }
    return "%d bytes written and read".formatted(BYTES);
  }
}
