package org.rdma4j.samples.messages;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.samples.testing.Outcome;
import org.rdma4j.verbs.RdmaDevice;

class EndpointProgramsTest {
  /** The default of --timeout, for which a server would wait, is longer. */
  @Timeout(30)
  @ParameterizedTest
  @ValueSource(strings = {"endpoint-pingpong", "read-write-demo"})
  void serverWithoutDeviceFailsAtOnce(String program) {
    Outcome outcome =
        RdmaDevice.list().isEmpty()
            ? Outcome.of(program)
            : Outcome.of(program, "-d", "nosuchdevice0");

    outcome.assertFailed("no RDMA device");
  }
}
