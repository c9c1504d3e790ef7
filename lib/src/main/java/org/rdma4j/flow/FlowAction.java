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
 * A flow action, {@code struct ibv_flow_action}: how the packets of flows are encrypted or
 * decrypted by ESP, see {@link FlowSpecification.Encryption}.
 *
 * <p>All methods may be called from any thread. Closing it closes its flows first.
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
   * @param attributes what it does, with a key
   * @return the action
   * @throws IllegalArgumentException where there is no key
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has none
   */
  public static FlowAction create(RdmaDevice device, EspAttributes attributes) {
    if (attributes.key() == null) {
      throw new IllegalArgumentException("key is missing, must be given for a new flow action");
    }
    return VerbsAccess.get()
        .lifetime(device)
        .whileOpen(
            () ->
                attributes.use(
                    esp ->
                        new FlowAction(
                            device,
                            NativeFailures.created(
                                device.info().name(),
                                "ibv_create_flow_action_esp",
                                Flows.ibv_create_flow_action_esp(device.handle(), esp)))));
  }

  /**
   * Changes what it does: {@code ibv_modify_flow_action_esp}.
   *
   * @param attributes what it does from now on
   * @throws IllegalStateException where it is closed
   * @throws RdmaException where the device refuses it
   */
  public void modify(EspAttributes attributes) {
    lifetime.whileOpen(
        () ->
            attributes.use(
                esp -> {
                  NativeFailures.check(
                      device.info().name(),
                      "ibv_modify_flow_action_esp",
                      Math.abs(Flows.ibv_modify_flow_action_esp(action, esp)));
                  return true;
                }));
  }

  /**
   * The device that this belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * The way out to the bindings: {@code struct ibv_flow_action *}. It is valid until this is
   * closed; with it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where it is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> action);
  }

  /**
   * Closes the flows that have it, then destroys it: {@code ibv_destroy_flow_action}. Does nothing
   * where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The pointer, for those whose life lies within this one's. */
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
