package org.rdma4j.samples;

import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;

/**
 * What all else of a queue pair depends on and closes with, where the device is the connection
 * manager's, which closes nothing of ours.
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
