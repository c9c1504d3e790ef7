package org.rdma4j.misuse;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.rdma4j.connection.ConnectionStatistics;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.ExposedMemory;
import org.rdma4j.connection.IdleStrategy;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.LoopTimer;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.MessageHandler;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.NodeMemory;
import org.rdma4j.connection.NodeStatistics;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.PeerMemory;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.connection.RequestHandler;
import org.rdma4j.connection.Traffic;
import org.rdma4j.connection.WritabilityHandler;
import org.rdma4j.flow.Counters;
import org.rdma4j.flow.FlowAction;
import org.rdma4j.memory.Slab;
import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.DeviceMemory;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.MemoryWindow;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.PreparedRequests;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.SharedReceiveQueue;
import org.rdma4j.verbs.SharedReceiveQueueConfig;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;

/**
 * Calls any public method of the types in {@link Draw.Objects}, with arguments of the right types,
 * including null. {@link Operations} calls the few methods that are left out, with more careful
 * arguments.
 */
final class AnyMethod {
  /**
   * Methods that allocate as much as an argument requests, close too much, or crash the kernel of
   * soft-RoCE.
   */
  private static final Set<String> LEFT_OUT =
      Set.of(
          "close",
          "onConnect",
          "register",
          "resize",
          "createCompletionQueue",
          "createSharedReceiveQueue",
          "importDevice",
          "invalidate",
          "sendWithInvalidate",
          "allocateBuffer",
          "buffer");

  private static final int DEEP = 6;
  private static final int TRIES = 20;

  /** Draws one value of a type. */
  private interface Source {
    Object from(Draw draw) throws Exception;
  }

  private final Map<Class<?>, Source> objects = new HashMap<>();
  private final Map<Class<?>, Source> values = new HashMap<>();
  private final List<Method> methods = new ArrayList<>();
  private final List<String> names;
  private final AtomicInteger turn = new AtomicInteger();

  AnyMethod() {
    objects.put(RdmaDevice.class, d -> d.any(d.objects.devices));
    objects.put(ProtectionDomain.class, d -> d.any(d.objects.domains));
    objects.put(CompletionChannel.class, d -> d.any(d.objects.channels));
    objects.put(CompletionQueue.class, d -> d.any(d.objects.queues));
    objects.put(SharedReceiveQueue.class, d -> d.any(d.objects.sharedReceiveQueues));
    objects.put(QueuePair.class, d -> d.any(d.objects.queuePairs));
    objects.put(AddressHandle.class, d -> d.any(d.objects.handles));
    objects.put(MemoryRegion.class, d -> d.any(d.objects.regions));
    objects.put(MemorySlice.class, d -> d.any(d.objects.slices));
    objects.put(MemoryWindow.class, d -> d.any(d.objects.windows));
    objects.put(SlabPool.class, d -> d.any(d.objects.slabPools));
    objects.put(Slab.class, d -> d.any(d.objects.slabs));
    objects.put(SendRequests.class, Draw::sends);
    objects.put(ReceiveRequests.class, Draw::receives);
    objects.put(PreparedSends.class, Draw::preparedSends);
    objects.put(PreparedReceives.class, Draw::preparedReceives);
    objects.put(PreparedRequests.class, d -> d.yes() ? d.preparedSends() : d.preparedReceives());
    objects.put(Completions.class, Draw::completions);
    objects.put(RdmaNode.class, d -> d.any(d.connections.nodes));
    objects.put(DrivenNode.class, d -> d.any(d.connections.drivenNodes));
    objects.put(RdmaServer.class, d -> d.any(d.connections.servers));
    objects.put(RdmaConnection.class, d -> d.any(d.connections.connections));
    objects.put(PeerMemory.class, d -> d.any(d.connections.connections).memory());
    objects.put(MessageBuffer.class, d -> d.any(d.connections.messages));
    objects.put(IncomingRequest.class, d -> d.any(d.connections.requests));
    objects.put(IncomingConnection.class, d -> d.any(d.connections.incoming));
    objects.put(LoopTimer.class, d -> d.any(d.connections.timers));
    objects.put(ExposedMemory.class, d -> d.any(d.connections.exposed));
    objects.put(NodeMemory.class, d -> d.any(d.connections.nodeMemories));
    objects.put(RemoteMemory.class, d -> d.connections.remoteMemory(d));
    objects.put(NodeConfig.class, d -> d.connections.config(d));
    objects.put(NodeStatistics.class, d -> d.any(d.connections.nodes).statistics());
    objects.put(ConnectionStatistics.class, d -> d.any(d.connections.connections).statistics());
    objects.put(Traffic.class, d -> d.any(d.connections.connections).statistics().traffic());

    values.put(boolean.class, Draw::yes);
    values.put(byte.class, d -> (byte) d.number());
    values.put(short.class, d -> (short) d.number());
    values.put(int.class, d -> d.yes() ? d.number() : d.few());
    values.put(long.class, d -> d.yes() ? d.bytes() : d.few());
    values.put(Object.class, d -> d.objects.gid);
    values.put(String.class, d -> d.yes() ? d.objects.deviceName : "none");
    values.put(OptionalInt.class, d -> d.yes() ? OptionalInt.empty() : OptionalInt.of(d.number()));
    values.put(Duration.class, Draw::patience);
    values.put(ByteBuffer.class, d -> d.connections.bytes(d));
    values.put(InetSocketAddress.class, d -> d.connections.address(d));
    values.put(MessageHandler.class, d -> d.connections.messageHandler(d));
    values.put(Consumer.class, d -> d.connections.bytesHandler(d));
    values.put(LongConsumer.class, d -> d.connections.noticeHandler(d));
    values.put(
        Executor.class,
        d -> d.yes() ? NodeConfig.WHERE_IT_HAPPENS : (Executor) Thread.ofVirtual()::start);
    values.put(RequestHandler.class, d -> d.connections.requestHandler(d));
    values.put(OperationHandler.class, d -> d.connections.operationHandler(d));
    values.put(WritabilityHandler.class, d -> (WritabilityHandler) writable -> {});
    values.put(IdleStrategy.class, d -> d.yes() ? IdleStrategy.SPIN : IdleStrategy.SLEEP);
    values.put(Runnable.class, d -> (Runnable) () -> {});
    values.put(Path.class, d -> Path.of("/none/such"));
    values.put(MemorySegment.class, d -> d.yes() ? d.heap() : d.any(d.objects.memory));
    values.put(Arena.class, d -> d.any(d.objects.arenas));
    values.put(Gid.class, Draw::group);
    values.put(AddressVector.class, Draw::addressVector);
    values.put(PathConfig.class, d -> d.path(d.any(d.objects.queuePairs)));
    values.put(QueuePairChange.class, Draw::change);
    values.put(QueuePairConfig.class, Draw::queuePairConfig);
    values.put(CompletionQueueConfig.class, Draw::completionQueueConfig);
    values.put(MemoryRegionConfig.class, d -> MemoryRegionConfig.allocate(d.regionBytes()));
    values.put(
        SharedReceiveQueueConfig.class,
        d ->
            d.yes()
                ? SharedReceiveQueueConfig.of(d.depth())
                : SharedReceiveQueueConfig.of(16)
                    .tagMatching(d.any(d.objects.queues), d.few(), d.few()));

    for (Class<?> type : objects.keySet()) {
      addMethods(type, false);
    }
    for (Class<?> type : List.of(Counters.class, DeviceMemory.class, FlowAction.class)) {
      addMethods(type, true);
    }
    // The same seed must draw the same methods.
    methods.sort((one, other) -> one.toString().compareTo(other.toString()));
    names = methods.stream().map(AnyMethod::name).toList();
  }

  private void addMethods(Class<?> type, boolean onlyStatic) {
    Arrays.stream(type.getDeclaredMethods())
        .filter(each -> Modifier.isPublic(each.getModifiers()) && !each.isSynthetic())
        .filter(each -> !onlyStatic || Modifier.isStatic(each.getModifiers()))
        .filter(each -> !LEFT_OUT.contains(each.getName()))
        .forEach(methods::add);
  }

  /** Returns the names of all methods. */
  Set<String> names() {
    return new LinkedHashSet<>(names);
  }

  /** Returns what {@link #names} says of a method. */
  static String name(Method method) {
    String types =
        Arrays.stream(method.getParameterTypes())
            .map(Class::getSimpleName)
            .collect(Collectors.joining(", "));
    return "%s.%s(%s)"
        .formatted(method.getDeclaringClass().getSimpleName(), method.getName(), types);
  }

  /** Calls the next method, or the next that was never called, for lack of an object. */
  void call(Draw draw) throws Exception {
    int next = turn.getAndIncrement() % methods.size();
    Method method = methods.get(draw.yes() ? firstNotCalled(draw.objects.called, next) : next);
    Object on =
        Modifier.isStatic(method.getModifiers())
            ? null
            : objects.get(method.getDeclaringClass()).from(draw);
    Object[] arguments = possible(draw, method);
    draw.objects.called.add(name(method));
    Object result;
    try {
      result =
          waitsAsLongAsItTakes(method)
              ? Impatience.limit(draw.random.nextInt(1, 5), () -> method.invoke(on, arguments))
              : method.invoke(on, arguments);
    } catch (InvocationTargetException thrown) {
      throw causeOf(thrown);
    }
    if (method.getDeclaringClass().getPackage() == RdmaNode.class.getPackage()) {
      draw.connections.keep(draw, result);
    } else if (result instanceof AutoCloseable created && creates(method)) {
      created.close();
    }
  }

  private static boolean waitsAsLongAsItTakes(Method method) {
    return List.of(method.getExceptionTypes()).contains(InterruptedException.class)
        && !List.of(method.getParameterTypes()).contains(Duration.class);
  }

  private int firstNotCalled(Set<String> called, int from) {
    for (int i = from; i < from + methods.size(); i++) {
      if (!called.contains(names.get(i % methods.size()))) {
        return i % methods.size();
      }
    }
    return from;
  }

  /** Returns whether a method creates an object, rather than returning an existing one. */
  private static boolean creates(Method method) {
    return method.getName().matches("(allocate|create|import|open|reregister).*");
  }

  private static Exception causeOf(InvocationTargetException thrown)
      throws InvocationTargetException {
    if (thrown.getCause() instanceof Exception cause) {
      return cause;
    }
    throw thrown;
  }

  /** Draws arguments, again if that fails, which is mostly because an object is closed. */
  private Object[] possible(Draw draw, Method method) throws Exception {
    for (int i = 1; i < TRIES; i++) {
      try {
        return arguments(draw, method, DEEP);
      } catch (IllegalArgumentException | IllegalStateException | Pool.NothingYet impossible) {
        // The next try draws others.
      }
    }
    return arguments(draw, method, DEEP);
  }

  private Object[] arguments(Draw draw, Executable executable, int depth) throws Exception {
    Type[] types = executable.getGenericParameterTypes();
    Object[] arguments = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      arguments[i] = value(draw, types[i], depth);
    }
    return arguments;
  }

  private Object value(Draw draw, Type type, int depth) throws Exception {
    if (type instanceof ParameterizedType of) {
      Type element = of.getActualTypeArguments()[0];
      if (of.getRawType() == Optional.class) {
        return draw.yes() ? Optional.empty() : Optional.ofNullable(value(draw, element, depth));
      }
      Collection<Object> several = several(draw, element, depth);
      return orNull(draw, of.getRawType() == Set.class ? new LinkedHashSet<>(several) : several);
    }
    Class<?> expected = (Class<?>) type;
    if (expected.isPrimitive()) {
      return values.get(expected).from(draw);
    }
    return orNull(draw, object(draw, expected, depth));
  }

  private static Object orNull(Draw draw, Object value) {
    if (value == null || draw.oneIn(20)) {
      draw.gaveNull = true;
      return null;
    }
    return value;
  }

  private Object object(Draw draw, Class<?> expected, int depth) throws Exception {
    Source source = objects.containsKey(expected) ? objects.get(expected) : values.get(expected);
    if (source != null) {
      return source.from(draw);
    }
    if (expected.isEnum()) {
      return expected.getEnumConstants()[draw.random.nextInt(expected.getEnumConstants().length)];
    }
    if (expected.isArray()) {
      return array(draw, expected.getComponentType(), depth);
    }
    if (expected.isSealed()) {
      Class<?>[] permitted = expected.getPermittedSubclasses();
      return object(draw, permitted[draw.random.nextInt(permitted.length)], depth);
    }
    return depth == 0 ? null : make(draw, expected, depth - 1);
  }

  private List<Object> several(Draw draw, Type type, int depth) throws Exception {
    List<Object> several = new ArrayList<>();
    for (int i = draw.random.nextInt(4); i > 0; i--) {
      several.add(value(draw, type, depth));
    }
    return several;
  }

  private Object array(Draw draw, Class<?> type, int depth) throws Exception {
    Object array = Array.newInstance(type, draw.random.nextInt(4));
    for (int i = 0; i < Array.getLength(array); i++) {
      Array.set(array, i, value(draw, type, depth));
    }
    return array;
  }

  /** Creates an object with a constructor or a factory of its type; null if there is neither. */
  private Object make(Draw draw, Class<?> expected, int depth) throws Exception {
    List<Executable> makers = new ArrayList<>();
    for (Constructor<?> each : expected.getConstructors()) {
      makers.add(each);
    }
    for (Method each : expected.getMethods()) {
      if (Modifier.isStatic(each.getModifiers()) && each.getReturnType() == expected) {
        makers.add(each);
      }
    }
    // Native objects are not created as arguments.
    if (makers.isEmpty() || AutoCloseable.class.isAssignableFrom(expected)) {
      return null;
    }
    Executable maker = makers.get(draw.random.nextInt(makers.size()));
    Object[] arguments = arguments(draw, maker, depth);
    try {
      return maker instanceof Constructor<?> constructor
          ? constructor.newInstance(arguments)
          : ((Method) maker).invoke(null, arguments);
    } catch (InvocationTargetException thrown) {
      throw causeOf(thrown);
    }
  }
}
