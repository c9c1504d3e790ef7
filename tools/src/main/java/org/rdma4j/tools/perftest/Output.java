package org.rdma4j.tools.perftest;

/** What a program prints. */
enum Output {
  /** The options, the addresses, and a table of results. */
  TABLE,
  /** Only the average bandwidth. */
  BANDWIDTH,
  /** Only the number of messages per second, in millions. */
  MESSAGE_RATE,
  /** Only the average latency. */
  LATENCY,
  /** A JSON object. */
  JSON
}
