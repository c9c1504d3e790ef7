package org.rdma4j;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.Array;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.platform.Libc;
import org.rdma4j.verbs.RdmaAvailability;
import org.rdma4j.verbs.RdmaDevice;

/**
 * A program that calls, twice, everything that can be called without an object of this library, and
 * prints what the calls throw. {@link LibraryLoadingTest} runs it in JVMs that cannot use the
 * native libraries.
 *
 * <p>Its arguments are the location of the module (a directory or a jar), and whether native access
 * is denied.
 */
final class EntryPoints {
  /** The prefix of a line that contains what a call which needs C has thrown. */
  static final String THROWN = "thrown: ";

  /** The prefix of a line that contains the status and the explanation of the availability. */
  static final String AVAILABILITY = "availability: ";

  /** The prefix of a line that names a member whose use failed in a static initializer. */
  static final String BROKEN = "broken: ";

  /** The prefix of a line that contains the number of members that were used. */
  static final String CHECKED = "checked: ";

  private static final InetSocketAddress UNUSED =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
  private static final Duration SHORT = Duration.ofMillis(1);

  private interface Call {
    void run() throws Exception;
  }

  private static final Map<String, Call> NEED_LIBRARIES = new LinkedHashMap<>();

  static {
    NEED_LIBRARIES.put("RdmaConnection.connect", () -> RdmaConnection.connect(UNUSED, SHORT));
    NEED_LIBRARIES.put(
        "RdmaConnection.connect without a timeout", () -> RdmaConnection.connect(UNUSED));
    NEED_LIBRARIES.put("RdmaServer.bind", () -> RdmaServer.bind(UNUSED));
    NEED_LIBRARIES.put("RdmaNode.open", () -> RdmaNode.open(NodeConfig.DEFAULT));
    NEED_LIBRARIES.put("SynchronousCmId.open", () -> SynchronousCmId.open(PortSpace.TCP));
    NEED_LIBRARIES.put("EventChannel.open", EventChannel::open);
    NEED_LIBRARIES.put(
        "AddressInfo.resolve",
        () -> AddressInfo.resolve("127.0.0.1", "1", AddressHints.DEFAULT, Duration.ofMinutes(1)));
    NEED_LIBRARIES.put("CmDevices.list", CmDevices::list);
    NEED_LIBRARIES.put("RdmaDevice.list", RdmaDevice::list);
    NEED_LIBRARIES.put("RdmaDevice.open", () -> RdmaDevice.open("rxe0"));
    NEED_LIBRARIES.put("RdmaDevice.importDevice", () -> RdmaDevice.importDevice(0));
  }

  /** Calls that need C, but neither of the libraries. */
  private static final Map<String, Call> NEED_NATIVE_ACCESS =
      Map.of("Libc.pageSize", Libc::pageSize, "Libc.mmap", () -> Libc.mmap(1));

  private int checked;

  private EntryPoints() {}

  public static void main(String[] arguments) {
    printAvailability();
    NEED_LIBRARIES.forEach(EntryPoints::printTwice);
    printAvailability();
    if (Boolean.parseBoolean(arguments[1])) {
      NEED_NATIVE_ACCESS.forEach(EntryPoints::printTwice);
    }
    EntryPoints all = new EntryPoints();
    for (int i = 0; i < 2; i++) {
      publicTypes(Path.of(arguments[0])).forEach(all::check);
    }
    System.out.println(CHECKED + all.checked);
  }

  private static void printAvailability() {
    RdmaAvailability found = RdmaDevice.availability();
    System.out.println(AVAILABILITY + found.status() + ": " + found.explanation());
  }

  private static void printTwice(String name, Call call) {
    for (int i = 0; i < 2; i++) {
      try {
        call.run();
        System.out.println(THROWN + "nothing by " + name);
      } catch (Throwable thrown) {
        System.out.println(THROWN + thrown);
      }
    }
  }

  private static List<Class<?>> publicTypes(Path classes) {
    ModuleReference module = ModuleFinder.of(classes).find("org.rdma4j").orElseThrow();
    Set<String> exported =
        module.descriptor().exports().stream()
            .map(ModuleDescriptor.Exports::source)
            .collect(Collectors.toSet());
    try (ModuleReader reader = module.open();
        Stream<String> files = reader.list()) {
      return files
          .filter(file -> file.endsWith(".class") && !file.endsWith("-info.class"))
          .map(file -> file.replaceFirst("\\.class$", "").replace('/', '.'))
          .filter(name -> exported.contains(name.substring(0, Math.max(name.lastIndexOf('.'), 0))))
          .sorted()
          .<Class<?>>map(EntryPoints::load)
          .filter(type -> Modifier.isPublic(type.getModifiers()))
          .toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, EntryPoints.class.getClassLoader());
    } catch (ClassNotFoundException missing) {
      throw new IllegalStateException(missing);
    }
  }

  /**
   * Initializes the type, reads its static fields, calls its static methods and constructors with
   * made-up arguments, and calls all methods without parameters on the resulting objects. Any
   * exception is fine, except that of a failed static initializer.
   */
  private void check(Class<?> type) {
    List<@Nullable Object> objects = new ArrayList<>();
    run(
        type.getName(),
        () -> {
          Class.forName(type.getName());
          return null;
        });
    Stream.of(type.getFields())
        .filter(field -> Modifier.isStatic(field.getModifiers()))
        .forEach(field -> objects.add(run(field.toString(), () -> field.get(null))));
    for (Method method : type.getDeclaredMethods()) {
      if (isPublic(method) && Modifier.isStatic(method.getModifiers())) {
        objects.add(run(method.toString(), () -> method.invoke(null, arguments(method, objects))));
      }
    }
    for (var constructor : type.getConstructors()) {
      if (!Modifier.isAbstract(type.getModifiers())) {
        objects.add(
            run(
                constructor.toString(),
                () -> constructor.newInstance(arguments(constructor, objects))));
      }
    }
    for (Object object : objects) {
      for (Method method : type.getDeclaredMethods()) {
        if (type.isInstance(object)
            && isPublic(method)
            && !Modifier.isStatic(method.getModifiers())
            && method.getParameterCount() == 0) {
          run(method.toString(), () -> method.invoke(object));
        }
      }
    }
  }

  private interface Member {
    @Nullable Object use() throws Exception;
  }

  private @Nullable Object run(String name, Member member) {
    checked++;
    Throwable thrown;
    try {
      return member.use();
    } catch (InvocationTargetException wrapped) {
      thrown = wrapped.getCause();
    } catch (Exception | LinkageError direct) {
      thrown = direct;
    }
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof ExceptionInInitializerError || cause instanceof NoClassDefFoundError) {
        System.out.println(BROKEN + name + ": " + thrown);
      }
    }
    return null;
  }

  private static boolean isPublic(Method method) {
    return Modifier.isPublic(method.getModifiers()) && !method.isSynthetic();
  }

  private static @Nullable Object[] arguments(
      Executable executable, List<@Nullable Object> objects) {
    return Stream.of(executable.getParameterTypes()).map(type -> argument(type, objects)).toArray();
  }

  private static @Nullable Object argument(Class<?> type, List<@Nullable Object> objects) {
    if (type == boolean.class) {
      return false;
    } else if (type == byte.class) {
      return (byte) 1;
    } else if (type == short.class) {
      return (short) 1;
    } else if (type == int.class) {
      return 1;
    } else if (type == long.class) {
      return 1L;
    } else if (type == String.class) {
      return "1";
    } else if (type == Duration.class) {
      return SHORT;
    } else if (type == InetSocketAddress.class) {
      return UNUSED;
    } else if (type == ByteBuffer.class) {
      return ByteBuffer.allocate(64);
    } else if (type == MemorySegment.class) {
      return Arena.ofAuto().allocate(64);
    } else if (type == Arena.class) {
      return Arena.ofAuto();
    } else if (type == List.class || type == Collection.class) {
      return List.of();
    } else if (type == Set.class) {
      return new TreeSet<>();
    } else if (type.isArray()) {
      return Array.newInstance(type.getComponentType(), 0);
    } else if (type.isEnum()) {
      return type.getEnumConstants()[0];
    }
    return objects.stream().filter(type::isInstance).findFirst().orElse(null);
  }
}
