package org.rdma4j.connection.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The page that describes the wire protocol says what the code does. */
final class ProtocolPageTest {
  private static final Hello HELLO = new Hello(4096, 2, 64, 1 << 20);

  private final String page = read();

  private static String read() {
    try {
      return Files.readString(Path.of("src/main/java/org/rdma4j/connection/wire/package-info.java"))
          .replaceAll("\\s*\\n \\*\\s*", " ");
    } catch (IOException missing) {
      throw new AssertionError(missing);
    }
  }

  @Test
  void theHelloHasTheNumbersOfThePage() {
    ByteBuffer hello = HELLO.write();
    assertThat(page)
        .contains("are %d bytes, big-endian".formatted(hello.remaining()))
        .contains("the number 0x%x".formatted(hello.getInt()));
    int version = hello.getInt();
    assertThat(page)
        .contains("Wire protocol, version %d<".formatted(version))
        .contains("the version %d,".formatted(version))
        .contains("a last byte of 0x%x".formatted(hello.get(Hello.BYTES - 1)));
  }

  @ParameterizedTest
  @EnumSource
  void eachKindHasTheNumberOfThePage(MessageKind kind) {
    String name =
        kind == MessageKind.RETURN ? "credits given back" : kind.name().toLowerCase(Locale.ROOT);
    assertThat(page).containsPattern("[ ,]%d %s".formatted(kind.code(), name));
  }

  @Test
  void theKindsThatNeedACreditAreThoseOfThePage() {
    assertThat(page).contains("A message of kind 0 to 4, 7 or 8 needs a credit");
    for (MessageKind kind : MessageKind.values()) {
      assertThat(kind.takesCredit())
          .as(kind.name())
          .isEqualTo(kind.code() <= 4 || kind.code() >= 7);
    }
  }

  @Test
  void lengthsAndLimitsAreThoseOfThePage() {
    assertThat(page)
        .contains("a header of %d bytes".formatted(MessageHeader.BYTES))
        .contains("flags: %d what follows is an offer".formatted(MessageHeader.OFFER))
        .contains("%d the sender closes the connection".formatted(MessageHeader.CLOSED))
        .contains("%d the connection is broken".formatted(MessageHeader.BROKEN))
        .contains("of a message, %d others follow".formatted(MessageHeader.PACKED))
        .contains("needs a credit, %d its sender lacked one".formatted(MessageHeader.LACKED_CREDIT))
        .contains("by the flag %d that it had more".formatted(MessageHeader.LACKED_CREDIT))
        .contains("%d for packed messages".formatted(Hello.PACKED))
        .contains("its length (%d bytes) and its bytes".formatted(MessageHeader.LENGTH_BYTES))
        .contains("2 for one receive for messages of the protocol itself and the flag 32")
        .contains("of any message, %d its sender has read".formatted(MessageHeader.PROTOCOL_READ))
        .contains("by the flag %d of any message".formatted(MessageHeader.PROTOCOL_READ))
        .contains("A side grants %d credit at first".formatted(Credits.FIRST_WINDOW))
        .contains("made %d offers".formatted(Offer.MAX_UNFETCHED));
    assertThat(Offer.BYTES).as("4 + 8 + 8 + 8 + 8 + 4 bytes of the page").isEqualTo(40);
  }
}
