package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.rdma4j.StandIn.assertAsInC;

import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.Reading;
import org.rdma4j.StandIn;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/** Completion queues are described to C, and completions are read, as C does it. */
@Tag(StandIn.TAG)
@Timeout(60)
final class CompletionBytesTest {
  private final RdmaDevice device = StandIn.open();
  private final CompletionChannel channel = device.createCompletionChannel();

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void aQueue() {
    assertAsInC(
        "create_queue",
        () ->
            device.createCompletionQueue(
                CompletionQueueConfig.of(1005).channel(channel).vector(7)));
  }

  private CompletionQueue extended() {
    return device.createCompletionQueue(
        CompletionQueueConfig.of(1004)
            .channel(channel)
            .vector(6)
            .extended(
                EnumSet.complementOf(EnumSet.of(CompletionField.SOURCE_GID))
                    .toArray(CompletionField[]::new)));
  }

  @Test
  void anExtendedQueue() {
    assertAsInC("create_extended_queue", this::extended);
  }

  private static final CompletionQueueConfig LENGTHS =
      CompletionQueueConfig.of(1004).extended(CompletionField.BYTE_LENGTH);

  @Test
  void queuesOfAParentDomain() {
    ProtectionDomain parent = device.allocateProtectionDomain().allocateParentDomain(null);
    assertAsInC(
        "create_extended_queues_of_a_parent_domain",
        () -> {
          device.createCompletionQueue(LENGTHS.parentDomain(parent));
          device.createCompletionQueue(LENGTHS.parentDomain(parent).ignoreOverrun(true));
        });
    ProtectionDomain other = device.allocateProtectionDomain().allocateParentDomain(null);
    device.createCompletionQueue(LENGTHS.parentDomain(other));
    assertAsInC("close_a_parent_domain_with_a_queue", other::close);
  }

  @Test
  void singleThreadedQueues() {
    ProtectionDomain domain = device.allocateProtectionDomain();
    ProtectionDomain parent = domain.allocateParentDomain(device.allocateThreadDomain());
    assertAsInC(
        "create_single_threaded_queues",
        () -> {
          device.createCompletionQueue(LENGTHS.singleThreaded(true));
          device.createCompletionQueue(
              LENGTHS.parentDomain(parent).ignoreOverrun(true).singleThreaded(true));
        });
  }

  @Test
  void aPlainQueueHasNeitherAParentDomainNorTheChoiceToIgnoreOverruns() {
    ProtectionDomain parent = device.allocateProtectionDomain().allocateParentDomain(null);
    CompletionQueueConfig plain = CompletionQueueConfig.of(10);
    assertThatThrownBy(() -> device.createCompletionQueue(plain.parentDomain(parent)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("parentDomain is set");
    assertThatThrownBy(() -> device.createCompletionQueue(plain.ignoreOverrun(true)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ignoreOverrun is set");
  }

  @Test
  void changesOfAQueue() {
    CompletionQueue queue =
        device.createCompletionQueue(CompletionQueueConfig.of(10).channel(channel));
    assertAsInC(
        "change_queue",
        () -> {
          queue.resize(77);
          queue.moderate(0xfedc, 0xba98);
          queue.requestNotification(false);
          queue.requestNotification(true);
        });
    assertThat(queue.capacity()).isEqualTo(78);
  }

  private static void flags(Reading reading, Completions polled, int i) {
    reading
        .number("with_imm", polled.hasImmediate(i) ? 1 : 0)
        .number("grh", polled.hasGlobalRoutingHeader(i) ? 1 : 0)
        .number("with_inv", polled.hasInvalidatedKey(i) ? 1 : 0)
        .number("csum_ok", polled.isChecksumOk(i) ? 1 : 0)
        .number("tm_match", polled.isTagMatched(i) ? 1 : 0)
        .number("tm_data_valid", polled.isTaggedDataValid(i) ? 1 : 0)
        .number("tm_sync_req", polled.isTagSynchronizationWanted(i) ? 1 : 0);
    if (polled.hasImmediate(i)) {
      reading.number("imm_data", polled.immediate(i));
    }
    if (polled.hasInvalidatedKey(i)) {
      reading.number("invalidated_rkey", polled.invalidatedKey(i));
    }
  }

  @Test
  void completionsOfAQueue() {
    CompletionQueue queue = device.createCompletionQueue(CompletionQueueConfig.of(10));
    String inC = StandIn.transcriptOfC("read_completions");
    StandIn.call("complete_three");
    Completions polled = queue.completions(3);
    assertThat(polled.poll()).isEqualTo(3);
    Reading reading = new Reading();
    for (int i = 0; i < polled.size(); i++) {
      reading
          .line("completion")
          .number("wr_id", polled.workRequestId(i))
          .number("status", polled.status(i).value())
          .number("opcode", polled.isSuccess(i) ? polled.opcode(i).value() : 0)
          .number("vendor_err", polled.vendorError(i))
          .number("byte_len", polled.byteLength(i))
          .number("qp_num", polled.queuePairNumber(i))
          .number("src_qp", polled.sourceQueuePairNumber(i))
          .number("pkey_index", polled.partitionKeyIndex(i))
          .number("slid", polled.sourceLid(i))
          .number("sl", polled.serviceLevel(i))
          .number("dlid_path_bits", polled.destinationLidPathBits(i));
      flags(reading, polled, i);
    }
    assertThat(reading).hasToString(inC);
  }

  @ParameterizedTest
  @ValueSource(ints = {24, 1000, Integer.MAX_VALUE, -1, Integer.MIN_VALUE})
  void aStatusOfANewerLibraryIsAGeneralError(int status) {
    CompletionQueue queue = device.createCompletionQueue(CompletionQueueConfig.of(10));
    StandIn.call("complete_one_with", status, 0);
    Completions polled = queue.completions(1);
    assertThat(polled.poll()).isEqualTo(1);
    assertThat(polled.isSuccess(0)).isFalse();
    assertThat(polled.status(0)).isEqualTo(CompletionStatus.GENERAL_ERROR);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 1000, Integer.MAX_VALUE, -1, Integer.MIN_VALUE})
  void anOpcodeOfANewerLibraryIsThatOfADriver(int opcode) {
    CompletionQueue queue = device.createCompletionQueue(CompletionQueueConfig.of(10));
    StandIn.call("complete_one_with", 0, opcode);
    Completions polled = queue.completions(1);
    assertThat(polled.poll()).isEqualTo(1);
    assertThat(polled.opcode(0)).isEqualTo(CompletionOpcode.DRIVER1);
  }

  @Test
  void completionsOfAnExtendedQueue() {
    CompletionQueue queue = extended();
    String inC =
        StandIn.transcriptOfC("read_extended_completions")
            .replace("start_poll\n", "")
            .replace("\nend_poll", "");
    StandIn.call("complete_three");
    Completions polled = queue.completions(2);
    Reading reading = new Reading();
    while (polled.poll() != 0) {
      for (int i = 0; i < polled.size(); i++) {
        reading
            .line("completion")
            .number("wr_id", polled.workRequestId(i))
            .number("status", polled.status(i).value())
            .number("qp_num", polled.queuePairNumber(i));
        if (!polled.isSuccess(i)) {
          reading.number("vendor_err", polled.vendorError(i));
          continue;
        }
        reading
            .number("opcode", polled.opcode(i).value())
            .number("byte_len", polled.byteLength(i))
            .number("src_qp", polled.sourceQueuePairNumber(i))
            .number("slid", polled.sourceLid(i))
            .number("sl", polled.serviceLevel(i))
            .number("dlid_path_bits", polled.destinationLidPathBits(i))
            .number("completion_ts", polled.timestamp(i))
            .number("completion_wallclock_ns", polled.wallClock(i))
            .number("cvlan", polled.vlan(i))
            .number("flow_tag", polled.flowTag(i))
            .number("tag", polled.tag(i))
            .number("priv", polled.tagPrivateData(i));
        flags(reading, polled, i);
      }
    }
    assertThat(reading).hasToString(inC);
  }

  @Test
  void fieldsThatWereNotRequestedAreNotRead() {
    CompletionQueue queue =
        device.createCompletionQueue(
            CompletionQueueConfig.of(10).extended(CompletionField.BYTE_LENGTH));
    StandIn.call("complete_three");
    Completions polled = queue.completions(3);
    assertThat(polled.poll()).isEqualTo(3);
    assertThat(polled.byteLength(0)).isEqualTo(0x81828384L);
    assertThat(polled.tag(0)).isZero();
    assertThat(polled.timestamp(0)).isZero();
    assertThat(polled.wallClock(0)).isZero();
    assertThat(polled.vlan(0)).isZero();
    assertThat(polled.flowTag(0)).isZero();
    assertThat(polled.sourceLid(0)).isZero();
    assertThatThrownBy(() -> polled.hasImmediate(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("CompletionField.FLAGS");
  }

  /** Each completion is read between a start and an end of its own. */
  @Test
  void eachExtendedCompletionIsAPollOfItsOwn() {
    CompletionQueue queue = extended();
    StandIn.call("complete_three");
    Completions polled = queue.completions(2);
    assertThat(StandIn.transcriptOf(polled::poll))
        .isEqualTo("start_poll\nend_poll\nstart_poll\nend_poll");
    assertThat(StandIn.transcriptOf(polled::poll)).isEqualTo("start_poll\nend_poll");
    assertThat(StandIn.transcriptOf(polled::poll)).isEmpty();
  }

  /**
   * Without the poll after the request for an event, the wait would find the completion only when
   * its time is up, as there is no event.
   */
  @Test
  void aCompletionThatCameJustBeforeTheNotificationEndsAWait() throws Exception {
    CompletionQueue queue =
        device.createCompletionQueue(CompletionQueueConfig.of(10).channel(channel));
    Completions polled = queue.completions(1);
    StandIn.call("complete_one_before_the_next_notification");
    int count = assertTimeout(Duration.ofSeconds(10), () -> polled.await(Duration.ofSeconds(20)));
    assertThat(count).isEqualTo(1);
    assertThat(polled.workRequestId(0)).isEqualTo(2);
  }

  @Test
  void aWaitRequestsANotificationAgainOnlyAfterItsEvent() throws Exception {
    CompletionQueue queue =
        device.createCompletionQueue(CompletionQueueConfig.of(10).channel(channel));
    Completions polled = queue.completions(1);
    assertThat(transcriptOfAWait(polled)).contains("request_event");
    assertThat(transcriptOfAWait(polled)).doesNotContain("request_event");
    StandIn.call("complete_one");
    assertThat(channel.awaitEvent(Duration.ofSeconds(10))).contains(queue);
    assertThat(polled.poll()).isEqualTo(1);
    assertThat(transcriptOfAWait(polled)).contains("request_event");
  }

  private static String transcriptOfAWait(Completions polled) {
    return StandIn.transcriptOf(
        () -> {
          try {
            assertThat(polled.await(Duration.ofMillis(10))).isZero();
          } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
          }
        });
  }

  @Test
  void anEventEndsAWaitAndIsAcknowledged() throws Exception {
    CompletionQueue queue =
        device.createCompletionQueue(CompletionQueueConfig.of(10).channel(channel));
    queue.requestNotification(false);
    assertThat(channel.awaitEvent(Duration.ZERO)).isEmpty();
    StandIn.call("complete_one");
    assertAsInC(
        "acknowledge_one",
        () -> {
          try {
            assertThat(channel.awaitEvent(Duration.ofSeconds(10))).contains(queue);
          } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
          }
        });
  }

  @Test
  void theHeaderOfADatagram() {
    MemoryRegion region = device.allocateProtectionDomain().register(4096, AccessFlag.LOCAL_WRITE);
    StandIn.call("write_header");
    GlobalRoutingHeader header = GlobalRoutingHeader.of(region.segment());
    assertThat(
            new Reading()
                .line("read_header")
                .number("version", header.version())
                .number("tclass", header.trafficClass())
                .number("flow", header.flowLabel())
                .number("paylen", header.payloadLength())
                .number("next_hdr", header.nextHeader())
                .number("hop_limit", header.hopLimit())
                .gid("sgid", header.source())
                .gid("dgid", header.destination()))
        .hasToString(StandIn.transcriptOfC("read_header"));
    assertThat(GlobalRoutingHeader.isIpv4(region.segment())).isFalse();
  }
}
