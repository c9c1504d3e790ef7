package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ErrorNumber;
import org.rdma4j.StandIn;

/** How the answers of a provider to operations on tags are used. */
@Tag(StandIn.TAG)
final class TagOperationsTest {
  private final RdmaDevice device = StandIn.open();
  private final SharedReceiveQueue queue =
      device
          .allocateProtectionDomain()
          .createSharedReceiveQueue(
              SharedReceiveQueueConfig.of(8)
                  .tagMatching(device.createCompletionQueue(CompletionQueueConfig.of(100)), 4, 4));
  private final TagOperations operations = queue.tagOperations(4);

  @AfterEach
  void close() {
    device.close();
  }

  private void addTags(int first, int last) {
    for (int id = first; id <= last; id++) {
      operations.add(id).tag(id, -1, id);
    }
  }

  private void assertPosted(int first, int last) {
    assertThat(
            StandIn.transcriptOf(() -> assertThat(operations.post()).isEqualTo(last - first + 1)))
        .isEqualTo(StandIn.transcriptOfC("add_tags_of", first, last));
  }

  @Test
  void theHandleOfATagIsKnownAfterThePostAndCanBeRemoved() {
    addTags(1, 2);
    operations.post();
    int handle = operations.handle(1);
    assertThat(operations.handle(0)).isEqualTo(handle - 1);
    assertThatThrownBy(() -> operations.handle(2)).isInstanceOf(IndexOutOfBoundsException.class);
    TagOperations others = queue.tagOperations(1);
    assertThat(StandIn.transcriptOf(() -> others.add(3).remove(handle).post()))
        .isEqualTo(StandIn.transcriptOfC("remove_tag", handle));
  }

  @Test
  void anUnknownHandleIsRefusedAndTheOperationStaysUnchanged() {
    operations.add(1).tag(1, -1, 1);
    assertThatThrownBy(() -> operations.remove(3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("handle is 3");
    assertPosted(1, 1);
  }

  @Test
  void aRefusedOperationIsReportedAndKeptWithThoseAfterIt() {
    addTags(1, 3);
    StandIn.call("refuse", 1, ErrorNumber.ENOMEM.value(), 1);
    assertThatThrownBy(operations::post)
        .isInstanceOfSatisfying(
            PostException.class, thrown -> assertThat(thrown.index()).isEqualTo(1))
        .hasMessageContaining("ibv_post_srq_ops")
        .hasMessageContaining("ENOMEM");
    assertThat(operations.size()).isEqualTo(2);
    int handle = operations.handle(0);
    assertThatThrownBy(() -> operations.handle(1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertPosted(2, 3);
    assertThat(operations.size()).isZero();
    assertThat(operations.handle(0)).isEqualTo(handle + 1);
  }

  @Test
  void aRefusalWithoutAnOperationDropsAll() {
    StandIn.call("refuse", 0, ErrorNumber.ENOMEM.value(), 0);
    addTags(1, 1);
    assertThatThrownBy(operations::post)
        .isInstanceOfSatisfying(
            PostException.class,
            thrown -> assertThat(thrown.index()).isEqualTo(PostException.UNKNOWN));
    assertThat(operations.size()).isZero();
  }

  /** As from the posts of siw, cxgb4, qedr and erdma. */
  @Test
  void aNegativeErrnoHasItsNameAndItsAdvice() {
    StandIn.call("refuse", 0, -ErrorNumber.ENOMEM.value(), 1);
    addTags(1, 1);
    assertThatThrownBy(operations::post)
        .isInstanceOfSatisfying(
            PostException.class,
            thrown -> assertThat(thrown.errno()).isEqualTo(ErrorNumber.ENOMEM.value()))
        .hasMessageContaining("ENOMEM (12), cannot allocate memory. The queue is full");
  }

  @Test
  void theBatchHoldsItsMaximum() {
    addTags(0, 3);
    assertThatThrownBy(() -> operations.add(4))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("all 4 operations");
    operations.clear();
    assertThat(StandIn.transcriptOf(() -> assertThat(operations.post()).isZero())).isEmpty();
    assertThatThrownBy(() -> operations.tag(1, 1, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("add(id)");
  }

  @Test
  void nothingWorksAfterTheQueueIsClosed() {
    addTags(1, 1);
    queue.close();
    assertThat(
            StandIn.transcriptOf(
                () ->
                    assertThatThrownBy(operations::post).isInstanceOf(IllegalStateException.class)))
        .isEmpty();
    assertThatThrownBy(() -> operations.add(2)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> operations.synchronize(0)).isInstanceOf(IllegalStateException.class);
  }
}
