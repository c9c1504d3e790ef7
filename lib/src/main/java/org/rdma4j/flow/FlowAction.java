package org.rdma4j.flow;

import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Flows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * A flow action, {@code struct ibv_flow_action}: how ESP encrypts or decrypts the packets of flows.
 * {@link FlowSpecification.Encryption} makes a flow use it.
 *
 * <p>All methods may be called from any thread. Closing the action closes the flows that use it
 * first.
 *
 * @see EspConfig
 * @see FlowSpecification.Encryption
 */
public final class FlowAction implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment action;
  private final Lifetime lifetime;

  private FlowAction(RdmaDevice device, MemorySegment action) {
    this.device = device;
    this.action = action;
    DeviceInfo info = device.info();
    this.lifetime =
        new Lifetime(
            "flow action of " + info.name(),
            () ->
                NativeFailures.check(
                    info.name(),
                    "ibv_destroy_flow_action",
                    Math.abs(Flows.ibv_destroy_flow_action(action))),
            VerbsAccess.get().lifetime(device));
    Leaks.watch(this, lifetime);
  }

  /**
   * Creates a flow action: {@code ibv_create_flow_action_esp}.
   *
   * @param device the device
   * @param config what the action does, with a key
   * @return the action
   * @throws IllegalArgumentException if the configuration has no key
   * @throws RdmaException if the creation fails: EOPNOTSUPP if the device does not support flow
   *     actions
   */
  public static FlowAction create(RdmaDevice device, EspConfig config) {
    if (config.key() == null) {
      throw new IllegalArgumentException(
          "the configuration has no key; a new flow action needs one");
    }
    return VerbsAccess.get()
        .lifetime(device)
        .whileOpen(
            () ->
                config.use(
                    esp ->
                        new FlowAction(
                            device,
                            NativeFailures.created(
                                device.info().name(),
                                "ibv_create_flow_action_esp",
                                Flows.ibv_create_flow_action_esp(device.handle(), esp)))));
  }

  /**
   * Changes what the action does: {@code ibv_modify_flow_action_esp}.
   *
   * @param config what the action does from now on
   * @throws RdmaException if the device refuses it
   */
  public void modify(EspConfig config) {
    lifetime.whileOpen(
        () ->
            config.use(
                esp -> {
                  NativeFailures.check(
                      device.info().name(),
                      "ibv_modify_flow_action_esp",
                      Math.abs(Flows.ibv_modify_flow_action_esp(action, esp)));
                  return true;
                }));
  }

  /**
   * Returns the device that the action belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_flow_action *}, for use with the bindings. It is valid
   * until this object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> action);
  }

  /**
   * Closes the flows that use the action, then destroys it: {@code ibv_destroy_flow_action}. Does
   * nothing if it is already closed.
   *
   * @throws RdmaException if a destruction fails; the other steps are still done
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return action;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
