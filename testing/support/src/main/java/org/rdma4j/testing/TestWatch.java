package org.rdma4j.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Ends the JVM if a test does not end, whatever it hangs in. JUnit's timeout only interrupts the
 * thread of the test, which does not end a call into C; and a thread in a critical call keeps the
 * JVM from stopping its other threads, so no thread of this JVM can watch either. Therefore this
 * tells a shell, in {@code watch.sh}, which test runs and how long it may. The shell prints the
 * name of the test and the stacks of all threads, writes a report, and kills the JVM.
 *
 * <p>A test may take a quarter longer than its {@link Timeout}, or than JUnit's default timeout if
 * it has none, so that a test that the interrupt ends fails by itself. Without a default timeout,
 * as in a debugger, nothing is watched.
 */
public final class TestWatch implements TestExecutionListener {
  private static final String DEFAULT_TIMEOUT = "junit.jupiter.execution.timeout.default";
  private static final String REPORTS = "junit.platform.reporting.output.dir";

  private Duration timeout = Duration.ZERO;
  private @Nullable TestPlan plan;
  private @Nullable OutputStream shell;

  /** Creates the listener, which JUnit does. */
  public TestWatch() {}

  @Override
  public void testPlanExecutionStarted(TestPlan started) {
    Optional<String> seconds = started.getConfigurationParameters().get(DEFAULT_TIMEOUT);
    if (seconds.isPresent()) {
      timeout = Duration.ofSeconds(Long.parseLong(seconds.get()));
      plan = started;
      shell = start(started.getConfigurationParameters().get(REPORTS).orElse("."));
      tell("the start of the tests", timeout);
    }
  }

  private static OutputStream start(String reports) {
    try (InputStream script = TestWatch.class.getResourceAsStream("watch.sh")) {
      if (script == null) {
        throw new IllegalStateException("watch.sh is not beside the class " + TestWatch.class);
      }
      return new ProcessBuilder(
              "bash",
              "-c",
              new String(script.readAllBytes(), StandardCharsets.UTF_8),
              "watch",
              Long.toString(ProcessHandle.current().pid()),
              Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
              reports)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .redirectError(ProcessBuilder.Redirect.INHERIT)
          .start()
          .getOutputStream();
    } catch (IOException failed) {
      throw new UncheckedIOException("cannot start bash, which ends tests that hang", failed);
    }
  }

  @Override
  public void executionStarted(TestIdentifier identifier) {
    tell(identifier);
  }

  @Override
  public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
    if (plan != null) {
      plan.getParent(identifier).ifPresent(this::tell);
    }
  }

  @Override
  public void testPlanExecutionFinished(TestPlan finished) {
    tell("the end of the tests", timeout);
  }

  private void tell(TestIdentifier identifier) {
    tell(name(identifier), identifier.isTest() ? timeout(identifier) : timeout);
  }

  private void tell(String running, Duration usual) {
    if (shell != null) {
      long limit = Math.ceilDiv(usual.toSeconds() * 5, 4);
      String line = "%d %s%n".formatted(limit, running.replaceAll("[^ -~]", "?"));
      try {
        shell.write(line.getBytes(StandardCharsets.US_ASCII));
        shell.flush();
      } catch (IOException ended) {
        throw new UncheckedIOException("the shell that ends tests that hang has ended", ended);
      }
    }
  }

  private Duration timeout(TestIdentifier test) {
    if (!(test.getSource().orElse(null) instanceof MethodSource source)) {
      return timeout;
    }
    Method method = source.getJavaMethod();
    return AnnotationSupport.findAnnotation(method, Timeout.class)
        .or(() -> AnnotationSupport.findAnnotation(source.getJavaClass(), Timeout.class))
        .map(declared -> Duration.of(declared.value(), declared.unit().toChronoUnit()))
        .orElse(timeout);
  }

  private static String name(TestIdentifier identifier) {
    if (identifier.getSource().orElse(null) instanceof MethodSource source) {
      String name = source.getClassName() + "." + source.getMethodName();
      return identifier.getDisplayName().startsWith(source.getMethodName())
          ? name
          : name + " " + identifier.getDisplayName();
    }
    if (identifier.getSource().orElse(null) instanceof ClassSource source) {
      return source.getClassName() + ", outside its tests";
    }
    return identifier.getDisplayName() + ", outside its classes";
  }
}
