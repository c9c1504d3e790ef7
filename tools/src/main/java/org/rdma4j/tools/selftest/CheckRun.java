package org.rdma4j.tools.selftest;

import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.selftest.CheckResult.CheckVerdict;

/** Runs checks, each in a thread of its own, which is left behind if the check does not end. */
final class CheckRun {
  private final TestedDevice tested;
  private final Duration timeout;

  CheckRun(TestedDevice tested, Duration timeout) {
    this.tested = tested;
    this.timeout = timeout;
  }

  CheckResult run(SelfCheck check) throws InterruptedException {
    FutureTask<String> task = new FutureTask<>(() -> check.run(tested));
    Thread thread = Thread.ofPlatform().daemon().name("check " + check.name()).unstarted(task);
    long start = System.nanoTime();
    thread.start();
    CheckVerdict verdict = CheckVerdict.FAILED;
    String detail;
    try {
      detail = task.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      verdict = CheckVerdict.PASSED;
    } catch (TimeoutException late) {
      detail = "did not end within %d s, in %s".formatted(timeout.toSeconds(), where(thread));
      thread.interrupt();
    } catch (ExecutionException failed) {
      Throwable cause = Objects.requireNonNull(failed.getCause());
      if (cause instanceof NotSupported || cause instanceof UnsupportedByDeviceException) {
        verdict = CheckVerdict.NOT_SUPPORTED;
      }
      detail = reason(cause);
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    return new CheckResult(check.name(), verdict, detail, millis);
  }

  private static String reason(Throwable cause) {
    if (cause instanceof NotSupported) {
      return Failure.oneLine(cause.getMessage());
    }
    return cause instanceof Exception failure ? Failure.describe(failure) : cause.toString();
  }

  /** Returns the methods of rdma4j that a thread executes, the innermost first. */
  private static String where(Thread thread) {
    return String.join(
        " < ",
        Arrays.stream(thread.getStackTrace())
            .filter(each -> each.getClassName().startsWith("org.rdma4j"))
            .limit(5)
            .map(each -> each.getClassName() + "." + each.getMethodName())
            .toList());
  }
}
