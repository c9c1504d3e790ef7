package org.rdma4j.nio;

import java.util.Locale;

/** Why a channel stays on TCP, as counters tell it apart. */
enum StayReason {
  /** RDMA is off, or this process cannot use it. */
  UNAVAILABLE,
  /** The device is one of software. */
  SOFTWARE_DEVICE,
  /** The peer is on this host. */
  SAME_HOST,
  /** The peer is in none of the networks of the setting. */
  OTHER_NETWORK,
  /** As many channels are over RDMA as the setting allows. */
  LIMIT,
  /** The channels of the process use too much memory. */
  MEMORY,
  /** The peer has refused, does not answer, or listens over TCP only. */
  REFUSED,
  /** The peer has refused another channel a moment ago. */
  LEFT_ALONE,
  /** One direction has carried too little for a proof. */
  ONE_DIRECTION,
  /** No client has asked in time. */
  NOT_ASKED,
  /** The program has asked for urgent data, which RDMA does not have. */
  URGENT_DATA,
  /** This side could not connect. */
  FAILED;

  /** Returns the name as tags and maps have it, such as {@code same-host}. */
  String tag() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
