package org.rdma4j.datapath;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The closing of a queue while a thread is inside a call. */
final class HotCallsTest {
  private static final int ROUNDS = 10_000;

  /** A native function that runs Java code; stands in for a function that posts. */
  private static final class Function {
    private static final FunctionDescriptor POST =
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private final long pointer;

    Function(Runnable body) throws ReflectiveOperationException {
      MethodHandle run =
          MethodHandles.lookup()
              .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
              .bindTo(body);
      MethodHandle returnsZero =
          MethodHandles.foldArguments(MethodHandles.constant(int.class, 0), run);
      this.pointer =
          Linker.nativeLinker()
              .upcallStub(
                  MethodHandles.dropArguments(returnsZero, 0, POST.toMethodType().parameterList()),
                  POST,
                  // Nothing keeps this object reachable while C has the pointer.
                  Arena.global())
              .address();
    }

    HotCall among(HotCalls calls) {
      return new Post(calls, pointer);
    }
  }

  private static final class Post extends HotCall {
    Post(HotCalls calls, long function) {
      super(new Target(calls, "test", false, function, MemorySegment.NULL));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noThreadIsInsideACallAfterTheOwnershipIsRevoked(boolean isVirtual) throws Exception {
    boolean[] freed = {false};
    boolean[] used = {false};
    Function function =
        new Function(
            () -> {
              used[0] |= freed[0];
              Thread.onSpinWait();
              used[0] |= freed[0];
            });
    for (int round = 0; round < ROUNDS; round++) {
      freed[0] = false;
      HotCalls calls = new HotCalls();
      HotCall call = function.among(calls);
      CountDownLatch running = new CountDownLatch(1);
      FutureTask<Boolean> user =
          new FutureTask<>(
              () -> {
                try {
                  while (!used[0]) {
                    call.post(0, 0);
                    running.countDown();
                  }
                } catch (IllegalStateException closed) {
                  return used[0];
                }
                return true;
              });
      start(user, isVirtual);
      assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
      calls.revoke();
      freed[0] = true;
      assertThat(user.get(30, TimeUnit.SECONDS)).as("used after it was freed").isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void revokingWaitsForTheThreadInside(boolean isVirtual) throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Function function =
        new Function(
            () -> {
              inside.countDown();
              awaitUninterruptibly(leave);
            });
    HotCalls calls = new HotCalls();
    HotCall call = function.among(calls);
    FutureTask<Void> user = new FutureTask<>(() -> call.post(0, 0), null);
    start(user, isVirtual);
    assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
    FutureTask<Void> revoking = new FutureTask<>(calls::revoke, null);
    Thread.ofPlatform().start(revoking);
    Thread.sleep(50);
    assertThat(revoking.isDone()).isFalse();
    leave.countDown();
    revoking.get(30, TimeUnit.SECONDS);
    user.get(30, TimeUnit.SECONDS);
    assertThatThrownBy(() -> call.post(0, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(call::check).hasMessageContaining("closed");
    assertThatThrownBy(call::releaseOwnership).hasMessageContaining("closed");
  }

  @Test
  void theOwnerCanRevokeItsOwnership() {
    HotCalls calls = new HotCalls();
    HotCall call = new Post(calls, 0);
    call.own();
    calls.revoke();
    calls.revoke();
    assertThatThrownBy(call::check).hasMessageContaining("closed");
  }

  @Test
  void aCallLooksCloserOnlyAfterItWasDisarmed() throws Exception {
    int[] called = {0};
    Function function = new Function(() -> called[0]++);
    HotCalls calls = new HotCalls();
    Inspected call = new Inspected(calls, function.pointer);
    call.post(0, 0);
    call.post(0, 0);
    assertThat(call.inspections).as("inspections of two posts").isEqualTo(1);
    call.isFree = false;
    calls.disarm();
    call.post(0, 0);
    call.post(0, 0);
    assertThat(call.inspections).as("inspections while it is not free").isEqualTo(3);
    call.isFree = true;
    call.post(0, 0);
    call.post(0, 0);
    assertThat(call.inspections).as("inspections after it was free again").isEqualTo(4);
    assertThat(called[0]).isEqualTo(6);
  }

  @Test
  void aClosedCallIsNotArmedAgain() throws Exception {
    HotCalls calls = new HotCalls();
    Inspected call = new Inspected(calls, new Function(() -> {}).pointer);
    call.post(0, 0);
    calls.revoke();
    assertThatThrownBy(() -> call.post(0, 0)).hasMessageContaining("closed");
    assertThatThrownBy(() -> call.post(0, 0)).hasMessageContaining("closed");
    assertThat(call.inspections).isEqualTo(1);
  }

  /**
   * The thread of a call passes all checks of the owner, and comes to arm the call when the queue
   * has been closed. Compiled code may then skip the next check, so the pointer has to stay 0.
   */
  @Test
  void aCallThatIsClosedWhileItLooksCloserIsNotArmed() throws Exception {
    HotCalls calls = new HotCalls();
    Inspected call = new Inspected(calls, new Function(() -> {}).pointer);
    call.onLook = calls::revoke;
    assertThatThrownBy(() -> call.post(0, 0)).hasMessageContaining("closed");
    VarHandle pointer =
        MethodHandles.privateLookupIn(HotCall.class, MethodHandles.lookup())
            .findVarHandle(HotCall.class, "plainOp", long.class);
    assertThat((long) pointer.get((HotCall) call)).isZero();
  }

  /** A call that counts how often it looks closer. */
  private static final class Inspected extends HotCall {
    private boolean isFree = true;
    private Runnable onLook = () -> {};
    private int inspections;

    Inspected(HotCalls calls, long function) {
      super(new Target(calls, "test", false, function, MemorySegment.NULL));
    }

    @Override
    protected boolean isFree() {
      onLook.run();
      return isFree;
    }

    @Override
    protected void inspect() {
      inspections++;
    }
  }

  @Test
  void aThreadThatIsNotTheOwnerIsRefusedBeforeTheCall() throws Exception {
    boolean[] called = {false};
    HotCall call = new Function(() -> called[0] = true).among(new HotCalls());
    call.own();
    FutureTask<Void> stranger = new FutureTask<>(() -> call.post(0, 0), null);
    Thread.ofPlatform().start(stranger);
    assertThatThrownBy(() -> stranger.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("release()");
    assertThat(called[0]).isFalse();
    call.post(0, 0);
    assertThat(called[0]).isTrue();
  }

  @Test
  void aBatchWithoutAnOwnerCannotBeChanged() {
    HotCall call = new Post(new HotCalls(), 0);
    assertThatThrownBy(call::check)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("belongs to no thread");
    call.own();
    call.check();
    call.releaseOwnership();
    assertThatThrownBy(call::check).hasMessageContaining("belongs to no thread");
  }

  @Test
  void unreachableCallsAreForgotten() {
    HotCalls calls = new HotCalls();
    List<HotCall> held = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      HotCall call = new Post(calls, 0);
      if (i % 1000 == 0) {
        held.add(call);
        System.gc();
      }
    }
    new Post(calls, 0).own();
    assertThat(calls.size()).isLessThan(2000);
    calls.revoke();
    assertThat(held)
        .allSatisfy(call -> assertThatThrownBy(call::own).hasMessageContaining("closed"));
  }

  private static void start(Runnable task, boolean isVirtual) {
    (isVirtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(task);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
