package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_path_data;
import org.rdma4j.bindings.generated.rdma_addrinfo;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.sockaddr_storage;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.NativeLibraries;

/**
 * What a name and a service mean to the connection manager: {@code struct rdma_addrinfo}.
 *
 * @param passive whether it is for listening
 * @param space what kind of communication it is for
 * @param source the local address; null where there is none
 * @param destination the peer's address; null where there is none
 * @param canonicalName the name of the node; null where it is not known
 * @param route the paths, where a resolver of InfiniBand knows them
 * @param connectData what has to precede the private data of a request to connect, read-only
 */
public record AddressInfo(
    boolean passive,
    PortSpace space,
    @Nullable SocketAddress source,
    @Nullable SocketAddress destination,
    @Nullable String canonicalName,
    List<PathRecord> route,
    ByteBuffer connectData) {
  /** Beside those of getaddrinfo, which are below it, the failures that leave errno. */
  private static final int ERRNO = -1;

  private static final int NO_SUCH_NODE = -2;
  private static final int TRY_AGAIN = -3;
  private static final int NO_SUCH_SERVICE = -8;

  /** Copies the paths. */
  public AddressInfo {
    route = List.copyOf(route);
  }

  /**
   * What has to precede the private data of a request to connect.
   *
   * @return the data, read-only, with a position of its own
   */
  @Override
  public ByteBuffer connectData() {
    return connectData.duplicate();
  }

  /**
   * Resolves a name and a service: {@code rdma_getaddrinfo}. Names go to the name services of the
   * system, and paths are asked of ibacm, where that runs, in a daemon thread. Nothing can end that
   * call: where the time is up or this thread is interrupted, the daemon thread stays behind until
   * they answer, which a stuck ibacm never does.
   *
   * @param node a name, or an address in digits; null for any, with a service
   * @param service a name, or a port in digits; null for none, with a node
   * @param hints what is wanted
   * @param timeout how long that may take
   * @return one or more, the best first
   * @throws InterruptedException where the thread is interrupted
   * @throws IllegalArgumentException where neither node nor service is given, the timeout is
   *     negative, or the node is no IPv6 address in digits and an InfiniBand address is wanted of
   *     it
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it is not known, or not in time (ETIMEDOUT)
   */
  public static List<AddressInfo> resolve(
      @Nullable String node, @Nullable String service, AddressHints hints, Duration timeout)
      throws InterruptedException {
    if (node == null && service == null) {
      throw new IllegalArgumentException("node and service are null, one has to be given");
    }
    // C would take whatever address it found for one of IPv6.
    if (hints.family() == AddressFamily.INFINIBAND && (node == null || node.indexOf(':') < 0)) {
      throw new IllegalArgumentException(
          "node is " + node + ", must be an IPv6 address in digits for an InfiniBand address");
    }
    Deadline deadline = Deadline.after(timeout);
    NativeLibraries.require();
    String call = "rdma_getaddrinfo(" + node + ", " + service + ")";
    FutureTask<List<AddressInfo>> task =
        new FutureTask<>(() -> resolve(call, node, service, hints));
    Thread.ofPlatform().daemon().name("rdma4j-getaddrinfo").start(task);
    try {
      return task.get(deadline.nanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new RdmaException(
          call, ErrorNumber.ETIMEDOUT.value(), "The name services did not answer in time");
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(failed.getCause());
    }
  }

  private static List<AddressInfo> resolve(
      String call, @Nullable String node, @Nullable String service, AddressHints hints) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ADDRESS);
      int failed =
          Calls.integer(
              rdma_h.rdma_getaddrinfo$address(),
              text(node, arena),
              text(service, arena),
              write(hints, arena),
              result);
      if (failed != 0) {
        throw failure(call, failed, Errno.errno());
      }
      MemorySegment first = result.get(ADDRESS, 0);
      try {
        List<AddressInfo> infos = new ArrayList<>();
        for (MemorySegment each = first; each.address() != 0; ) {
          MemorySegment info = each.reinterpret(rdma_addrinfo.layout().byteSize());
          infos.add(read(info, hints.space()));
          each = rdma_addrinfo.ai_next(info);
        }
        return List.copyOf(infos);
      } finally {
        rdma_h.rdma_freeaddrinfo(first);
      }
    }
  }

  private static RdmaException failure(String call, int result, int errno) {
    return switch (result) {
      case ERRNO -> Cm.failure(call, errno);
      case NO_SUCH_NODE -> new RdmaException(call, 0, "No node of that name is known");
      case NO_SUCH_SERVICE -> new RdmaException(call, 0, "No service of that name is known");
      case TRY_AGAIN -> new RdmaException(call, 0, "The name service does not answer for now");
      default -> new RdmaException(call, 0, "getaddrinfo gave " + result);
    };
  }

  private static MemorySegment text(@Nullable String text, Arena arena) {
    return text == null ? MemorySegment.NULL : arena.allocateFrom(text);
  }

  private static MemorySegment write(AddressHints hints, Arena arena) {
    MemorySegment raw = arena.allocate(rdma_addrinfo.layout());
    AddressFamily family = hints.family();
    rdma_addrinfo.ai_flags(
        raw,
        (hints.passive() ? rdma_h.RAI_PASSIVE() : 0)
            | (hints.numericHost() ? rdma_h.RAI_NUMERICHOST() : 0)
            | (hints.noRoute() ? rdma_h.RAI_NOROUTE() : 0)
            | (family == null ? 0 : rdma_h.RAI_FAMILY()));
    rdma_addrinfo.ai_family(raw, family == null ? rdma_h.AF_UNSPEC() : family.value());
    rdma_addrinfo.ai_port_space(raw, hints.space().value());
    rdma_addrinfo.ai_qp_type(raw, hints.space().queuePairType().value());
    SocketAddress source = hints.source();
    if (source != null) {
      rdma_addrinfo.ai_src_addr(raw, SocketAddresses.write(source, arena));
      rdma_addrinfo.ai_src_len(raw, SocketAddresses.length(source));
    }
    return raw;
  }

  private static AddressInfo read(MemorySegment info, PortSpace space) {
    return new AddressInfo(
        (rdma_addrinfo.ai_flags(info) & rdma_h.RAI_PASSIVE()) != 0,
        space,
        address(rdma_addrinfo.ai_src_addr(info), rdma_addrinfo.ai_src_len(info)),
        address(rdma_addrinfo.ai_dst_addr(info), rdma_addrinfo.ai_dst_len(info)),
        name(info),
        route(rdma_addrinfo.ai_route(info), rdma_addrinfo.ai_route_len(info)),
        connectData(rdma_addrinfo.ai_connect(info), rdma_addrinfo.ai_connect_len(info)));
  }

  private static @Nullable SocketAddress address(MemorySegment address, int length) {
    if (address.address() == 0 || length == 0) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(sockaddr_storage.layout());
      MemorySegment.copy(address.reinterpret(length), 0, copy, 0, length);
      return SocketAddresses.read(copy);
    }
  }

  private static @Nullable String name(MemorySegment info) {
    MemorySegment name = rdma_addrinfo.ai_dst_canonname(info);
    if (name.address() == 0) {
      name = rdma_addrinfo.ai_src_canonname(info);
    }
    return name.address() == 0 ? null : name.reinterpret(Long.MAX_VALUE).getString(0);
  }

  private static List<PathRecord> route(MemorySegment route, long length) {
    long size = ibv_path_data.layout().byteSize();
    List<PathRecord> paths = new ArrayList<>();
    for (long at = 0; route.address() != 0 && at + size <= length; at += size) {
      paths.add(PathRecord.read(route.reinterpret(length).asSlice(at, size)));
    }
    return paths;
  }

  private static ByteBuffer connectData(MemorySegment data, long length) {
    return ConnectionParameters.copy(
        data.address() == 0 ? ByteBuffer.allocate(0) : data.reinterpret(length).asByteBuffer());
  }
}
