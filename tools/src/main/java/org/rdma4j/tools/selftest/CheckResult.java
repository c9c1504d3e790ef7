package org.rdma4j.tools.selftest;

import java.util.Locale;
import java.util.Map;
import org.rdma4j.tools.command.Json;

/**
 * The result of a check.
 *
 * @param name the name of the check
 * @param verdict how it ended
 * @param detail what was done, or the reason why it was not
 * @param millis how long it took
 */
record CheckResult(String name, CheckVerdict verdict, String detail, long millis) {
  /** How a check ended. */
  enum CheckVerdict {
    PASSED,
    FAILED,
    NOT_SUPPORTED;

    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** Returns the text behind the name of the check. */
  String text() {
    return "%s, %d ms: %s".formatted(verdict.text(), millis, detail.replace("\n", "\n    "));
  }

  Map<String, Object> json() {
    return Json.object("name", name, "verdict", verdict.text(), "millis", millis, "detail", detail);
  }
}
