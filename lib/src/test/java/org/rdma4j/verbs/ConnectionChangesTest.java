package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * The changes of state for each type of connection set the attributes that the kernel requires, and
 * no others.
 */
final class ConnectionChangesTest {
  private static final PathConfig PATH =
      PathConfig.to(new QueuePairAddress(0, 1, 2, Gid.ZERO))
          .gidIndex(PathConfig.NO_GID)
          .mtu(Mtu.MTU_1024);

  private static final int TO_RECEIVE =
      rdma_h.IBV_QP_STATE()
          | rdma_h.IBV_QP_AV()
          | rdma_h.IBV_QP_PATH_MTU()
          | rdma_h.IBV_QP_DEST_QPN()
          | rdma_h.IBV_QP_RQ_PSN();
  private static final int ANSWERING =
      rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC() | rdma_h.IBV_QP_MIN_RNR_TIMER();
  private static final int TO_SEND = rdma_h.IBV_QP_STATE() | rdma_h.IBV_QP_SQ_PSN();
  private static final int ASKING =
      rdma_h.IBV_QP_RETRY_CNT() | rdma_h.IBV_QP_RNR_RETRY() | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC();

  @ParameterizedTest
  @CsvSource({
    "RELIABLE_CONNECTION, true, true, true",
    "UNRELIABLE_CONNECTION, false, false, false",
    "XRC_SEND, false, true, true",
    "XRC_RECEIVE, true, true, false"
  })
  void eachTypeOfConnectionGetsTheAttributesThatItNeeds(
      QueuePairType type, boolean answers, boolean hasTimeout, boolean asks) {
    assertThat(PATH.readyToReceive(type).mask()).isEqualTo(TO_RECEIVE | (answers ? ANSWERING : 0));
    assertThat(PATH.readyToSend(type, 0).mask())
        .isEqualTo(TO_SEND | (hasTimeout ? rdma_h.IBV_QP_TIMEOUT() : 0) | (asks ? ASKING : 0));
  }
}
