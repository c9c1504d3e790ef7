package org.rdma4j.needs;

import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.rdma4j.verbs.RdmaDevice;

/**
 * Leaves out a test that needs what the device does not have; the reason appears in the summary. On
 * the guest that {@code dev/guest} boots by default, all tests must run: there, such a test fails.
 */
public final class NeedsCondition implements ExecutionCondition {
  /** For the loader of services. */
  public NeedsCondition() {}

  private static final ConditionEvaluationResult ENABLED =
      ConditionEvaluationResult.enabled("the device has what the test needs");

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    List<Need> needs = Need.of(context.getTags());
    if (needs.isEmpty()) {
      return ENABLED;
    }
    try (RdmaDevice device = RdmaDevice.open(RdmaDevice.list().getFirst().name())) {
      return evaluate(needs, device, "default".equals(System.getenv("RDMA4J_GUEST")));
    }
  }

  private static ConditionEvaluationResult evaluate(
      List<Need> needs, RdmaDevice device, boolean mustRun) {
    List<String> unmet =
        needs.stream().filter(need -> !need.isMetBy(device)).map(Need::words).toList();
    if (unmet.isEmpty()) {
      return ENABLED;
    }
    String reason = "needs " + String.join(" and ", unmet);
    if (mustRun) {
      throw new AssertionError(
          "the test "
              + reason
              + ", which "
              + device.info().name()
              + " does not have; the default guest must have what all tests need");
    }
    return ConditionEvaluationResult.disabled(reason);
  }
}
