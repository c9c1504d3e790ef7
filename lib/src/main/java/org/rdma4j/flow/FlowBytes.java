package org.rdma4j.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.rdma4j.bindings.generated.ibv_flow_attr;
import org.rdma4j.bindings.generated.ibv_flow_spec_action_drop;
import org.rdma4j.bindings.generated.ibv_flow_spec_action_handle;
import org.rdma4j.bindings.generated.ibv_flow_spec_action_tag;
import org.rdma4j.bindings.generated.ibv_flow_spec_esp;
import org.rdma4j.bindings.generated.ibv_flow_spec_eth;
import org.rdma4j.bindings.generated.ibv_flow_spec_gre;
import org.rdma4j.bindings.generated.ibv_flow_spec_ipv4;
import org.rdma4j.bindings.generated.ibv_flow_spec_ipv4_ext;
import org.rdma4j.bindings.generated.ibv_flow_spec_ipv6;
import org.rdma4j.bindings.generated.ibv_flow_spec_mpls;
import org.rdma4j.bindings.generated.ibv_flow_spec_tcp_udp;
import org.rdma4j.bindings.generated.ibv_flow_spec_tunnel;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;

/**
 * A flow rule in the form of C: {@code struct ibv_flow_attr}, directly followed by one struct for
 * each specification.
 */
final class FlowBytes {
  private static final int SIZE_OFFSET = (int) ibv_flow_spec_eth.size$offset();

  private static final Match ETHERNET =
      new Match(
          rdma_h.IBV_FLOW_SPEC_ETH(),
          ibv_flow_spec_eth.layout(),
          ibv_flow_spec_eth.val$offset(),
          ibv_flow_spec_eth.mask$offset());
  private static final Match IPV4 =
      new Match(
          rdma_h.IBV_FLOW_SPEC_IPV4(),
          ibv_flow_spec_ipv4.layout(),
          ibv_flow_spec_ipv4.val$offset(),
          ibv_flow_spec_ipv4.mask$offset());
  private static final Match EXTENDED_IPV4 =
      new Match(
          rdma_h.IBV_FLOW_SPEC_IPV4_EXT(),
          ibv_flow_spec_ipv4_ext.layout(),
          ibv_flow_spec_ipv4_ext.val$offset(),
          ibv_flow_spec_ipv4_ext.mask$offset());
  private static final Match IPV6 =
      new Match(
          rdma_h.IBV_FLOW_SPEC_IPV6(),
          ibv_flow_spec_ipv6.layout(),
          ibv_flow_spec_ipv6.val$offset(),
          ibv_flow_spec_ipv6.mask$offset());
  private static final Match TCP =
      new Match(
          rdma_h.IBV_FLOW_SPEC_TCP(),
          ibv_flow_spec_tcp_udp.layout(),
          ibv_flow_spec_tcp_udp.val$offset(),
          ibv_flow_spec_tcp_udp.mask$offset());
  private static final Match UDP =
      new Match(
          rdma_h.IBV_FLOW_SPEC_UDP(),
          ibv_flow_spec_tcp_udp.layout(),
          ibv_flow_spec_tcp_udp.val$offset(),
          ibv_flow_spec_tcp_udp.mask$offset());
  private static final Match ESP =
      new Match(
          rdma_h.IBV_FLOW_SPEC_ESP(),
          ibv_flow_spec_esp.layout(),
          ibv_flow_spec_esp.val$offset(),
          ibv_flow_spec_esp.mask$offset());
  private static final Match GRE =
      new Match(
          rdma_h.IBV_FLOW_SPEC_GRE(),
          ibv_flow_spec_gre.layout(),
          ibv_flow_spec_gre.val$offset(),
          ibv_flow_spec_gre.mask$offset());
  private static final Match VXLAN_TUNNEL =
      new Match(
          rdma_h.IBV_FLOW_SPEC_VXLAN_TUNNEL(),
          ibv_flow_spec_tunnel.layout(),
          ibv_flow_spec_tunnel.val$offset(),
          ibv_flow_spec_tunnel.mask$offset());
  private static final Match MPLS =
      new Match(
          rdma_h.IBV_FLOW_SPEC_MPLS(),
          ibv_flow_spec_mpls.layout(),
          ibv_flow_spec_mpls.val$offset(),
          ibv_flow_spec_mpls.mask$offset());

  private FlowBytes() {}

  /** Writes a rule, in a call that keeps the objects that the rule names open. */
  static MemorySegment of(FlowRule rule, Arena arena) {
    List<MemorySegment> specifications = new ArrayList<>();
    long size = ibv_flow_attr.layout().byteSize();
    for (FlowSpecification each : rule.specifications()) {
      MemorySegment bytes = MemorySegment.ofBuffer(of(each).clear());
      specifications.add(bytes);
      size += bytes.byteSize();
    }
    MemorySegment flow = arena.allocate(size, Long.BYTES);
    ibv_flow_attr.type(flow, rule.type().value());
    ibv_flow_attr.size(flow, (short) size);
    ibv_flow_attr.priority(flow, (short) rule.priority());
    ibv_flow_attr.num_of_specs(flow, (byte) specifications.size());
    ibv_flow_attr.port(flow, (byte) rule.port());
    ibv_flow_attr.flags(flow, NativeConstants.mask(rule.flags()));
    long offset = ibv_flow_attr.layout().byteSize();
    for (MemorySegment bytes : specifications) {
      MemorySegment.copy(bytes, 0, flow, offset, bytes.byteSize());
      offset += bytes.byteSize();
    }
    return flow;
  }

  private static ByteBuffer of(FlowSpecification specification) {
    if (specification instanceof FlowSpecification.Inner inner) {
      return of(inner.header(), rdma_h.IBV_FLOW_SPEC_INNER());
    }
    if (specification instanceof FlowSpecification.Header header) {
      return of(header, 0);
    }
    if (specification instanceof FlowSpecification.Tag tag) {
      return begin(rdma_h.IBV_FLOW_SPEC_ACTION_TAG(), ibv_flow_spec_action_tag.layout().byteSize())
          .putInt((int) ibv_flow_spec_action_tag.tag_id$offset(), tag.tag());
    }
    if (specification instanceof FlowSpecification.Encryption encryption) {
      return pointing(rdma_h.IBV_FLOW_SPEC_ACTION_HANDLE(), encryption.action().pointer());
    }
    if (specification instanceof FlowSpecification.Count count) {
      return pointing(rdma_h.IBV_FLOW_SPEC_ACTION_COUNT(), count.counters().pointer());
    }
    return begin(rdma_h.IBV_FLOW_SPEC_ACTION_DROP(), ibv_flow_spec_action_drop.layout().byteSize());
  }

  /**
   * Writes {@code ibv_flow_spec_action_handle}, or {@code ibv_flow_spec_counter_action}, which has
   * the same layout.
   */
  static ByteBuffer pointing(int type, MemorySegment object) {
    return begin(type, ibv_flow_spec_action_handle.layout().byteSize())
        .putLong((int) ibv_flow_spec_action_handle.action$offset(), object.address());
  }

  /**
   * Writes the beginning, which is the same for all specifications, and leaves space for the rest.
   */
  private static ByteBuffer begin(int type, long size) {
    return ByteBuffer.allocate((int) size)
        .order(ByteOrder.nativeOrder())
        .putInt(0, type)
        .putShort(SIZE_OFFSET, (short) size);
  }

  private static ByteBuffer of(FlowSpecification.Header header, int inner) {
    if (header instanceof FlowSpecification.Ethernet each) {
      return ETHERNET.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.Ipv4 each) {
      return IPV4.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.ExtendedIpv4 each) {
      return EXTENDED_IPV4.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.Ipv6 each) {
      return IPV6.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.Tcp each) {
      return TCP.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.Udp each) {
      return UDP.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.Esp each) {
      return ESP.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.Gre each) {
      return GRE.of(inner, each.value()::write, each.mask()::write);
    }
    if (header instanceof FlowSpecification.VxlanTunnel each) {
      return VXLAN_TUNNEL.of(inner, to -> to.putInt(each.value()), to -> to.putInt(each.mask()));
    }
    FlowSpecification.Mpls last = (FlowSpecification.Mpls) header;
    return MPLS.of(inner, to -> to.putInt(last.value()), to -> to.putInt(last.mask()));
  }

  /** The struct that matches a header; its fields are in network byte order. */
  private record Match(int type, MemoryLayout layout, long value, long mask) {
    ByteBuffer of(int inner, Consumer<ByteBuffer> writeValue, Consumer<ByteBuffer> writeMask) {
      ByteBuffer bytes = begin(type | inner, layout.byteSize()).order(ByteOrder.BIG_ENDIAN);
      writeValue.accept(bytes.position((int) value));
      writeMask.accept(bytes.position((int) mask));
      return bytes;
    }
  }
}
