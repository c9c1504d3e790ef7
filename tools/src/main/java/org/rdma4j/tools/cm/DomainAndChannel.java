package org.rdma4j.tools.cm;

import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;

/**
 * A protection domain and a completion channel. Closing them also closes what the program creates
 * on them; closing the device is not possible, since it belongs to the connection manager.
 */
record DomainAndChannel(ProtectionDomain domain, CompletionChannel channel)
    implements AutoCloseable {
  static DomainAndChannel of(RdmaDevice device) {
    ProtectionDomain domain = device.allocateProtectionDomain();
    try {
      return new DomainAndChannel(domain, device.createCompletionChannel());
    } catch (RuntimeException failed) {
      domain.close();
      throw failed;
    }
  }

  @Override
  public void close() {
    channel.close();
    domain.close();
  }
}
