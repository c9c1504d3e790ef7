package org.rdma4j.testing.headers;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What jextract has generated from a header, and the filter of it. The classes are found in their
 * package, so that the tests cover all of them.
 */
public final class Generated {
  private final Class<?> header;
  private final String filter;

  /**
   * Names the class of the header, with its functions and constants, and the file of the filter.
   */
  public Generated(Class<?> header, String filter) {
    this.header = header;
    this.filter = filter;
  }

  /** A member of a struct or union, by its name in C. */
  public record Member(String name, long offset, MemoryLayout layout) {}

  /** Returns the classes of structs and unions, except those nested in others. */
  public List<Class<?>> types() {
    try (Stream<Path> files = Files.list(folder())) {
      return files
          .map(file -> String.valueOf(file.getFileName()).replaceFirst("\\.class$", ""))
          .filter(name -> !name.contains("$"))
          .sorted()
          .<Class<?>>map(this::load)
          .filter(Generated::isType)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path folder() {
    try {
      URL file = requireNonNull(header.getResource(header.getSimpleName() + ".class"));
      return requireNonNull(Path.of(file.toURI()).getParent());
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Returns what the filter lets jextract generate. */
  public List<Filter.Symbol> symbols() {
    return Filter.symbols(filter);
  }

  /** Returns the class of the member's type if that type has no name in C. */
  public static Optional<Class<?>> nestedType(Class<?> type, Member member) {
    return Arrays.stream(type.getDeclaredClasses())
        .filter(nested -> nested.getSimpleName().equals(member.name()))
        .filter(Generated::isType)
        .findAny();
  }

  private Class<?> load(String name) {
    try {
      return Class.forName(header.getPackageName() + "." + name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isType(Class<?> candidate) {
    return accessors(candidate).contains("layout");
  }

  /** Returns the layout of a struct or union. */
  public static GroupLayout layout(Class<?> type) {
    return (GroupLayout) get(type, "layout");
  }

  /**
   * Returns the members by the names that C uses: those of an anonymous struct or union belong to
   * its parent.
   */
  public static List<Member> members(GroupLayout group) {
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
  public Set<String> constants() {
    Set<String> accessors = accessors(header);
    return accessors.stream()
        .filter(name -> !name.contains("$") && !accessors.contains(name + "$address"))
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Returns the value of a constant: an int, a long, or a pointer. */
  public Object constant(String name) {
    return get(header, name);
  }

  /** Returns the names of the static methods without parameters. */
  private static Set<String> accessors(Class<?> owner) {
    return Arrays.stream(owner.getMethods())
        .filter(method -> Modifier.isStatic(method.getModifiers()))
        .filter(method -> method.getParameterCount() == 0)
        .map(Method::getName)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Calls a static method without parameters. */
  public static Object get(Class<?> owner, String accessor) {
    try {
      return owner.getMethod(accessor).invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
