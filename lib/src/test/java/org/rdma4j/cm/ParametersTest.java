package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.generated.ibv_path_data;
import org.rdma4j.bindings.generated.sockaddr_storage;
import org.rdma4j.verbs.address.Gid;

/** What is written for C and read from it, without a device. */
final class ParametersTest {
  private static String bytes(SocketAddress address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment raw = SocketAddresses.write(address, arena);
      return HexFormat.of()
          .formatHex(
              raw.asSlice(0, SocketAddresses.length(address)).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  @Test
  void anIpv4AddressIsASockaddrIn() {
    assertThat(bytes(new InetSocketAddress("192.0.2.1", 0x1d2f)))
        .isEqualTo("0200" + "1d2f" + "c0000201" + "0".repeat(16));
  }

  @Test
  void anIpv6AddressIsASockaddrIn6WithItsScope() throws Exception {
    InetAddress scoped =
        Inet6Address.getByAddress(null, HexFormat.of().parseHex("fe80" + "0".repeat(27) + "1"), 3);
    assertThat(bytes(new InetSocketAddress(scoped, 7471)))
        .isEqualTo("0a00" + "1d2f" + "00000000" + "fe80" + "0".repeat(27) + "1" + "03000000");
  }

  @Test
  void anInfinibandAddressIsASockaddrIb() {
    assertThat(bytes(IbAddress.of(new Gid(0xfe80L << 48, 1), PortSpace.TCP, 7471)))
        .isEqualTo(
            "1b00"
                + "ffff"
                + "00000000"
                + "fe80"
                + "0".repeat(27)
                + "1"
                + "0000000001061d2f"
                + "ffffffffffffffff"
                + "0000000000000000");
  }

  @Property
  void anAddressIsReadAsItWasWritten(
      @ForAll @Size(4) byte[] host, @ForAll @IntRange(max = 0xffff) int port) throws Exception {
    assertRead(new InetSocketAddress(InetAddress.getByAddress(host), port));
  }

  @Property
  void anInfinibandAddressIsReadAsItWasWritten(
      @ForAll long prefix,
      @ForAll long interfaceId,
      @ForAll @IntRange(max = 0xffff) int partitionKey,
      @ForAll long service,
      @ForAll int flowInfo) {
    assertRead(
        new IbAddress(
            new Gid(prefix, interfaceId), partitionKey, service, -1L, flowInfo, interfaceId));
  }

  private static void assertRead(SocketAddress address) {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(SocketAddresses.read(SocketAddresses.write(address, arena))).isEqualTo(address);
    }
  }

  @Test
  void anUnsetAddressIsReadAsTheWildcardAddress() {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(SocketAddresses.read(arena.allocate(sockaddr_storage.layout())))
          .isEqualTo(new InetSocketAddress(0));
    }
  }

  @Test
  void anAddressThatCDoesNotHaveIsRefused() {
    assertThatThrownBy(
            () -> SocketAddresses.check(InetSocketAddress.createUnresolved("nowhere", 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nowhere");
    assertThatThrownBy(() -> SocketAddresses.check(UnixDomainSocketAddress.of("/x")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aPathIsReadAsItWasWritten() {
    PathRecord path =
        new PathRecord(
            PathRecord.BIDIRECTIONAL_PRIMARY_AND_GMP,
            0x0102_0304_0506_0708L,
            new Gid(1, 2),
            new Gid(3, 4),
            5,
            0xffff,
            0xf_fffe,
            7,
            8,
            true,
            0x8001,
            9,
            4,
            10,
            11);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment raw = arena.allocate(ibv_path_data.layout());
      path.write(raw);
      assertThat(PathRecord.read(raw)).isEqualTo(path);
    }
  }

  @Test
  void parametersKeepACopyOfThePrivateData() {
    ByteBuffer data = ByteBuffer.allocate(3).put(1, (byte) 7);
    ConnectionConfig parameters = ConnectionConfig.DEFAULT.privateData(data);
    data.put(1, (byte) 8);
    assertThat(parameters.privateData().get(1)).isEqualTo((byte) 7);
    assertThat(parameters.privateData().isReadOnly()).isTrue();
    parameters.privateData().get();
    assertThat(parameters.privateData().position()).isZero();
  }

  @Test
  void parametersAreReadAsTheyWereWritten() {
    ConnectionConfig parameters =
        ConnectionConfig.DEFAULT
            .privateData(ByteBuffer.wrap(new byte[] {1, 2, 3}))
            .remoteReads(4)
            .reads(5)
            .flowControl(true)
            .retries(6)
            .rnrRetries(7)
            .sharedReceiveQueue(true)
            .queuePairNumber(0xff_fffe);
    try (Arena arena = Arena.ofConfined()) {
      assertThat(ConnectionConfig.read(parameters.write(arena))).isEqualTo(parameters);
    }
  }

  @Test
  void aNumberOutOfItsRangeIsRefusedWithTheRange() {
    assertThatThrownBy(() -> ConnectionConfig.DEFAULT.retries(8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("retries is 8, must be from 0 to 7");
    assertThatThrownBy(() -> ConnectionConfig.DEFAULT.privateData(ByteBuffer.allocate(256)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("256");
    assertThatThrownBy(() -> IbAddress.of(Gid.ZERO, PortSpace.IB, 65_536))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anInfinibandAddressNeedsANumericIpv6Address() {
    AddressHints hints = AddressHints.DEFAULT.family(AddressFamily.INFINIBAND).numericHost(true);
    assertThatThrownBy(() -> AddressInfo.resolve("192.0.2.1", "1", hints, Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("192.0.2.1");
    assertThatThrownBy(
            () -> AddressInfo.resolve(null, null, AddressHints.DEFAULT, Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
