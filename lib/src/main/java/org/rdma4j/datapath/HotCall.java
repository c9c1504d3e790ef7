package org.rdma4j.datapath;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.inlines.DataPath;

/**
 * What one thread uses to call into the data path of one queue, until it or the queue ends that.
 *
 * <p>A thread that calls leaves no mark, so that a call costs one look at who owns the right. The
 * closer takes the right away and then looks at the owner's stack, for which the virtual machine
 * stops that thread: either it is inside a method of this class, and the closer waits, or the next
 * one that it enters sees that the right is gone. Between that look and the call into C there is no
 * place where a thread can be stopped without this class showing on its stack.
 *
 * <p>It is a superclass, since a field that leads to it costs as much as all its checks.
 */
public abstract class HotCall {
  /** So many polls come without a safepoint before one with it. */
  private static final int POLLS_PER_SAFEPOINT = 1024;

  private static final Thread CLOSED = Thread.ofPlatform().unstarted(() -> {});
  private static final VarHandle OWNER;

  static {
    try {
      OWNER = MethodHandles.lookup().findVarHandle(HotCall.class, "owner", Thread.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** Null until a thread uses it; {@link #CLOSED} once no thread may. */
  private @Nullable Thread owner;

  private int pollsToSafepoint = POLLS_PER_SAFEPOINT;

  /** What messages call it. */
  private final String name;

  private final long queue;

  /**
   * The function where it is called critically and nothing comes before, else 0, as once the right
   * is gone: a single look tells.
   */
  private long directOp;

  private final long criticalOp;
  private final long plainOp;

  /** Whether requests point to what has to be there still when they are posted. */
  private boolean referring;

  protected HotCall(Target target) {
    this.name = target.name;
    this.queue = target.queue.address();
    this.criticalOp = target.critical ? target.op : 0;
    this.directOp = criticalOp;
    this.plainOp = target.critical ? 0 : target.op;
    target.calls.add(this);
  }

  /**
   * What is called.
   *
   * @param calls all those of the queue
   * @param name what messages call this one
   * @param critical whether to call without the change of the thread's state
   * @param op the pointer to the function; 0 where what is called takes several
   * @param queue the pointer that it is given first
   */
  public record Target(
      HotCalls calls, String name, boolean critical, long op, MemorySegment queue) {}

  /** Checks that it is this thread's, which it becomes where it is nobody's. */
  protected final void own() {
    if (owner != Thread.currentThread()) {
      adopt();
    }
  }

  /**
   * Checks that it is this thread's. For what comes between a call of {@link #own} and another:
   * since this never goes on with another owner, the compiler knows him from here on.
   */
  protected final void check() {
    if (owner != Thread.currentThread()) {
      throw refusal((Thread) OWNER.getVolatile(this));
    }
  }

  /**
   * Posts a chain: 0 or the errno value. A loop of posts without polls ends by itself, when the
   * queue is full; so only polls see to it that there is a safepoint now and then.
   */
  protected final int post(long requests, long badRequest) {
    // The compiler joins this with the check of the request that was built just before. The right
    // may be gone since: the function is, then, and is looked at behind a fence.
    own();
    VarHandle.acquireFence();
    long op = directOp;
    return op != 0
        ? DataPath.ibv_post$critical(op, queue, requests, badRequest)
        : postIndirect(requests, badRequest);
  }

  private int postIndirect(long requests, long badRequest) {
    begin();
    if (referring) {
      checkReferents();
    }
    return criticalOp != 0
        ? DataPath.ibv_post$critical(criticalOp, queue, requests, badRequest)
        : plainOp != 0
            ? DataPath.ibv_post(plainOp, queue, requests, badRequest)
            : postExtended(requests);
  }

  /** Polls: the number of completions, or a negative value. */
  protected final int poll(int max, long completions) {
    begin();
    int polled =
        directOp != 0
            ? DataPath.ibv_poll_cq$critical(directOp, queue, max, completions)
            : plainOp != 0
                ? DataPath.ibv_poll_cq(plainOp, queue, max, completions)
                : pollExtended(max, completions);
    if (--pollsToSafepoint < 0) {
      pollsToSafepoint = POLLS_PER_SAFEPOINT;
      DataPath.safepoint();
    }
    return polled;
  }

  private void begin() {
    // The compiler must not move the look up, before where the thread may have been stopped.
    VarHandle.acquireFence();
    own();
  }

  /** Has each post check what its requests point to. */
  protected final void refer() {
    referring = true;
    directOp = 0;
  }

  /** Throws where something that a request points to is gone. */
  protected void checkReferents() {}

  /** Posts where the target has no function for it. */
  protected int postExtended(long requests) {
    throw new IllegalStateException("nothing posts " + requests);
  }

  /** Polls where the target has no function for it. */
  protected int pollExtended(int max, long completions) {
    throw new IllegalStateException("nothing polls " + max + " to " + completions);
  }

  /** Gives the right up, so that the next thread that asks gets it. */
  protected final void releaseOwnership() {
    own();
    OWNER.compareAndSet(this, Thread.currentThread(), null);
  }

  /** Takes the right away from the thread that it returns, which may still be inside a call. */
  final @Nullable Thread revoke() {
    Thread last = (Thread) OWNER.getAndSet(this, CLOSED);
    directOp = 0;
    return last == CLOSED ? null : last;
  }

  /** The thread that may be inside a call. */
  final @Nullable Thread owner() {
    Thread now = (Thread) OWNER.getVolatile(this);
    return now == CLOSED ? null : now;
  }

  private void adopt() {
    Thread witness = (Thread) OWNER.compareAndExchange(this, (Thread) null, Thread.currentThread());
    if (witness != null) {
      throw refusal(witness);
    }
  }

  private IllegalStateException refusal(@Nullable Thread ownedBy) {
    if (ownedBy == CLOSED) {
      return new IllegalStateException(name + ": the queue is closed");
    }
    if (ownedBy == null) {
      return new IllegalStateException(
          name + " belongs to no thread: add(id) or post() makes it this one's");
    }
    return new IllegalStateException(
        name
            + " belongs to thread \""
            + ownedBy.getName()
            + "\" and was used by \""
            + Thread.currentThread().getName()
            + "\": each thread makes its own, or the owner calls release()");
  }
}
