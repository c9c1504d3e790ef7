package org.rdma4j.bindings;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;

import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.rdma4j.bindings.generated.rdma_h;

/** The generated classes. They are found in the package, so that the tests cover all of them. */
final class Generated {
  private static final Class<?> HEADER = rdma_h.class;

  private Generated() {}

  /** A member of a struct or union, by its name in C. */
  record Member(String name, long offset, MemoryLayout layout) {}

  /** Returns the classes of structs and unions, except those nested in others. */
  static List<Class<?>> types() {
    return types(HEADER);
  }

  /** Returns the same of the package of another header's class. */
  static List<Class<?>> types(Class<?> header) {
    try (Stream<Path> files =
        Files.list(
            Path.of(header.getResource(header.getSimpleName() + ".class").toURI()).getParent())) {
      return files
          .map(file -> file.getFileName().toString().replaceFirst("\\.class$", ""))
          .filter(name -> !name.contains("$"))
          .sorted()
          .<Class<?>>map(name -> load(header, name))
          .filter(Generated::isType)
          .toList();
    } catch (IOException | URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the class of the member's type if that type has no name in C. */
  static Optional<Class<?>> nestedType(Class<?> type, Member member) {
    return Arrays.stream(type.getDeclaredClasses())
        .filter(nested -> nested.getSimpleName().equals(member.name()))
        .filter(Generated::isType)
        .findAny();
  }

  private static Class<?> load(Class<?> header, String name) {
    try {
      return Class.forName(header.getPackageName() + "." + name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isType(Class<?> candidate) {
    return accessors(candidate).contains("layout");
  }

  static GroupLayout layout(Class<?> type) {
    return (GroupLayout) get(type, "layout");
  }

  /**
   * Returns the members by the names that C uses: those of an anonymous struct or union belong to
   * its parent.
   */
  static List<Member> members(GroupLayout group) {
    return IntStream.range(0, group.memberLayouts().size())
        .boxed()
        .flatMap(index -> members(group, index))
        .toList();
  }

  private static Stream<Member> members(GroupLayout group, int index) {
    MemoryLayout layout = group.memberLayouts().get(index);
    if (layout instanceof PaddingLayout) {
      return Stream.empty();
    }
    String name = layout.name().orElseThrow();
    long offset = group.byteOffset(groupElement(index));
    if (!name.startsWith("$anon$")) {
      return Stream.of(new Member(name, offset, layout));
    }
    return members((GroupLayout) layout).stream()
        .map(inner -> new Member(inner.name(), offset + inner.offset(), inner.layout()));
  }

  /** Returns the names of the constants. Functions without arguments are not among them. */
  static Set<String> constants() {
    return constants(HEADER);
  }

  static Set<String> constants(Class<?> header) {
    Set<String> accessors = accessors(header);
    return accessors.stream()
        .filter(name -> !name.contains("$") && !accessors.contains(name + "$address"))
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Returns the value of a constant: an int, a long, or a pointer. */
  static Object constant(String name) {
    return constant(HEADER, name);
  }

  static Object constant(Class<?> header, String name) {
    return get(header, name);
  }

  /** Returns the names of the static methods without parameters. */
  static Set<String> accessors(Class<?> owner) {
    return Arrays.stream(owner.getMethods())
        .filter(method -> Modifier.isStatic(method.getModifiers()))
        .filter(method -> method.getParameterCount() == 0)
        .map(Method::getName)
        .collect(Collectors.toUnmodifiableSet());
  }

  static Object get(Class<?> owner, String accessor) {
    try {
      return owner.getMethod(accessor).invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
