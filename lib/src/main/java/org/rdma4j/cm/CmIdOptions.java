package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_path_data;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.platform.Range;

/**
 * The options of an identifier: {@code rdma_set_option}, see {@link CmId#options}. C has no
 * function that reads them.
 *
 * <p>All methods may be called from any thread.
 *
 * @see CmId#options
 */
public final class CmIdOptions {
  private final NativeId id;

  CmIdOptions(NativeId id) {
    this.id = id;
  }

  /**
   * Sets the type of service of the packets: {@code RDMA_OPTION_ID_TOS}. Set it before the route is
   * resolved.
   *
   * @param typeOfService the type of service as in the IP header, 0 to 255
   * @throws IllegalArgumentException if the value is out of range
   * @throws RdmaException if the option cannot be set
   */
  public void typeOfService(int typeOfService) {
    Range.check("typeOfService", typeOfService, 0, 0xff);
    set("RDMA_OPTION_ID_TOS", rdma_h.RDMA_OPTION_ID_TOS(), (byte) typeOfService);
  }

  /**
   * Sets whether other identifiers may be bound to the same address: {@code
   * RDMA_OPTION_ID_REUSEADDR}. All of them need the option. Set it before binding.
   *
   * @param reuse whether the address may be shared
   * @throws RdmaException if the option cannot be set
   */
  public void reuseAddress(boolean reuse) {
    set("RDMA_OPTION_ID_REUSEADDR", rdma_h.RDMA_OPTION_ID_REUSEADDR(), reuse ? 1 : 0);
  }

  /**
   * Sets whether an identifier that is bound to the IPv6 wildcard address serves IPv6 only, or IPv4
   * too: {@code RDMA_OPTION_ID_AFONLY}. Set it before binding.
   *
   * @param only whether it serves IPv6 only
   * @throws RdmaException if the option cannot be set
   */
  public void ipv6Only(boolean only) {
    set("RDMA_OPTION_ID_AFONLY", rdma_h.RDMA_OPTION_ID_AFONLY(), only ? 1 : 0);
  }

  /**
   * Sets how long the queue pair waits for an acknowledgement: {@code RDMA_OPTION_ID_ACK_TIMEOUT}.
   * Set it before connecting or accepting.
   *
   * @param timeout n for 4.096 microseconds x 2^n, 0 to 31; 0 means forever
   * @throws IllegalArgumentException if the value is out of range
   * @throws RdmaException if the option cannot be set: EINVAL if the port space is not one of
   *     reliable connections
   */
  public void ackTimeout(int timeout) {
    Range.check("timeout", timeout, 0, 31);
    set("RDMA_OPTION_ID_ACK_TIMEOUT", rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT(), (byte) timeout);
  }

  /**
   * Sets the paths to the peer, as a replacement for {@link CmId#resolveRoute}: {@code
   * RDMA_OPTION_IB_PATH}. {@link CmEvent.RouteResolved} follows.
   *
   * @param paths one or more paths
   * @throws IllegalArgumentException if the list is empty
   * @throws IllegalStateException if the identifier is closed or its address is not resolved
   * @throws RdmaException if the option cannot be set: EINVAL if none is a primary path
   */
  public void paths(List<PathRecord> paths) {
    if (paths.isEmpty()) {
      throw new IllegalArgumentException("paths is empty, must have one path or more");
    }
    long size = ibv_path_data.layout().byteSize();
    set(
        "RDMA_OPTION_IB_PATH",
        rdma_h.RDMA_OPTION_IB(),
        rdma_h.RDMA_OPTION_IB_PATH(),
        arena -> {
          id.requireDevice();
          MemorySegment raw = arena.allocate(ibv_path_data.layout(), paths.size());
          for (int i = 0; i < paths.size(); i++) {
            paths.get(i).write(raw.asSlice(i * size, size));
          }
          return raw;
        });
  }

  private void set(String name, int option, byte value) {
    set(name, rdma_h.RDMA_OPTION_ID(), option, arena -> arena.allocateFrom(JAVA_BYTE, value));
  }

  private void set(String name, int option, int value) {
    set(name, rdma_h.RDMA_OPTION_ID(), option, arena -> arena.allocateFrom(JAVA_INT, value));
  }

  private void set(String name, int level, int option, Function<Arena, MemorySegment> value) {
    id.call(
        "rdma_set_option(" + name + ")",
        (pointer, arena) -> {
          MemorySegment raw = value.apply(arena);
          return Calls.integer(
              rdma_h.rdma_set_option$address(), pointer, level, option, raw, raw.byteSize());
        });
  }
}
