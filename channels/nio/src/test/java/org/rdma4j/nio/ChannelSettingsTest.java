package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The system properties of the channels. */
final class ChannelSettingsTest {
  private static ChannelSettings read(String name, String value) {
    return ChannelSettings.read(Map.of("org.rdma4j.nio." + name, value)::get);
  }

  @Test
  void withoutPropertiesChannelsAreUpgraded() {
    ChannelSettings settings = ChannelSettings.read(Map.<String, String>of()::get);
    assertThat(settings.enabled()).isTrue();
    assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(10));
    assertThat(settings.retryDelaySeconds()).isEqualTo(60);
    InetAddress any = InetAddress.ofLiteral("192.0.2.7");
    assertThat(settings.rdmaAddress(any)).isEqualTo(any);
  }

  @Test
  void withoutASecretAPeerProvesAllThatIsRecorded(@TempDir Path folder) throws Exception {
    ChannelSettings usual = ChannelSettings.read(Map.<String, String>of()::get);
    assertThat(usual.proof().suffices(1023, 1 << 20)).isFalse();
    assertThat(usual.proof().suffices(1024, 1024)).isTrue();
    Path file = Files.write(folder.resolve("secret"), new byte[16]);
    assertThat(read("secretFile", file.toString()).proof().suffices(1, 1)).isTrue();
  }

  @Test
  void anAddressOfTcpHasOneOfRdma() {
    ChannelSettings settings = read("addressMap", "10.0.0.1=192.0.2.1, 10.0.0.2=2001:db8::2");
    assertThat(settings.rdmaAddress(InetAddress.ofLiteral("10.0.0.2")))
        .isEqualTo(InetAddress.ofLiteral("2001:db8::2"));
    assertThat(read("enabled", "false").enabled()).isFalse();
  }

  @Test
  void onlyPeersInAllowedNetworksAreUpgraded() {
    ChannelSettings all = ChannelSettings.read(Map.<String, String>of()::get);
    assertThat(all.includes(InetAddress.ofLiteral("192.0.2.7"))).isTrue();
    ChannelSettings some = read("allowedNetworks", "10.16.0.0/12, 192.0.2.7,2001:db8::/32");
    for (String each : List.of("10.16.0.1", "10.31.255.255", "192.0.2.7", "2001:db8:1::1")) {
      assertThat(some.includes(InetAddress.ofLiteral(each))).as(each).isTrue();
    }
    for (String each : List.of("10.15.0.1", "10.32.0.0", "192.0.2.6", "2001:db9::1", "::1")) {
      assertThat(some.includes(InetAddress.ofLiteral(each))).as(each).isFalse();
    }
    assertThat(read("allowedNetworks", "0.0.0.0/0").includes(InetAddress.ofLiteral("8.8.8.8")))
        .isTrue();
  }

  @Test
  void channelsTakeLessMemoryThanTheProgramUnlessTheSettingSaysMore() {
    assertThat(MemoryBudget.usual(16L << 30)).isEqualTo(1L << 30);
    assertThat(MemoryBudget.usual(512L << 20)).isEqualTo(256L << 20);
    assertThat(MemoryBudget.usual(16L << 20)).isEqualTo(64L << 20);
    assertThat(read("maxRegisteredBytes", "4000000000").maxRegisteredBytes())
        .isEqualTo(4_000_000_000L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "enabled|maybe|must be true or false",
        "devices|some|must be adapters or all",
        "upgradeAfterBytes|31|must be a number, at least 32",
        "timeoutSeconds|soon|must be a number, at least 1",
        "retryDelaySeconds|-1|must be a number, at least 0",
        "maxUpgradedChannels|0|must be a number, at least 1",
        "maxRegisteredBytes|1000000|must be a number, at least 33554432",
        "maxRegisteredBytes|34359738369|must be at most 34359738368",
        "allowedNetworks|10.0.0.0/33|contains 10.0.0.0/33, which is no network",
        "allowedNetworks|10.0.0.0/8,|contains , which is no network",
        "addressMap|10.0.0.1|must be TCP=RDMA,TCP=RDMA and so on",
        "addressMap|10.0.0.1=server|contains server, which is no IP address",
        "secretFile|/nowhere/at/all|cannot be read",
      })
  void aWrongValueIsRefusedWithTheRemedy(String name, String value, String message) {
    assertThatThrownBy(() -> read(name, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("org.rdma4j.nio." + name + " is " + value)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "upgrade, enabled",
    "secret, secretFile",
    "after, upgradeAfterBytes",
    "timeout, timeoutSeconds",
    "refused, retryDelaySeconds",
    "most, maxUpgradedChannels",
    "networks, allowedNetworks",
    "addresses, addressMap",
  })
  void anOldNameIsRefusedWithTheNewOne(String old, String now) {
    assertThatThrownBy(() -> read(old, "100"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("org.rdma4j.nio." + old + " is 100: it has another name now")
        .hasMessageEndingWith("set org.rdma4j.nio." + now);
  }

  @Test
  void aShortSecretIsRefused(@TempDir Path folder) throws Exception {
    Path file = Files.write(folder.resolve("secret"), new byte[15]);
    assertThatThrownBy(() -> read("secretFile", file.toString()))
        .hasMessageContaining("has 15 bytes, must have at least 16 random ones");
    Files.write(file, new byte[16]);
    assertThat(read("secretFile", file.toString()).enabled()).isTrue();
  }
}
