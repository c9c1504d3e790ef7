package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.generated.ibv_qp_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_qp_open_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.PollPause;
import org.rdma4j.datapath.QueueUse;
import org.rdma4j.efa.EfaLibrary;
import org.rdma4j.inplace.DedicatedRegister;
import org.rdma4j.inplace.InPlaceCompletions;
import org.rdma4j.inplace.InPlaceQueuePair;
import org.rdma4j.inplace.InPlaceSupport;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.internal.QueuePairOrigin;

/** The ways in which a queue pair comes into being: created, or opened in an XRC domain. */
final class QueuePairCreation {
  private QueuePairCreation() {}

  /** Creates a queue pair with the functions of the given origin. */
  static QueuePair create(ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin) {
    config.check(domain);
    return Lifetime.whileAllOpen(
        config.dependsOn(domain), () -> createWhileOpen(domain, config, origin));
  }

  private static QueuePair createWhileOpen(
      ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin) {
    InPlaceSupport inPlace = InPlaceChoice.choose(domain.device(), config);
    Runnable release = Reservations.reserve(config);
    try {
      return inPlace == null
          ? createIn(domain, config, origin, domain.pointer(), null, release)
          : createInPlace(domain, config, origin, inPlace, release);
    } catch (RuntimeException failed) {
      release.run();
      throw failed;
    }
  }

  /** Creates a queue pair with a doorbell register of its own, and takes over its queues. */
  private static QueuePair createInPlace(
      ProtectionDomain domain,
      QueuePairConfig config,
      QueuePairOrigin origin,
      InPlaceSupport support,
      Runnable release) {
    RdmaDevice device = domain.device();
    DedicatedRegister register =
        DedicatedRegister.allocate(
            device.info().name(), device.context(), domain.originalPointer());
    try {
      return createIn(
          domain,
          config,
          origin,
          register.domain(),
          support,
          () -> {
            Attempts attempts = new Attempts();
            attempts.attempt(register::free);
            attempts.attempt(release);
            attempts.finish();
          });
    } catch (RuntimeException failed) {
      register.free();
      throw failed;
    }
  }

  private static QueuePair createIn(
      ProtectionDomain domain,
      QueuePairConfig config,
      QueuePairOrigin origin,
      MemorySegment pointerOfDomain,
      @Nullable InPlaceSupport support,
      Runnable release) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_qp_init_attr_ex.layout());
      config.write(init, pointerOfDomain, arena);
      MemorySegment cap = ibv_qp_init_attr_ex.cap(init);
      MemorySegment created =
          NativeFailures.created(
              domain.device().info().name(),
              origin.call() + "(" + config.type() + ", " + QueuePairCapabilities.read(cap) + ")",
              PollPause.whilePaused(config.pauses(), () -> origin.create().apply(init)));
      QueuePairCapabilities capabilities = QueuePairCapabilities.read(cap);
      InPlaceQueuePair inPlace = null;
      try {
        if (support != null) {
          inPlace = takeOver(support, domain, config, created, capabilities);
          PollPause.runPaused(config.pauses(), inPlace::join);
        }
        return new QueuePair(domain, created, capabilities, config, origin, inPlace, release);
      } catch (RuntimeException failed) {
        origin.destroy().accept(created);
        if (inPlace != null) {
          PollPause.runPaused(config.pauses(), inPlace::leave);
        }
        throw failed;
      }
    }
  }

  private static InPlaceQueuePair takeOver(
      InPlaceSupport support,
      ProtectionDomain domain,
      QueuePairConfig config,
      MemorySegment created,
      QueuePairCapabilities capabilities) {
    SharedReceiveQueue shared = config.sharedReceiveQueue();
    return InPlaceQueuePair.of(
        support,
        created,
        new InPlaceQueuePair.Shape(
            capabilities.sendDepth(),
            capabilities.receiveDepth(),
            config.type().isDatagram(),
            config.signalAll()),
        new QueueUse(domain.confinement()),
        shared == null ? null : shared.inPlace(),
        inPlace(config.sendCompletions()),
        inPlace(config.receiveCompletions()));
  }

  private static InPlaceCompletions inPlace(@Nullable CompletionQueue queue) {
    return Objects.requireNonNull(Objects.requireNonNull(queue).inPlace());
  }

  /** Opens the receiving queue pair with the given number in an XRC domain. */
  static QueuePair open(ProtectionDomain domain, XrcDomain xrcDomain, int number) {
    Range.check("number", number, 0, 0xff_ffff);
    QueuePairConfig config = QueuePairConfig.xrcReceive(xrcDomain);
    config.check(domain);
    return Lifetime.whileAllOpen(
        config.dependsOn(domain), () -> openWhileOpen(domain, config, xrcDomain, number));
  }

  private static QueuePair openWhileOpen(
      ProtectionDomain domain, QueuePairConfig config, XrcDomain xrcDomain, int number) {
    if (DeviceOperation.cannotDestroyOpenedQueuePairs(domain.device().context())) {
      throw new UnsupportedByDeviceException(
          "ibv_open_qp(" + number + ")",
          ErrorNumber.EOPNOTSUPP.value(),
          domain.device().info().name(),
          "libmlx5 ends the process when such a queue pair is destroyed; let the process that"
              + " created the queue pair keep it open");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment open = arena.allocate(ibv_qp_open_attr.layout());
      ibv_qp_open_attr.comp_mask(
          open,
          rdma_h.IBV_QP_OPEN_ATTR_NUM()
              | rdma_h.IBV_QP_OPEN_ATTR_XRCD()
              | rdma_h.IBV_QP_OPEN_ATTR_TYPE());
      ibv_qp_open_attr.qp_num(open, number);
      ibv_qp_open_attr.xrcd(open, xrcDomain.pointer());
      ibv_qp_open_attr.qp_type(open, config.type().value());
      return new QueuePair(
          domain,
          NativeFailures.created(
              domain.device().info().name(),
              "ibv_open_qp(" + number + ")",
              Verbs.ibv_open_qp(domain.device().context(), open)),
          new QueuePairCapabilities(0, 0, 0, 0, 0),
          config,
          byVerbs(domain),
          null,
          () -> {});
    }
  }

  /** Returns the origin of queue pairs of a type: what {@code ibv_create_qp_ex} creates, or EFA. */
  static QueuePairOrigin of(ProtectionDomain domain, QueuePairType type) {
    MemorySegment context = domain.device().context();
    String device = domain.device().info().name();
    return type == QueuePairType.SCALABLE_RELIABLE_DATAGRAM
        ? by(
            domain, "efadv_create_qp_ex", init -> EfaLibrary.createQueuePair(device, context, init))
        : byVerbs(domain);
  }

  private static QueuePairOrigin byVerbs(ProtectionDomain domain) {
    MemorySegment context = domain.device().context();
    return by(domain, "ibv_create_qp", init -> Verbs.ibv_create_qp_ex(context, init));
  }

  private static QueuePairOrigin by(
      ProtectionDomain domain, String call, UnaryOperator<MemorySegment> create) {
    DeviceInfo device = domain.device().info();
    return new QueuePairOrigin(
        call,
        create,
        queuePair ->
            NativeFailures.check(device.name(), "ibv_destroy_qp", rdma_h.ibv_destroy_qp(queuePair)),
        QueuePairState.RESET,
        List.of());
  }
}
