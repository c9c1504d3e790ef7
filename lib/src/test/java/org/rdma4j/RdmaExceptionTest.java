package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The message of an exception contains the call, the errno and what to do about it. */
final class RdmaExceptionTest {
  private static final String REMOVED = "device was removed";

  private static String message(String call, ErrorNumber number) {
    return String.valueOf(new RdmaException(call, number.value()).getMessage());
  }

  @Test
  void theMessageContainsTheCallAndTheErrno() {
    RdmaException failed = new RdmaException("ibv_alloc_pd", ErrorNumber.ENOMEM.value());
    assertThat(failed).hasMessage("ibv_alloc_pd failed: ENOMEM (12), cannot allocate memory");
    assertThat(failed.errnoName()).isEqualTo("ENOMEM");
    assertThat(failed.function()).isEqualTo("ibv_alloc_pd");
    assertThat(new RdmaException("ibv_open_device(rxe0)", 2).function())
        .isEqualTo("ibv_open_device");
  }

  @Test
  void anUnknownErrnoIsANumber() {
    RdmaException failed = new RdmaException("ibv_alloc_pd", 4711);
    assertThat(failed).hasMessage("ibv_alloc_pd failed: errno 4711");
    assertThat(failed.errnoName()).isEqualTo("4711");
  }

  @ParameterizedTest
  @CsvSource({
    "ibv_query_device, ENODEV",
    "ibv_post_send, EIO",
    "'connection to /192.0.2.1:7471', ENODEV",
    "rdma_connect(/192.0.2.1:7471), ENODEV",
    "rdma_accept, EIO"
  })
  void anOpenDeviceThatDoesNotExistAnyMoreWasRemoved(String call, ErrorNumber number) {
    assertThat(message(call, number)).contains(REMOVED, "close it and open it again");
  }

  @ParameterizedTest
  @CsvSource({"rdma_create_event_channel", "rdma_create_id", "'rdma_getaddrinfo(127.0.0.1, 7471)'"})
  void aMachineThatNeverHadADeviceIsReferredToAvailability(String call) {
    assertThat(message(call, ErrorNumber.ENODEV))
        .contains("sees no RDMA device", "RdmaDevice.availability()")
        .doesNotContain(REMOVED);
  }

  @ParameterizedTest
  @CsvSource({
    "rdma_bind_addr(/192.0.2.1:7471)",
    "rdma_resolve_addr(/127.0.0.1:7471)",
    "rdma_resolve_route"
  })
  void anAddressWithoutADeviceIsNotARemovedDevice(String call) {
    assertThat(message(call, ErrorNumber.ENODEV))
        .contains("No RDMA device", "127.0.0.1 and ::1", "rdma link")
        .doesNotContain(REMOVED);
  }

  @ParameterizedTest
  @CsvSource({
    "EADDRNOTAVAIL, No network interface of this machine has this address",
    "ENETUNREACH, no route to the address",
    "EHOSTUNREACH, No host answers"
  })
  void anAddressThatCannotBeReachedSaysWhy(ErrorNumber number, String reason) {
    assertThat(message("rdma_resolve_addr(/10.1.2.3:7471)", number)).contains(reason);
  }

  @ParameterizedTest
  @CsvSource({"EADDRINUSE", "EADDRNOTAVAIL"})
  void aPortThatIsTakenSaysSo(ErrorNumber number) {
    assertThat(message("rdma_bind_addr(0.0.0.0/0.0.0.0:7471)", number))
        .contains("port is in use", "rdma resource show cm_id");
    assertThat(message("rdma_resolve_addr(/10.1.2.3:7471)", ErrorNumber.EADDRNOTAVAIL))
        .doesNotContain("port is in use");
  }

  @ParameterizedTest
  @CsvSource({"ENOENT", "EACCES", "EPERM"})
  void aDeviceFileThatCannotBeOpenedIsNamed(ErrorNumber number) {
    assertThat(message("ibv_open_device(rxe0)", number))
        .contains("/dev/infiniband/uverbs*", "ib_uverbs", "container");
    assertThat(message("rdma_create_event_channel", number))
        .contains("/dev/infiniband/rdma_cm", "rdma_ucm", "container");
  }

  @Test
  void aDeviceThatIsRemovedBeforeItIsOpenedCannotBeClosed() {
    assertThat(message("ibv_open_device(rxe0)", ErrorNumber.ENODEV))
        .contains(REMOVED, "RdmaDevice.list()")
        .doesNotContain("close it");
  }

  @ParameterizedTest
  @CsvSource({"ibv_modify_qp(to READY_TO_RECEIVE)", "ibv_create_ah(AddressVector[port=1])"})
  void anEmptyGidIndexIsReferredToTheIndicesInUse(String call) {
    assertThat(message(call, ErrorNumber.ENODATA)).contains("GID", "Port.gids()");
  }

  @Test
  void onlyCapacitiesAreReferredToTheLimits() {
    assertThat(message("ibv_create_qp", ErrorNumber.EINVAL)).contains("capacity");
    assertThat(message("ibv_create_ah(AddressVector[port=1])", ErrorNumber.EINVAL))
        .contains("address vector")
        .doesNotContain("capacity");
    assertThat(message("ibv_create_flow", ErrorNumber.EINVAL)).doesNotContain("capacity");
  }

  /** Functions whose names begin like that of a function with advice. */
  @Test
  void adviceIsForOneFunctionAndNotForOthersWithAlikeNames() {
    assertThat(message("ibv_modify_qp_rate_limit(RateLimit[rate=1])", ErrorNumber.EINVAL))
        .endsWith("EINVAL (22), invalid argument");
    assertThat(message("ibv_create_ah_from_wc", ErrorNumber.ENODATA))
        .endsWith("ENODATA (61), no data available");
    assertThat(message("ibv_postpone", ErrorNumber.ENOMEM)).doesNotContain("queue");
  }

  @ParameterizedTest
  @CsvSource({
    "'ibv_reg_mr(4096 bytes, [])', ulimit -l",
    "ibv_post_send, poll completions",
    "ibv_bind_mw, poll completions"
  })
  void aLackOfMemorySaysOfWhich(String call, String advice) {
    assertThat(message(call, ErrorNumber.ENOMEM)).contains(advice);
  }

  @ParameterizedTest
  @CsvSource({"rdma_create_event_channel", "ibv_open_device(rxe0)", "ibv_create_comp_channel"})
  void tooManyOpenFilesAreNotAMissingDevice(String call) {
    assertThat(message(call, ErrorNumber.EMFILE)).contains("ulimit -n");
  }

  @Test
  void aSystemWithTooManyOpenFilesIsNotAProcessWithTooMany() {
    assertThat(message("ibv_open_device(rxe0)", ErrorNumber.ENFILE))
        .contains("fs.file-max")
        .doesNotContain("ulimit");
  }

  @Test
  void aPortThatNeedsRightsSaysWhich() {
    assertThat(message("rdma_bind_addr(/192.0.2.1:80)", ErrorNumber.EACCES))
        .contains("CAP_NET_BIND_SERVICE", "1024");
  }

  @Test
  void memoryThatMayOnlyBeReadSaysHowToRegisterIt() {
    assertThat(message("ibv_reg_mr(4096 bytes, [])", ErrorNumber.EFAULT))
        .contains("READ_ONLY", "READ_WRITE", "LOCAL_WRITE");
  }

  @Test
  void aRegionWithoutMemoryMayBeTooLargeForTheDriver() {
    assertThat(new RdmaException("ibv_reg_mr", 12))
        .hasMessageContaining("raise the memlock limit")
        .hasMessageContaining("soft-RoCE of newer kernels takes at most 1 GiB per region");
  }

  @Test
  void aNegativeErrnoIsTreatedLikeThePositiveOne() {
    RdmaException failed = new RdmaException("ibv_post_send of request 0 of the batch", -12);
    assertThat(failed)
        .hasMessage(new RdmaException("ibv_post_send of request 0 of the batch", 12).getMessage());
    assertThat(failed.errno()).isEqualTo(12);
    assertThat(failed.errnoName()).isEqualTo("ENOMEM");
  }
}
