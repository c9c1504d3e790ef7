package org.rdma4j.endpoint;

import java.net.SocketAddress;

/** Makes an endpoint for each peer that has sent its address. */
record EndpointAnswers(EndpointConfig config) implements PendingPeers.Preparation<Endpoint> {
  @Override
  public Endpoint prepare(SocketAddress peer, EndpointAddress remote) throws HandshakeException {
    return EndpointSetup.answer(peer, config, remote);
  }

  @Override
  public EndpointAddress local(Endpoint prepared) {
    return prepared.local();
  }

  @Override
  public void discard(Endpoint prepared) {
    prepared.close();
  }
}
