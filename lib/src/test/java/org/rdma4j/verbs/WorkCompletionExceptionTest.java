package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A failed completion says what to do, whatever its status is. */
final class WorkCompletionExceptionTest {
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SUCCESS")
  void theMessageEndsWithWhatToDo(CompletionStatus status) {
    assertThat(status.advice()).hasSizeGreaterThan(40).doesNotEndWith(".");
    assertThat(new WorkCompletionException(status, 0x81, 7, 17))
        .hasMessage(
            "work request 7 of queue pair 17 failed. %s (vendor error 0x81). %s"
                .formatted(status, status.advice()));
  }

  @Test
  void successNeedsNoAdvice() {
    assertThat(CompletionStatus.SUCCESS.advice()).isEmpty();
  }
}
