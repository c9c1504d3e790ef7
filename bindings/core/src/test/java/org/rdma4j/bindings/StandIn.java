package org.rdma4j.bindings;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.verbs_context;

/**
 * A verbs_context that a test makes, in memory with room for one of any version and architecture on
 * both sides.
 *
 * @param extended where the verbs_context begins according to the bindings
 * @param context its last field, where C finds the verbs_context
 */
record StandIn(MemorySegment extended, MemorySegment context) {
  static StandIn in(Arena arena) {
    long room = 2 * verbs_context.layout().byteSize();
    MemorySegment memory = arena.allocate(2 * room, 16);
    return new StandIn(memory.asSlice(room - verbs_context.context$offset()), memory.asSlice(room));
  }
}
