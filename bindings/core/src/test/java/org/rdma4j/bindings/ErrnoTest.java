package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;

final class ErrnoTest {
  private static final int ENOENT = 2;

  @Test
  void failedCallSetsErrno() {
    Errno.errno(0);
    assertThat(openMissingDirectory().address()).isZero();
    assertThat(Errno.errno()).isEqualTo(ENOENT);
  }

  /** C's errno would still be that of the call before. */
  @Test
  void aCallThatFailsWithoutAnErrnoLeavesZero() {
    assertThat(openMissingDirectory().address()).isZero();
    assertThat(missingVariable().address()).isZero();
    assertThat(Errno.errno()).isZero();
  }

  @Test
  void eachThreadHasItsOwnErrno() throws ExecutionException, InterruptedException {
    Errno.errno(5);
    int inOtherThread =
        inOtherThread(
            () -> {
              int before = Errno.errno();
              Errno.errno(7);
              return before;
            });
    assertThat(inOtherThread).isZero();
    assertThat(Errno.errno()).isEqualTo(5);
  }

  @Test
  void failedCallOfOneThreadIsNotSeenInAnother() throws ExecutionException, InterruptedException {
    Errno.errno(5);
    int inOtherThread =
        inOtherThread(
            () -> {
              assertThat(openMissingDirectory().address()).isZero();
              return Errno.errno();
            });
    assertThat(inOtherThread).isEqualTo(ENOENT);
    assertThat(Errno.errno()).isEqualTo(5);
  }

  @Test
  void checkedExceptionsAreWrappedAndErrorsAreThrown() {
    RuntimeException unchecked = new IllegalArgumentException();
    Exception checked = new IOException();
    Error error = new StackOverflowError();
    assertThat(Errno.unexpected(unchecked)).isSameAs(unchecked);
    assertThat(Errno.unexpected(checked)).hasCause(checked);
    assertThatThrownBy(() -> Errno.unexpected(error)).isSameAs(error);
  }

  private static MemorySegment openMissingDirectory() {
    return pointerOf("opendir", "/no/such/directory");
  }

  private static MemorySegment missingVariable() {
    return pointerOf("getenv", "NO_SUCH_VARIABLE");
  }

  private static MemorySegment pointerOf(String function, String text) {
    try (Arena arena = Arena.ofConfined()) {
      return Calls.pointer(
          Linker.nativeLinker().defaultLookup().find(function).orElseThrow(),
          arena.allocateFrom(text));
    }
  }

  private static int inOtherThread(Callable<Integer> task)
      throws ExecutionException, InterruptedException {
    FutureTask<Integer> future = new FutureTask<>(task);
    Thread.ofPlatform().start(future);
    return future.get();
  }
}
