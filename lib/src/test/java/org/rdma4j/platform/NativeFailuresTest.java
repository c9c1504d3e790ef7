package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.attribute.Guid;
import org.rdma4j.verbs.attribute.NodeType;
import org.rdma4j.verbs.attribute.TransportType;

/** Failed calls throw the right exceptions. */
final class NativeFailuresTest {
  private static final int EINVAL = 22;
  private static final int EOPNOTSUPP = 95;

  private static final DeviceInfo DEVICE =
      new DeviceInfo(
          "mlx5_7", new Guid(1), NodeType.CHANNEL_ADAPTER, TransportType.INFINIBAND, "/sys/x", 7);

  @ParameterizedTest
  @CsvSource({"38, ENOSYS", "95, EOPNOTSUPP", "93, EPROTONOSUPPORT"})
  void anUnsupportedCallNamesCallAndDevice(int errno, String name) {
    RdmaException thrown = NativeFailures.failure(DEVICE.name(), "ibv_open_xrcd", errno);
    assertThat(thrown)
        .isInstanceOf(UnsupportedByDeviceException.class)
        .hasMessageContaining("ibv_open_xrcd")
        .hasMessageContaining("mlx5_7")
        .hasMessageContaining(name);
    assertThat(thrown.call()).isEqualTo("ibv_open_xrcd");
    assertThat(thrown.errno()).isEqualTo(errno);
    assertThat(((UnsupportedByDeviceException) thrown).device()).contains("mlx5_7");
  }

  @Test
  void theErrnoValueThatACallReturnsIsThrown() {
    assertThatThrownBy(() -> NativeFailures.check(null, "ibv_fork_init", EOPNOTSUPP))
        .isInstanceOfSatisfying(
            UnsupportedByDeviceException.class, thrown -> assertThat(thrown.device()).isEmpty());
    assertThatThrownBy(() -> NativeFailures.check(DEVICE.name(), "ibv_modify_cq", EOPNOTSUPP))
        .hasMessageContaining("mlx5_7");
    assertThatCode(() -> NativeFailures.check(DEVICE.name(), "ibv_modify_cq", 0))
        .doesNotThrowAnyException();
  }

  @Test
  void theErrnoOfAnObjectThatWasNotCreatedIsThrown() {
    Errno.errno(EOPNOTSUPP);
    assertThatThrownBy(
            () -> NativeFailures.created(DEVICE.name(), "ibv_alloc_td", MemorySegment.NULL))
        .isInstanceOf(UnsupportedByDeviceException.class);
    MemorySegment created = MemorySegment.ofAddress(1);
    assertThat(NativeFailures.created(DEVICE.name(), "ibv_alloc_td", created)).isSameAs(created);
  }

  @Test
  void aCallThatSetsNoErrnoSaysSo() {
    Errno.errno(0);
    assertThatThrownBy(
            () -> NativeFailures.created(DEVICE.name(), "ibv_create_qp", MemorySegment.NULL))
        .isExactlyInstanceOf(RdmaException.class)
        .hasMessageStartingWith("ibv_create_qp failed. The function set no errno");
  }

  @Test
  void otherFailuresAreNotReportedAsMissingSupport() {
    assertThat(NativeFailures.failure(DEVICE.name(), "ibv_modify_cq", EINVAL))
        .isExactlyInstanceOf(RdmaException.class);
  }

  @Test
  void aNegativeErrnoTellsThatTheDeviceLacksTheCall() {
    assertThat(NativeFailures.failure("siw0", "ibv_query_srq", -95))
        .isInstanceOf(UnsupportedByDeviceException.class)
        .hasMessageContaining("EOPNOTSUPP (95)");
  }
}
