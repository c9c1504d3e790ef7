package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.StandIn.assertAsInC;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.StandIn;

/** Objects, most of which no software device has, are created, changed and destroyed as in C. */
@Tag(StandIn.TAG)
final class ObjectBytesTest {
  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue completions =
      device.createCompletionQueue(CompletionQueueConfig.of(1000));

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void protectionDomains() {
    assertAsInC("allocate_a_domain", device::allocateProtectionDomain);
    assertAsInC("deallocate_the_domain", device.allocateProtectionDomain()::close);
  }

  @Test
  void threadDomainsAndParentDomains() {
    assertAsInC("allocate_a_thread_domain", device::allocateThreadDomain);
    ThreadDomain threads = device.allocateThreadDomain();
    assertAsInC(
        "allocate_a_parent_domain_with_threads", () -> domain.allocateParentDomain(threads));
    ThreadDomain others = device.allocateThreadDomain();
    domain.allocateParentDomain(others);
    assertAsInC("deallocate_the_thread_domain", others::close);
  }

  @Test
  void aParentDomainWithoutAThreadDomain() {
    assertAsInC("allocate_a_parent_domain", () -> domain.allocateParentDomain(null));
  }

  @Test
  void xrcDomains(@TempDir Path directory) throws Exception {
    assertAsInC("open_an_xrc_domain", () -> device.openXrcDomain());
    assertAsInC("close_the_xrc_domain", device.openXrcDomain()::close);
    Path file = Files.createFile(directory.resolve("shared"));
    assertAsInC(
        "share_xrc_domains",
        () -> {
          device.openXrcDomain(file, true);
          device.openXrcDomain(file, false);
        });
  }

  @Test
  void sharedReceiveQueues() {
    assertAsInC("create_shared_receive_queue", () -> domain.createSharedReceiveQueue(1001, 7));
    XrcDomain xrcDomain = device.openXrcDomain();
    assertAsInC(
        "create_xrc_receive_queue",
        () ->
            domain.createSharedReceiveQueue(
                SharedReceiveQueueConfig.of(102).sges(8).xrc(xrcDomain, completions)));
    assertAsInC(
        "create_tag_matching_queue",
        () ->
            domain.createSharedReceiveQueue(
                SharedReceiveQueueConfig.of(100).sges(9).tagMatching(completions, 404, 105)));
  }

  @Test
  void changesOfASharedReceiveQueue() {
    SharedReceiveQueue queue = domain.createSharedReceiveQueue(100, 7);
    assertThat(queue.query()).isEqualTo(new SharedReceiveQueueAttributes(100, 5, 6));
    assertThat(queue.number()).isEqualTo(0xabcdef);
    assertAsInC(
        "change_shared_receive_queue",
        () -> {
          queue.limit(66);
          queue.resize(77);
          queue.close();
        });
  }

  private WorkQueue workQueue() {
    return domain.createWorkQueue(
        WorkQueueConfig.of(completions, 201).sges(7).flags(WorkQueueFlag.values()));
  }

  @Test
  void workQueues() {
    assertAsInC("create_work_queue", this::workQueue);
    WorkQueue queue = workQueue();
    assertThat(queue.number()).isEqualTo(0x71727374);
    assertThat(queue.receiveRequests(204)).as("the granted depth").isNotNull();
    assertAsInC(
        "change_work_queue",
        () -> {
          queue.modify(WorkQueueState.READY);
          queue.modifyFlags(
              List.of(WorkQueueFlag.DELAY_DROP), List.of(WorkQueueFlag.VLAN_STRIPPING));
        });
    assertThat(queue.state()).isEqualTo(WorkQueueState.READY);
  }

  @Test
  void indirectionTables() {
    WorkQueue queue = workQueue();
    assertAsInC("create_table", () -> device.createIndirectionTable(queue, queue, queue, queue));
  }

  @Test
  void aWorkQueueIsDestroyedAfterItsTable() {
    WorkQueue queue = workQueue();
    device.createIndirectionTable(queue, queue);
    assertAsInC("destroy_table_and_work_queue", queue::close);
  }

  @Test
  void aDeviceIsClosedAfterItsObjects() {
    RdmaDevice other = StandIn.open();
    CompletionChannel channel = other.createCompletionChannel();
    ProtectionDomain itsDomain = other.allocateProtectionDomain();
    CompletionQueue queue = other.createCompletionQueue(8, channel);
    itsDomain.createQueuePair(QueuePairConfig.reliable(queue));
    String ofJava = StandIn.transcriptOf(other::close);
    assertThat(ofJava.lines())
        .containsExactlyInAnyOrderElementsOf(
            StandIn.transcriptOfC("close_the_device").lines().toList());
    assertThat(ofJava).startsWith("ibv_destroy_qp").contains("\nibv_close_device");
  }
}
