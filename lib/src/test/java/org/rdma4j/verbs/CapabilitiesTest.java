package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.Flows;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.bindings.inlines.WorkQueues;
import org.rdma4j.testing.Command;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.attribute.DeviceCapability;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;

/** What a device is said to support is what it does. */
@Tag("device")
final class CapabilitiesTest {
  private static final int EOPNOTSUPP = 95;
  private static final int MORE_THAN_ANY_STRUCT = 1024;

  private RdmaDevice device;

  @BeforeEach
  void open() {
    device = Loopback.openDevice();
  }

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void theExtendedAttributesContainTheBasicOnes() {
    assertThat(device.extendedAttributes().basic()).isEqualTo(device.attributes());
  }

  @Test
  void theExtendedNumberOfPortsIsTheBasicOneUpTo255() {
    assertThat(Math.min(255, device.extendedAttributes().ports()))
        .isEqualTo(device.attributes().ports());
  }

  @Test
  void theExtendedAttributesAreThoseOfDevinfo() throws Exception {
    String devinfo = Command.output("ibv_devinfo", "-v", "-d", device.info().name());
    ExtendedDeviceAttributes attributes = device.extendedAttributes();
    assertThat(devinfo)
        .containsPattern("max_tso:\\s+" + attributes.segmentationOffload().maxBytes() + "\n")
        .containsPattern(
            "max_rwq_indirection_tables:\\s+"
                + attributes.receiveSideScaling().maxIndirectionTables()
                + "\n")
        .containsPattern("max_wq_type_rq:\\s+" + attributes.maxReceiveWorkQueues() + "\n")
        .containsPattern("qp_rate_limit_max:\\s+" + attributes.packetPacing().maxRate() + "kbps\n");
    assertThat(devinfo.contains("ODP_SUPPORT\n"))
        .isEqualTo(attributes.onDemandPaging().supported());
    assertThat(devinfo.contains("tag matching not supported"))
        .isEqualTo(attributes.tagMatching().maxTags() == 0);
    assertThat(devinfo.contains("completion_timestamp_mask not supported"))
        .isEqualTo(attributes.completionTimestampMask() == 0);
    for (String flag : new String[] {"XRC", "SRQ_RESIZE", "MEM_MGT_EXTENSIONS"}) {
      assertThat(devinfo.contains("\t" + flag + "\n"))
          .as(flag)
          .isEqualTo(attributes.capabilities().contains(CAPABILITIES.get(flag)));
    }
  }

  private static final Map<String, DeviceCapability> CAPABILITIES =
      Map.of(
          "XRC", DeviceCapability.XRC,
          "SRQ_RESIZE", DeviceCapability.RESIZE_SHARED_RECEIVE_QUEUE,
          "MEM_MGT_EXTENSIONS", DeviceCapability.MEMORY_MANAGEMENT_EXTENSIONS);

  /** Each operation is called with zeros; a function that refuses does not read its arguments. */
  @Tag("needs-refusals-of-software")
  @Test
  void operationsThatTheProviderRefusesAreNotSupported() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment context = device.handle();
      MemorySegment zeros = arena.allocate(MORE_THAN_ANY_STRUCT, 8);
      Map<DeviceOperation, BooleanSupplier> lacking = new EnumMap<>(DeviceOperation.class);
      lacking.put(
          DeviceOperation.ALLOCATE_THREAD_DOMAIN,
          () -> refused(Verbs.ibv_alloc_td(context, zeros)));
      lacking.put(
          DeviceOperation.ALLOCATE_PARENT_DOMAIN,
          () -> refused(Verbs.ibv_alloc_parent_domain(context, zeros)));
      lacking.put(
          DeviceOperation.CREATE_COUNTERS,
          () -> refused(Flows.ibv_create_counters(context, zeros)));
      lacking.put(
          DeviceOperation.CREATE_ESP_FLOW_ACTION,
          () -> refused(Flows.ibv_create_flow_action_esp(context, zeros)));
      lacking.put(
          DeviceOperation.OPEN_XRC_DOMAIN, () -> refused(Verbs.ibv_open_xrcd(context, zeros)));
      lacking.put(
          DeviceOperation.CREATE_WORK_QUEUE,
          () -> refused(WorkQueues.ibv_create_wq(context, zeros)));
      lacking.put(
          DeviceOperation.CREATE_INDIRECTION_TABLE,
          () -> refused(WorkQueues.ibv_create_rwq_ind_table(context, zeros)));
      lacking.put(
          DeviceOperation.READ_CLOCK,
          () -> Verbs.ibv_query_rt_values_ex(context, zeros) == EOPNOTSUPP);
      lacking.forEach(
          (operation, isRefused) ->
              assertThat(device.supports(operation))
                  .as(operation.name())
                  .isEqualTo(!isRefused.getAsBoolean()));
    }
  }

  private static boolean refused(MemorySegment created) {
    return created.address() == 0 && Errno.errno() == EOPNOTSUPP;
  }

  @Tag("needs-soft-roce")
  @Test
  void operationsOfSoftRoceAreSupported() {
    assertThat(device.supports(DeviceOperation.ALLOCATE_MEMORY_WINDOW)).isTrue();
    assertThat(device.supports(DeviceOperation.BIND_MEMORY_WINDOW)).isTrue();
    assertThat(device.supports(DeviceOperation.CREATE_SHARED_RECEIVE_QUEUE)).isTrue();
    assertThat(device.supports(DeviceOperation.CREATE_EXTENDED_QUEUE_PAIR)).isTrue();
    assertThat(device.supports(DeviceOperation.ATTACH_MULTICAST)).isTrue();
    assertThat(device.supports(DeviceOperation.RESIZE_COMPLETION_QUEUE)).isTrue();
  }

  @Tag("needs-soft-roce")
  @Test
  void operationsThatSoftRoceLacksAreNotSupported() {
    assertThat(device.supports(DeviceOperation.ALLOCATE_DEVICE_MEMORY)).isFalse();
    assertThat(device.supports(DeviceOperation.REREGISTER_MEMORY_REGION)).isFalse();
    // Soft-RoCE has it from Linux 7 on.
    assertThat(device.supports(DeviceOperation.PAGE_ON_DEMAND))
        .isEqualTo(device.extendedAttributes().onDemandPaging().supported());
    assertThat(device.supports(DeviceOperation.CREATE_FLOW)).isFalse();
    assertThat(device.supports(DeviceOperation.MODERATE_COMPLETION_QUEUE)).isFalse();
  }

  @Tag("needs-refusals-of-software")
  @Test
  void aClockThatCannotBeReadNamesTheDevice() {
    assertThat(device.supports(DeviceOperation.READ_CLOCK)).isFalse();
    assertThatThrownBy(device::rawClock)
        .isInstanceOfSatisfying(
            UnsupportedByDeviceException.class,
            thrown -> assertThat(thrown.device()).contains(device.info().name()))
        .hasMessageContaining("ibv_query_rt_values_ex")
        .hasMessageContaining("EOPNOTSUPP");
  }

  @Test
  void aGidEntryIsThatOfTheTable() {
    for (GidEntry entry : device.port(1).gids()) {
      assertThat(device.port(entry.port()).gidEntry(entry.index())).contains(entry);
    }
  }

  @Tag("needs-ip-gids")
  @Test
  void anEmptyGidEntryIsEmpty() {
    assertThat(device.port(1).gidEntry(device.port(1).attributes().gidTableLength() - 1))
        .isEqualTo(Optional.empty());
    assertThatThrownBy(() -> device.port(1).gidEntry(device.port(1).attributes().gidTableLength()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("GID index");
  }

  @Tag("needs-partition-keys")
  @Test
  void aPartitionKeyIsFoundByItsValue() {
    assertThat(device.port(1).partitionKeyIndex(device.port(1).partitionKey(0))).hasValue(0);
    assertThat(device.port(1).partitionKeyIndex(0x1234)).isEmpty();
    assertThatThrownBy(() -> device.port(1).partitionKeyIndex(0x10000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65536");
    assertThatThrownBy(() -> device.port(0).partitionKeyIndex(1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Tag("needs-refusals-of-software")
  @Test
  void softwareDevicesCannotBeImported() {
    int descriptor = device.commandFileDescriptor();
    assertThatThrownBy(() -> RdmaDevice.importDevice(descriptor))
        .isInstanceOf(UnsupportedByDeviceException.class)
        .hasMessageContaining("ibv_import_device");
    assertThat(device.allocateProtectionDomain().handle().address()).isNotZero();
  }

  @Test
  void aDescriptorThatIsNotADeviceCannotBeImported() {
    assertThatThrownBy(() -> RdmaDevice.importDevice(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("commandFileDescriptor is -1");
    assertThatThrownBy(() -> RdmaDevice.importDevice(1_000_000))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("EBADF");
    assertThatThrownBy(() -> RdmaDevice.importDevice(0)).isInstanceOf(RdmaException.class);
  }

  @Tag("needs-refusals-of-software")
  @Test
  void importingLeavesNoDescriptorBehind() throws IOException {
    int descriptor = device.commandFileDescriptor();
    long before = openDescriptors();
    for (int i = 0; i < 50; i++) {
      assertThatThrownBy(() -> RdmaDevice.importDevice(descriptor))
          .isInstanceOf(RdmaException.class);
    }
    assertThat(openDescriptors()).isLessThan(before + 50);
  }

  private static long openDescriptors() throws IOException {
    try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.count();
    }
  }

  @Test
  void aClosedDeviceRefusesQueries() {
    device.close();
    assertThatThrownBy(device::extendedAttributes).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(device::rawClock).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> device.supports(DeviceOperation.READ_CLOCK))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> device.port(1).partitionKeyIndex(1))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> device.port(1).gidEntry(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(device::commandFileDescriptor).isInstanceOf(IllegalStateException.class);
  }
}
