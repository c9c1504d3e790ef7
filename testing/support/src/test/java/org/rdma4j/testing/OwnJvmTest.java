package org.rdma4j.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OwnJvmTest {
  @ParameterizedTest
  @CsvSource({
    // a jump
    "128 (SI_KERNEL), e9 3b e9 ba ff fe ff 55, true",
    // the jump, at an address that is not mapped
    "1 (SEGV_MAPERR), e9 3b e9 ba ff fe ff 55, false",
    // a move to or from memory
    "128 (SI_KERNEL), 48 8b 5e 10 e9 3b e9 ba, false",
  })
  void onlyAFaultAtAJumpIsOneOfTheEmulator(String code, String instructions, boolean emulator) {
    String printed =
        """
        siginfo: si_signo: 11 (SIGSEGV), si_code: %s, si_addr: 0x0000000000000000

        Instructions: (pc=0x00007f9620925920)
          0x00007f9620925910:   66 90 44 8b 56 08 44 3b 50 08 0f 85 c0 5a bf ff
        =>0x00007f9620925920:   %s
        """
            .formatted(code, instructions);
    assertEquals(emulator, OwnJvm.isOfEmulator(printed));
  }
}
