package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NetworkOrder;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Guid;
import org.rdma4j.verbs.attribute.Mtu;

/** Identifiers and configurations; needs no device. */
final class ValuesTest {
  private static final QueuePairAddress PEER = new QueuePairAddress(1, 2, 3, Gid.ZERO);

  @Property
  void aGidIsParsedFromItsHexadecimalDigits(@ForAll long prefix, @ForAll long interfaceId) {
    Gid gid = new Gid(prefix, interfaceId);
    assertThat(gid.toHex()).hasSize(32).isEqualTo(gid.toHex().toLowerCase(Locale.ROOT));
    assertThat(Gid.ofHex(gid.toHex())).isEqualTo(gid);
  }

  @Property
  void aGidIsWrittenWithItsFirstByteFirst(@ForAll long prefix, @ForAll long id) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment raw = arena.allocate(16);
      new Gid(prefix, id).write(raw);
      assertThat(raw.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) (prefix >>> 56));
      assertThat(raw.get(ValueLayout.JAVA_BYTE, 15)).isEqualTo((byte) id);
      assertThat(Gid.read(raw)).isEqualTo(new Gid(prefix, id));
    }
  }

  @Test
  void aGidReadsAsAnAddress() {
    assertThat(Gid.ofHex("00000000000000000000ffffc0000201")).hasToString("::ffff:192.0.2.1");
    assertThat(Gid.ofHex("fe80000000000000020255fffe000001")).hasToString("fe80::202:55ff:fe00:1");
    assertThat(Gid.ZERO.isZero()).isTrue();
    assertThat(new Gid(0, 1).isZero()).isFalse();
  }

  @Test
  @SuppressWarnings("NullAway") // what null is refused for
  void aQueuePairWithoutACompletionQueueIsRefused() {
    List<ThrowingCallable> configs =
        List.of(
            () -> QueuePairConfig.reliable(null),
            () -> QueuePairConfig.reliable(null, null),
            () -> QueuePairConfig.unreliable(null),
            () -> QueuePairConfig.datagram(null),
            () -> QueuePairConfig.rawPackets(null),
            () -> QueuePairConfig.xrcSend(null),
            () -> QueuePairConfig.xrcReceive(null),
            () -> QueuePairConfig.spread(null));
    for (ThrowingCallable config : configs) {
      assertThatThrownBy(config).isInstanceOf(NullPointerException.class);
    }
  }

  @Property
  void onlyThirtyTwoDigitsAreAGid(@ForAll String text) {
    if (!text.matches("[0-9a-fA-F]{32}")) {
      assertThatThrownBy(() -> Gid.ofHex(text)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aGuidReadsInGroupsOfFourDigits() {
    assertThat(new Guid(0x0002_c903_0000_1d8cL)).hasToString("0002:c903:0000:1d8c");
  }

  @Test
  void immediateDataIsStoredInNetworkByteOrder() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment raw = arena.allocate(ValueLayout.JAVA_INT);
      raw.set(ValueLayout.JAVA_INT, 0, NetworkOrder.of(0x0102_0304));
      assertThat(raw.toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3, 4);
    }
  }

  @Test
  void anMtuIsFoundByItsBytes() {
    for (Mtu mtu : Mtu.values()) {
      assertThat(Mtu.ofBytes(mtu.bytes())).isEqualTo(mtu);
    }
    assertThatThrownBy(() -> Mtu.ofBytes(1000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1000")
        .hasMessageContaining("4096");
  }

  @Test
  void flagsAreReadFromTheirMask() {
    for (AccessFlag flag : AccessFlag.values()) {
      int mask = NativeConstants.mask(List.of(flag, AccessFlag.LOCAL_WRITE));
      assertThat(NativeConstants.flags(AccessFlag.class, mask))
          .isEqualTo(EnumSet.of(flag, AccessFlag.LOCAL_WRITE));
    }
  }

  @Test
  void aStatusOfANewerLibraryIsAGeneralError() {
    assertThat(NativeConstants.of(CompletionStatus.class, 12_345, CompletionStatus.GENERAL_ERROR))
        .isEqualTo(CompletionStatus.GENERAL_ERROR);
  }

  /** A setter of PathConfig, with the range that C and the wire format allow. */
  private enum Ranged {
    GID_INDEX(-2, 0xff, PathConfig::gidIndex),
    PARTITION_KEY_INDEX(0, 0xffff, PathConfig::partitionKeyIndex),
    SERVICE_LEVEL(0, 15, PathConfig::serviceLevel),
    TRAFFIC_CLASS(0, 0xff, PathConfig::trafficClass),
    FLOW_LABEL(0, 0xf_ffff, PathConfig::flowLabel),
    HOP_LIMIT(0, 0xff, PathConfig::hopLimit),
    REMOTE_READS(0, 0xff, PathConfig::remoteReads),
    READS(0, 0xff, PathConfig::reads),
    RNR_TIMER(0, 31, PathConfig::minimumRnrTimer),
    TIMEOUT(0, 31, PathConfig::timeout),
    RETRIES(0, 7, PathConfig::retries),
    RNR_RETRIES(0, 7, PathConfig::rnrRetries);

    final int min;
    final int max;

    @SuppressWarnings("ImmutableEnumChecker") // a method reference
    final BiFunction<PathConfig, Integer, PathConfig> setter;

    Ranged(int min, int max, BiFunction<PathConfig, Integer, PathConfig> setter) {
      this.min = min;
      this.max = max;
      this.setter = setter;
    }
  }

  @Provide
  Arbitrary<Integer> numbers() {
    return Arbitraries.oneOf(
        Arbitraries.integers(),
        Arbitraries.integers().between(-3, 40),
        Arbitraries.integers().between(250, 260),
        Arbitraries.integers().between(0xf_fffe, 0x10_0001),
        Arbitraries.integers().between(0xff_fffe, 0x100_0001));
  }

  @Property(tries = 3000)
  void aPathAcceptsExactlyTheNumbersInRange(
      @ForAll Ranged attribute, @ForAll("numbers") int number) {
    PathConfig path = PathConfig.to(PEER);
    if (number >= attribute.min && number <= attribute.max) {
      assertThat(attribute.setter.apply(path, number)).isNotNull();
    } else {
      assertThatThrownBy(() -> attribute.setter.apply(path, number))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(" is " + number + ", must be from ")
          .hasMessageContaining(attribute.min + " to " + attribute.max);
    }
  }

  @Property
  void anAddressAcceptsExactlyTheNumbersInRange(
      @ForAll("numbers") int lid, @ForAll("numbers") int number, @ForAll("numbers") int psn) {
    boolean valid =
        lid >= 0
            && lid <= 0xffff
            && number >= 0
            && number <= 0xff_ffff
            && psn >= 0
            && psn <= 0xff_ffff;
    if (valid) {
      assertThat(new QueuePairAddress(lid, number, psn, Gid.ZERO).lid()).isEqualTo(lid);
    } else {
      assertThatThrownBy(() -> new QueuePairAddress(lid, number, psn, Gid.ZERO))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Property
  void theRangeCheckReportsValueAndRange(
      @ForAll int value, @ForAll @IntRange(min = -100, max = 0) int min) {
    if (value >= min && value <= 100) {
      assertThat(Range.check("x", value, min, 100)).isEqualTo(value);
    } else {
      assertThatThrownBy(() -> Range.check("x", value, min, 100))
          .hasMessage("x is " + value + ", must be from " + min + " to 100");
    }
  }

  @Test
  void theFlowLabelChoosesTheUdpPortThatPacketsComeFrom() {
    assertThat(new GlobalRoute(Gid.ZERO, 0, 0, 0, 0).udpSourcePort()).isEqualTo(0xc000);
    assertThat(new GlobalRoute(Gid.ZERO, 0, 0x1234, 0, 0).udpSourcePort()).isEqualTo(0xd234);
    assertThat(new GlobalRoute(Gid.ZERO, 0, 0xf_ffff, 0, 0).udpSourcePort()).isEqualTo(0xffc0);
  }
}
