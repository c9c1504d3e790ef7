package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Tag;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.rdma4j.testing.Command;

/**
 * A document that maps the functions of a C header, and the tests of rdma-core, to our methods and
 * tests. Each check returns what is wrong, one line for each row.
 *
 * @param document the file, in Markdown
 * @param header the C header, such as {@code infiniband/verbs.h}
 * @param function the pattern of a function's declaration, with the name as its group
 * @param min the minimum number of functions in the header
 */
record Coverage(Path document, String header, Pattern function, int min) {
  private static final String FUNCTIONS = "## Functions";
  private static final String NO_DEVICE = "## Functions that no device has run\n";
  private static final String TESTS = "## Tests of rdma-core";
  private static final String REFUSED = "refused: ";
  private static final String IN_JAVA = "in Java: ";
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern METHOD = Pattern.compile("((?:[A-Z]\\w*\\.)+)([a-z]\\w*)");
  private static final Pattern LIST = Pattern.compile("`[^`]+`(, `[^`]+`)*");
  private static final Pattern NOT_NEEDED = Pattern.compile("not needed: .+");
  private static final Pattern NAME = Pattern.compile("`\\w+`(, since \\d+)?");
  private static final List<String> PACKAGES =
      List.of(
          "org.rdma4j",
          "org.rdma4j.cm",
          "org.rdma4j.connection",
          "org.rdma4j.datapath",
          "org.rdma4j.flow",
          "org.rdma4j.memory",
          "org.rdma4j.verbs",
          "org.rdma4j.verbs.address",
          "org.rdma4j.verbs.attribute");

  /** Returns the functions of the header that have no row. */
  Set<String> missing(Path directory) throws IOException, InterruptedException {
    Set<String> missing = functions(directory);
    for (List<String> row : rows(FUNCTIONS, 4)) {
      missing.removeAll(code(row.get(0)));
    }
    return missing;
  }

  /**
   * Returns the functions that have a row, but that the header does not declare. Functions that
   * only a newer header has name the version of rdma-core.
   */
  Set<String> undeclared(Path directory) throws IOException, InterruptedException {
    Set<String> declared = functions(directory);
    Set<String> undeclared = new TreeSet<>();
    for (List<String> row : rows(FUNCTIONS, 4)) {
      if (!row.get(0).contains("since")) {
        undeclared.addAll(code(row.get(0)));
      }
    }
    undeclared.removeAll(declared);
    return undeclared;
  }

  /** Returns the rows that do not have the form that the other checks rely on. */
  List<String> malformed() throws IOException {
    List<String> malformed = new ArrayList<>();
    for (List<String> row : rows(FUNCTIONS, 4)) {
      boolean needed = !NOT_NEEDED.matcher(row.get(1)).matches();
      String tests = row.get(2);
      boolean isWellFormed =
          NAME.matcher(row.get(0)).matches()
              && (needed
                  ? isList(withoutPrefix(row.get(1), IN_JAVA))
                      && Stream.of(tests.split("; ")).allMatch(Coverage::isListOfTests)
                  : tests.isEmpty() && row.get(3).isEmpty());
      if (!isWellFormed) {
        malformed.add(String.join(" | ", row));
      }
    }
    for (List<String> row : rows(TESTS, 2)) {
      if (!isList(row.get(1)) && !NOT_NEEDED.matcher(row.get(1)).matches()) {
        malformed.add(String.join(" | ", row));
      }
    }
    return malformed;
  }

  private static boolean isListOfTests(String part) {
    return isList(withoutPrefix(part, REFUSED));
  }

  private static boolean isList(String text) {
    return LIST.matcher(text).matches();
  }

  private static String withoutPrefix(String text, String prefix) {
    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
  }

  /** Returns the methods that the document names but that do not exist. */
  Set<String> unknownMethods() throws IOException {
    Set<String> unknown = new TreeSet<>();
    for (List<String> row : rows(FUNCTIONS, 4)) {
      for (String name : code(row.get(1))) {
        if (find(name, method -> Modifier.isPublic(method.getModifiers())).isEmpty()
            && (METHOD.matcher(name).matches() || !NOT_NEEDED.matcher(row.get(1)).matches())) {
          unknown.add(name);
        }
      }
    }
    return unknown;
  }

  /** Returns the tests that the document names but that do not run. */
  Set<String> unknownTests() throws IOException {
    Set<String> unknown = new TreeSet<>();
    Stream<String> cells =
        Stream.concat(
            rows(FUNCTIONS, 4).stream().map(row -> row.get(2)),
            rows(TESTS, 2).stream().map(row -> row.get(1)).filter(Coverage::isList));
    cells
        .flatMap(cell -> code(cell).stream())
        .filter(name -> find(name, Coverage::runs).isEmpty())
        .forEach(unknown::add);
    return unknown;
  }

  /** Returns whether JUnit runs the method as a test, under no condition. */
  private static boolean runs(Method method) {
    Class<?> type = method.getDeclaringClass();
    return AnnotationSupport.isAnnotated(method, Testable.class)
        && !Modifier.isPrivate(method.getModifiers())
        && !Modifier.isStatic(method.getModifiers())
        && !Modifier.isAbstract(type.getModifiers())
        && type.getSimpleName().endsWith("Test")
        && Stream.of(method.getAnnotations(), type.getAnnotations())
            .flatMap(Stream::of)
            .noneMatch(Coverage::isCondition);
  }

  private static boolean isCondition(Annotation annotation) {
    Class<?> type = annotation.annotationType();
    return type == Disabled.class || type.getPackageName().endsWith(".api.condition");
  }

  /** Returns the rows whose last column is not how the tests of the row prove it. */
  List<String> wrongProofs() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (List<String> row : rows(FUNCTIONS, 4)) {
      String proof = String.join(", ", proofs(row.get(2)));
      if (!row.get(3).equals(proof)) {
        wrong.add(row.get(0) + " is proven " + proof + ", not " + row.get(3));
      }
    }
    return wrong;
  }

  private static Set<String> proofs(String tests) {
    Set<String> proofs = new TreeSet<>(List.of(tests.contains(REFUSED) ? "refused" : ""));
    String positive = tests.startsWith(REFUSED) ? "" : tests.split("; " + REFUSED, 2)[0];
    for (String name : code(positive)) {
      find(name, Coverage::runs).map(Coverage::proof).ifPresent(proofs::add);
    }
    proofs.remove("");
    return proofs;
  }

  private static String proof(Method test) {
    Set<String> tags = new TreeSet<>();
    for (Tag tag : test.getDeclaringClass().getAnnotationsByType(Tag.class)) {
      tags.add(tag.value());
    }
    if (tags.contains("device")) {
      return "on a device";
    }
    if (tags.contains("mlx5")) {
      return "on simulated mlx5";
    }
    return tags.contains(StandIn.TAG) ? "by bytes" : "without a device";
  }

  /** Returns the functions that no device has run to success, as the rows prove it. */
  List<String> runByNoDevice() throws IOException {
    List<String> none = new ArrayList<>();
    for (List<String> row : rows(FUNCTIONS, 4)) {
      Set<String> proofs = proofs(row.get(2));
      proofs.removeAll(Set.of("by bytes", "refused"));
      if (proofs.isEmpty() && !NOT_NEEDED.matcher(row.get(1)).matches()) {
        none.addAll(code(row.get(0)));
      }
    }
    return none;
  }

  /** Returns the functions that the document lists as run by no device. */
  List<String> listedAsRunByNoDevice() throws IOException {
    String text = Files.readString(document, StandardCharsets.UTF_8);
    String section = text.substring(text.indexOf(NO_DEVICE) + NO_DEVICE.length());
    return code(section.substring(0, section.indexOf("\n## ")));
  }

  /**
   * Returns the rows that do not say {@code in Java} though no code of the library calls the
   * function, and functions that say so though they are called.
   */
  List<String> wrongCalls() throws IOException {
    Set<String> called = called();
    List<String> wrong = new ArrayList<>();
    for (List<String> row : rows(FUNCTIONS, 4)) {
      if (!NOT_NEEDED.matcher(row.get(1)).matches()) {
        boolean isCalled = called.containsAll(code(row.get(0)));
        if (isCalled == row.get(1).startsWith(IN_JAVA)) {
          wrong.add(row.get(0) + (isCalled ? " is called" : " is not called by any method"));
        }
      }
    }
    return wrong;
  }

  /** Returns the C functions that the library names outside of comments and of strings. */
  private static Set<String> called() throws IOException {
    Set<String> called = new TreeSet<>();
    addNames(called, Path.of("src", "main", "java"), "\\b((?:ibv|rdma|mbps|mult)_\\w+)");
    // The inline functions of the headers, in Java, call exported ones.
    addNames(
        called,
        Path.of(
            "..",
            "bindings",
            "core",
            "src",
            "main",
            "java",
            "org",
            "rdma4j",
            "bindings",
            "inlines"),
        "\\brdma_h\\.((?:ibv|rdma)_\\w+)");
    // The pointers of an extended queue pair are read where they are called.
    Set<String> pointers = new TreeSet<>();
    addNames(pointers, Path.of("src", "main", "java"), "\\bibv_qp_ex\\.(wr_\\w+)\\$offset");
    pointers.forEach(pointer -> called.add("ibv_" + pointer));
    return called;
  }

  private static void addNames(Set<String> names, Path directory, String pattern)
      throws IOException {
    Pattern name = Pattern.compile(pattern);
    try (Stream<Path> files = Files.walk(directory)) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .map(Coverage::code)
          .flatMap(code -> name.matcher(code).results())
          .forEach(result -> names.add(result.group(1)));
    }
  }

  private static String code(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8)
          .replaceAll("(?s)/\\*.*?\\*/", "")
          .replaceAll("//.*", "")
          .replaceAll("\"[^\"\n]*\"", "");
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /**
   * Returns the functions of the header: the names before a parenthesis outside of all braces,
   * which are those of declarations and of inline definitions.
   */
  private Set<String> functions(Path directory) throws IOException, InterruptedException {
    Path output = directory.resolve("header.i");
    Path source =
        Files.writeString(
            directory.resolve("header.c"),
            "#include <" + header + ">\n",
            StandardCharsets.US_ASCII);
    Command.output("gcc", "-E", "-P", "-o", output.toString(), source.toString());
    StringBuilder outside = new StringBuilder();
    int depth = 0;
    for (char c : Files.readString(output, StandardCharsets.UTF_8).toCharArray()) {
      if (c == '{') {
        depth++;
      } else if (c == '}') {
        depth--;
      } else if (depth == 0) {
        outside.append(c);
      }
    }
    Set<String> names = new TreeSet<>();
    Matcher matcher = function.matcher(outside);
    while (matcher.find()) {
      names.add(matcher.group(1));
    }
    assertThat(names).hasSizeGreaterThanOrEqualTo(min);
    return names;
  }

  /** Returns the cells of each row of the table below a heading. */
  private List<List<String>> rows(String heading, int columns) throws IOException {
    List<List<String>> rows = new ArrayList<>();
    boolean below = false;
    for (String line : Files.readAllLines(document, StandardCharsets.UTF_8)) {
      if (line.startsWith("#")) {
        below = line.equals(heading);
      } else if (below && line.startsWith("| `")) {
        assertThat(line).endsWith("|");
        List<String> cells = new ArrayList<>();
        for (String cell : List.of(line.substring(1, line.length() - 1).split("\\|", -1))) {
          cells.add(cell.strip());
        }
        assertThat(cells).as(line).hasSize(columns);
        rows.add(cells);
      }
    }
    assertThat(rows).as(heading).isNotEmpty();
    return rows;
  }

  private static List<String> code(String cell) {
    return CODE.matcher(cell).results().map(result -> result.group(1)).toList();
  }

  /** Returns the method of that name, such as {@code Class.method}, if there is one. */
  private static Optional<Method> find(String name, Predicate<Method> accepted) {
    Matcher matcher = METHOD.matcher(name);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    String type = matcher.group(1);
    String binaryName = type.substring(0, type.length() - 1).replace('.', '$');
    return PACKAGES.stream()
        .flatMap(of -> findClass(of + "." + binaryName).stream())
        .flatMap(found -> Stream.of(found.getDeclaredMethods()))
        .filter(method -> method.getName().equals(matcher.group(2)) && accepted.test(method))
        .findFirst();
  }

  private static Optional<Class<?>> findClass(String name) {
    try {
      return Optional.of(Class.forName(name, false, Coverage.class.getClassLoader()));
    } catch (ClassNotFoundException elsewhere) {
      return Optional.empty();
    }
  }
}
