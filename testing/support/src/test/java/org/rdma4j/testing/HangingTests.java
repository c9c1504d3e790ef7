package org.rdma4j.testing;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that do not end. {@link TestWatchTest} runs each in a JVM of its own. */
final class HangingTests {
  private HangingTests() {}

  /** Waits in C until a signal comes, as a destruction does that waits for an acknowledgement. */
  private static void pause(Linker.Option... options) throws Throwable {
    Linker linker = Linker.nativeLinker();
    MemorySegment pause = linker.defaultLookup().find("pause").orElseThrow();
    linker.downcallHandle(pause, FunctionDescriptor.ofVoid(), options).invokeExact();
  }

  static final class InNativeCall {
    @Test
    @Timeout(2)
    void neverReturns() throws Throwable {
      pause();
    }
  }

  static final class InCriticalCall {
    @Test
    @Timeout(2)
    void neverReturns() throws Throwable {
      pause(Linker.Option.critical(false));
    }
  }

  static final class AfterTheTests {
    @Test
    void returns() {}

    @AfterAll
    static void neverReturns() throws Throwable {
      pause();
    }
  }

  static final class InJava {
    @Test
    @Timeout(2)
    void neverReturns() throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }
}
