package org.rdma4j.bench.posts;

/** What is measured: one half of a post and a poll, which the adapter separates. */
enum Half {
  POST("post"),
  PREPARED("post of a prepared request"),
  INLINE("post of 64 bytes inline"),
  CHAIN("post in a chain of 16"),
  POLL("poll of one"),
  BATCH("poll in a batch of 16"),
  EMPTY("empty poll"),
  POST_ALONE("the call of a post alone"),
  POLL_ALONE("the call of a poll alone"),
  EMPTY_ALONE("the call of an empty poll alone"),
  POST_BY_C("post by C"),
  INLINE_BY_C("post of 64 bytes inline by C"),
  CHAIN_BY_C("post in a chain of 16 by C");

  /** The number of operations in a measured loop, and of those in a chain or a batch. */
  static final int LOOP = 256;

  static final int CHAINED = 16;

  private final String title;

  Half(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
