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
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_path_data;
import org.rdma4j.bindings.generated.rdma_addrinfo;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.sockaddr_storage;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.DaemonThreads;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.platform.TimeText;
import org.rdma4j.verbs.QueuePairType;

/**
 * An address to listen on or to connect to, as {@link #resolve} found it for a name and a service:
 * {@code struct rdma_addrinfo}. {@link SynchronousCmId#open(AddressInfo, Duration)} opens an
 * identifier for it.
 *
 * @param passive whether the address is one to listen on
 * @param space the kind of communication
 * @param type the type of the queue pairs of identifiers for it
 * @param source the local address; null if there is none
 * @param destination the peer's address; null if there is none
 * @param canonicalName the name of the node; null if it is not known
 * @param route the paths, if a resolver of InfiniBand knows them; else empty
 * @param connectData the data that must precede the private data of a request to connect, read-only
 * @see AddressHints
 * @see SynchronousCmId#open(AddressInfo, Duration)
 */
public record AddressInfo(
    boolean passive,
    PortSpace space,
    QueuePairType type,
    @Nullable SocketAddress source,
    @Nullable SocketAddress destination,
    @Nullable String canonicalName,
    List<PathRecord> route,
    ByteBuffer connectData) {
  /** The failure that sets errno. The failures of getaddrinfo have smaller numbers. */
  private static final int ERRNO = -1;

  private static final int NO_SUCH_NODE = -2;
  private static final int TRY_AGAIN = -3;
  private static final int NO_SUCH_SERVICE = -8;

  /** Copies the list of paths. */
  public AddressInfo {
    route = List.copyOf(route);
  }

  /**
   * Returns the data that must precede the private data of a request to connect.
   *
   * @return the data, read-only; each call returns a buffer with its own position
   */
  @Override
  public ByteBuffer connectData() {
    return connectData.duplicate();
  }

  /**
   * Resolves a name and a service: {@code rdma_getaddrinfo}. The call asks the name services of the
   * system for names, and ibacm, if that runs, for paths. It is made in a daemon thread because
   * nothing can end it: after a timeout or an interrupt, the daemon thread stays until the services
   * answer, which an ibacm that hangs never does.
   *
   * @param node a name or a numeric address; null for any address, if there is a service
   * @param service a name or a port number; null for none, if there is a node
   * @param hints what to look for
   * @param timeout how long that may take
   * @return one or more addresses, the best first
   * @throws InterruptedException if the thread is interrupted
   * @throws IllegalArgumentException if both node and service are null, the timeout is negative,
   *     the hints have a type that their port space does not allow, or they ask for an InfiniBand
   *     address and the node is not a numeric IPv6 address
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws TimeoutException if there was no answer in time
   * @throws RdmaException if the node or the service is not known
   */
  public static List<AddressInfo> resolve(
      @Nullable String node, @Nullable String service, AddressHints hints, Duration timeout)
      throws InterruptedException, TimeoutException {
    if (node == null && service == null) {
      throw new IllegalArgumentException("node and service are null, at least one must be given");
    }
    hints.space().check(hints.queuePairType());
    // C would use any address that it finds as if it were an IPv6 address.
    if (hints.family() == AddressFamily.INFINIBAND && (node == null || node.indexOf(':') < 0)) {
      throw new IllegalArgumentException(
          "node is " + node + ", must be a numeric IPv6 address if family is INFINIBAND");
    }
    Deadline deadline = Deadline.after(timeout);
    NativeLibraries.require();
    String call = "rdma_getaddrinfo(" + node + ", " + service + ")";
    FutureTask<List<AddressInfo>> task =
        new FutureTask<>(() -> resolve(call, node, service, hints));
    DaemonThreads.named("rdma4j-getaddrinfo").start(task);
    try {
      return task.get(deadline.nanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      TimeoutException timedOut =
          new TimeoutException(
              call
                  + ": the name services did not answer within "
                  + TimeText.of(timeout)
                  + ". Wait longer, or give a numeric address");
      timedOut.initCause(late);
      throw timedOut;
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
      return take(result.get(ADDRESS, 0), hints.space(), hints.queuePairType());
    }
  }

  /** Reads a list, and frees it. */
  static List<AddressInfo> take(MemorySegment first, PortSpace space, QueuePairType type) {
    try {
      List<AddressInfo> infos = new ArrayList<>();
      for (MemorySegment each = first; each.address() != 0; ) {
        MemorySegment info = each.reinterpret(rdma_addrinfo.layout().byteSize());
        infos.add(read(info, space, type));
        each = rdma_addrinfo.ai_next(info);
      }
      return List.copyOf(infos);
    } finally {
      rdma_h.rdma_freeaddrinfo(first);
    }
  }

  private static RdmaException failure(String call, int result, int errno) {
    return switch (result) {
      case ERRNO -> CmFailures.of(call, errno);
      case NO_SUCH_NODE ->
          new RdmaException(
              call, 0, "No node of that name is known: check the name, or give a numeric address");
      case NO_SUCH_SERVICE ->
          new RdmaException(
              call, 0, "No service of that name is known: check the name, or give a port number");
      case TRY_AGAIN ->
          new RdmaException(
              call, 0, "The name service does not answer at the moment: try again later");
      default -> new RdmaException(call, 0, "getaddrinfo returned " + result);
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
    rdma_addrinfo.ai_qp_type(raw, hints.queuePairType().value());
    SocketAddress source = hints.source();
    if (source != null) {
      rdma_addrinfo.ai_src_addr(raw, SocketAddresses.write(source, arena));
      rdma_addrinfo.ai_src_len(raw, SocketAddresses.length(source));
    }
    return raw;
  }

  private static AddressInfo read(MemorySegment info, PortSpace space, QueuePairType type) {
    return new AddressInfo(
        (rdma_addrinfo.ai_flags(info) & rdma_h.RAI_PASSIVE()) != 0,
        space,
        type,
        address(rdma_addrinfo.ai_src_addr(info), rdma_addrinfo.ai_src_len(info)),
        address(rdma_addrinfo.ai_dst_addr(info), rdma_addrinfo.ai_dst_len(info)),
        name(info),
        route(rdma_addrinfo.ai_route(info), rdma_addrinfo.ai_route_len(info)),
        PrivateData.read(rdma_addrinfo.ai_connect(info), rdma_addrinfo.ai_connect_len(info)));
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
}
