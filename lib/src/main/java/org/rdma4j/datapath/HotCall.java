package org.rdma4j.datapath;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.inlines.DataPath;

/**
 * The way of one thread into the data path of one queue. The first thread that uses it becomes its
 * owner, until the thread gives up the ownership or the queue is closed.
 *
 * <p>A call does not write anything to mark that it is in progress: it only checks who the owner
 * is. To close the queue, a thread takes the ownership away, and then looks at the stack of the
 * last owner. For this look the JVM stops the owner. If the owner is inside a method of this class,
 * the closing thread waits; otherwise the next method of this class that the owner enters finds
 * that the ownership is gone. Between this check and the call into C, a thread cannot be stopped
 * without this class being on its stack.
 *
 * <p>This is a superclass and not a field, because the indirection through a field costs as much as
 * all of the checks.
 */
public abstract class HotCall {
  /** The number of polls after which one includes a safepoint. */
  private static final int POLLS_PER_SAFEPOINT = 1024;

  /** Takes the place of a function pointer if a post or poll takes several functions. */
  private static final long SEVERAL = 1;

  /** The name of the method by which a thread becomes the owner, in stack traces. */
  static final String ADOPT = "adopt";

  private static final Thread CLOSED = Thread.ofPlatform().unstarted(() -> {});
  private static final VarHandle OWNER;

  static {
    try {
      OWNER = MethodHandles.lookup().findVarHandle(HotCall.class, "owner", Thread.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /**
   * The thread that may call; null if there is none yet, {@link #CLOSED} when the queue is closed.
   */
  private @Nullable Thread owner;

  private int pollsToSafepoint = POLLS_PER_SAFEPOINT;

  /** The name of this object in messages. */
  private final String name;

  private final long queue;
  private final long function;
  private final boolean critical;
  private final HotCalls calls;

  /*
   * The function pointer if a call needs no other check than that of the owner; otherwise 0. It is
   * in the field for the style of the calls; SEVERAL is in that of plain calls. Whatever makes
   * another check necessary sets both fields to 0, so that one load answers all questions. The next
   * call then looks closer.
   */
  private long criticalOp;
  private long plainOp;

  /** Guards the changes of both fields. */
  private final Object arming = new Object();

  protected HotCall(Target target) {
    this.name = target.name;
    this.queue = target.queue.address();
    this.function = target.op == 0 ? SEVERAL : target.op;
    this.critical = target.critical && target.op != 0;
    this.calls = target.calls;
    target.calls.add(this);
  }

  /**
   * The function that is called.
   *
   * @param calls all calls of the queue
   * @param name the name of the caller in messages
   * @param critical whether to call C functions as critical ones, without a change of the thread's
   *     state
   * @param op the pointer to the function; 0 if a post or poll takes several functions
   * @param queue the first argument of the function
   */
  public record Target(
      HotCalls calls, String name, boolean critical, long op, MemorySegment queue) {}

  /**
   * Claims the ownership for the current thread if there is no owner; throws if another thread is
   * the owner.
   */
  protected final void own() {
    if (owner != Thread.currentThread()) {
      adopt();
    }
  }

  /**
   * Throws if the current thread is not the owner. For use after a call of {@link #own}: this
   * method never changes the owner, so the compiler can drop repeated checks.
   */
  protected final void check() {
    if (owner != Thread.currentThread()) {
      throw refusal((Thread) OWNER.getVolatile(this));
    }
  }

  /**
   * Posts a chain, and returns 0 or an errno value. Only polls include a safepoint now and then: a
   * loop of posts without polls ends by itself, when the queue is full.
   */
  protected final int post(long requests, long badRequest) {
    // The compiler may merge this check with that of the request built just before. The ownership
    // may have been taken away since then, but the pointer is 0 in this case, and is read after a
    // fence.
    own();
    VarHandle.acquireFence();
    long op = criticalOp;
    return op != 0
        ? DataPath.ibv_post$critical(op, queue, requests, badRequest)
        : postOtherwise(requests, badRequest);
  }

  private int postOtherwise(long requests, long badRequest) {
    long op = plainOp;
    if (op == SEVERAL) {
      return postExtended(requests, badRequest);
    }
    return op != 0
        ? DataPath.ibv_post(op, queue, requests, badRequest)
        : postAfterCloserLook(requests, badRequest);
  }

  private int postAfterCloserLook(long requests, long badRequest) {
    lookCloser();
    if (function == SEVERAL) {
      return postExtended(requests, badRequest);
    }
    return critical
        ? DataPath.ibv_post$critical(function, queue, requests, badRequest)
        : DataPath.ibv_post(function, queue, requests, badRequest);
  }

  /** Polls, and returns the number of completions, or a negative value. */
  protected final int poll(int max, long completions) {
    own();
    VarHandle.acquireFence();
    long op = criticalOp;
    int polled =
        op != 0
            ? DataPath.ibv_poll_cq$critical(op, queue, max, completions)
            : pollOtherwise(max, completions);
    if (--pollsToSafepoint < 0) {
      pollsToSafepoint = POLLS_PER_SAFEPOINT;
      DataPath.safepoint();
    }
    return polled;
  }

  private int pollOtherwise(int max, long completions) {
    long op = plainOp;
    if (op == SEVERAL) {
      return pollExtended(max, completions);
    }
    return op != 0
        ? DataPath.ibv_poll_cq(op, queue, max, completions)
        : pollAfterCloserLook(max, completions);
  }

  private int pollAfterCloserLook(int max, long completions) {
    lookCloser();
    if (function == SEVERAL) {
      return pollExtended(max, completions);
    }
    return critical
        ? DataPath.ibv_poll_cq$critical(function, queue, max, completions)
        : DataPath.ibv_poll_cq(function, queue, max, completions);
  }

  /** Makes all checks of a call, and arms the next ones if these need not repeat them. */
  private void lookCloser() {
    arm();
    // The compiler must not move the check up, to before a point where the thread can be stopped.
    VarHandle.acquireFence();
    own();
    inspect();
  }

  private void arm() {
    if (isFree()) {
      synchronized (arming) {
        // A thread that closes the queue sets the owner first, and then disarms this object.
        if (OWNER.getVolatile(this) != CLOSED && isFree()) {
          criticalOp = critical ? function : 0;
          plainOp = critical ? 0 : function;
        }
      }
    }
  }

  /**
   * Makes the next call look closer. A thread calls this after it has changed something that {@link
   * #isFree} or {@link #inspect} depends on.
   */
  protected final void disarm() {
    synchronized (arming) {
      criticalOp = 0;
      plainOp = 0;
    }
  }

  /**
   * Returns whether calls need no {@link #inspect} until a thread calls {@link #disarm}. The owner
   * calls this twice: the second time with the lock that {@link #disarm} takes, so that a change
   * comes before this answer or disarms after it.
   */
  protected boolean isFree() {
    return true;
  }

  /** Throws IllegalStateException if the call must not be made. */
  protected void inspect() {}

  /** Posts if the target has no function for it. */
  protected int postExtended(long requests, long badRequest) {
    throw new IllegalStateException("no function to post " + requests);
  }

  /** Polls if the target has no function for it. */
  protected int pollExtended(int max, long completions) {
    throw new IllegalStateException(
        "no function to poll " + max + " completions to " + completions);
  }

  /** Gives up the ownership; the next thread that calls {@link #own} gets it. */
  protected final void releaseOwnership() {
    own();
    calls.leave(this);
    OWNER.compareAndSet(this, Thread.currentThread(), null);
  }

  /** Takes the ownership away. Returns the thread that had it, which may still be inside a call. */
  final @Nullable Thread revoke() {
    Thread last = (Thread) OWNER.getAndSet(this, CLOSED);
    disarm();
    return last == CLOSED ? null : last;
  }

  /** Returns the owner, which may be inside a call. */
  final @Nullable Thread owner() {
    Thread now = (Thread) OWNER.getVolatile(this);
    return now == CLOSED ? null : now;
  }

  /**
   * Makes the current thread the owner. It may wait here for other threads. Whatever these have
   * changed meanwhile is found by the checks that a call makes after this.
   */
  private void adopt() {
    Thread witness = (Thread) OWNER.compareAndExchange(this, (Thread) null, Thread.currentThread());
    if (witness != null) {
      throw refusal(witness);
    }
    try {
      calls.enter(this);
    } catch (IllegalStateException ofAnotherThread) {
      OWNER.compareAndSet(this, Thread.currentThread(), null);
      throw ofAnotherThread;
    }
  }

  private IllegalStateException refusal(@Nullable Thread ownedBy) {
    if (ownedBy == CLOSED) {
      return new IllegalStateException(name + ": the queue is closed");
    }
    if (ownedBy == null) {
      return new IllegalStateException(
          name + " belongs to no thread; call add(id) or post() to own it");
    }
    return new IllegalStateException(
        name
            + " belongs to thread \""
            + ownedBy.getName()
            + "\" and was used by \""
            + Thread.currentThread().getName()
            + "\"; create one for each thread, or let the owner call release()");
  }
}
