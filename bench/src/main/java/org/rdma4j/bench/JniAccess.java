package org.rdma4j.bench;

/** How bindings over JNI write requests and read completions. */
public enum JniAccess {
  /**
   * As DiSNI does: the request lies in a direct buffer from before, of which only the id changes.
   */
  SERIALIZED,
  /** With a call for each field. */
  FIELD_BY_FIELD
}
