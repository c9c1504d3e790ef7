package org.rdma4j.nio;

import java.util.Locale;

/** Why a channel stays on TCP, as counters distinguish it. */
enum StayReason {
  UNAVAILABLE("RDMA is off, or this process cannot use it"),
  SOFTWARE_DEVICE("the device is a software device"),
  SAME_HOST("the peer is on this host"),
  OTHER_NETWORK("the peer is in none of the networks in org.rdma4j.nio.allowedNetworks"),
  LIMIT("as many channels are over RDMA as org.rdma4j.nio.maxUpgradedChannels allows"),
  MEMORY("the channels of this process use too much registered memory"),
  REFUSED("the peer has refused, does not answer, or listens over TCP only"),
  LEFT_ALONE("the peer has refused another channel a moment ago"),
  ONE_DIRECTION("one direction has carried too little for a proof"),
  NOT_ASKED("the client has not asked for an upgrade"),
  URGENT_DATA("the program has asked for urgent data, which RDMA does not have"),
  FAILED("this side could not connect");

  private final String text;

  StayReason(String text) {
    this.text = text;
  }

  /** Returns the reason in words, for operators. */
  String text() {
    return text;
  }

  /** Returns the name as tags and maps have it, such as {@code same-host}. */
  String tag() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
