package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.address.Gid;

@Tag("device")
final class AddressInfoTest {
  private static final AddressHints DIGITS = AddressHints.DEFAULT.numericHost(true);

  @Test
  void aNumericAddressIsResolvedToThePeersAddress() throws Exception {
    AddressInfo info = AddressInfo.resolve("192.0.2.9", "7471", DIGITS, PATIENCE).getFirst();
    assertThat(info.destination()).isEqualTo(new InetSocketAddress("192.0.2.9", 7471));
    assertThat(info.source()).isNull();
    assertThat(info.space()).isEqualTo(PortSpace.TCP);
  }

  @Test
  void aPassiveAddressIsTheLocalOne() throws Exception {
    AddressInfo info = AddressInfo.resolve(null, "7471", DIGITS.passive(true), PATIENCE).getFirst();
    assertThat(info.passive()).isTrue();
    assertThat(info.source())
        .isInstanceOfSatisfying(
            InetSocketAddress.class,
            source -> {
              assertThat(source.getPort()).isEqualTo(7471);
              assertThat(source.getAddress().isAnyLocalAddress()).isTrue();
            });
  }

  @Test
  void theSourceInTheHintsIsKept() throws Exception {
    InetSocketAddress source = new InetSocketAddress("192.0.2.7", 0);
    AddressInfo info =
        AddressInfo.resolve("192.0.2.9", "7471", DIGITS.source(source), PATIENCE).getFirst();
    assertThat(info.source()).isEqualTo(source);
  }

  @Test
  void anIpv6AddressBecomesAnInfinibandAddressIfTheHintsAskForIt() throws Exception {
    AddressInfo info =
        AddressInfo.resolve(
                "fe80::1",
                "7471",
                DIGITS.family(AddressFamily.INFINIBAND).space(PortSpace.IB),
                PATIENCE)
            .getFirst();
    assertThat(info.destination())
        .isInstanceOfSatisfying(
            IbAddress.class,
            address -> {
              assertThat(address.gid()).isEqualTo(new Gid(0xfe80L << 48, 1));
              assertThat(address.port()).isEqualTo(7471);
            });
  }

  @Test
  void aNameIsRefusedIfTheHintsAskForANumericAddress() {
    assertThatThrownBy(() -> AddressInfo.resolve("nowhere.invalid", "1", DIGITS, PATIENCE))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("nowhere.invalid")
        .hasMessageContaining("No node of that name");
  }

  /** On a busy machine, the answer is there at times before anybody could wait for it. */
  @Test
  void aTimeoutOfZeroDoesNotWait() {
    assertThat(IntStream.range(0, 20)).anyMatch(i -> endsWithATimeout());
  }

  private static boolean endsWithATimeout() {
    try {
      AddressInfo.resolve("192.0.2.9", "1", DIGITS, Duration.ZERO);
      return false;
    } catch (TimeoutException late) {
      assertThat(late)
          .hasMessageContaining("192.0.2.9")
          .hasMessageContaining("did not answer within 0 s");
      return true;
    } catch (InterruptedException never) {
      throw new AssertionError(never);
    }
  }
}
