package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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

/**
 * A document that maps the functions of a C header, and the tests of rdma-core, to our methods and
 * tests.
 *
 * @param document the file, in Markdown
 * @param header the C header, such as {@code infiniband/verbs.h}
 * @param function the pattern of a function's declaration, with the name as its group
 * @param min the minimum number of functions in the header
 */
record Coverage(Path document, String header, Pattern function, int min) {
  private static final String FUNCTIONS = "## Functions";
  private static final String TESTS = "## Tests of rdma-core";
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern METHOD = Pattern.compile("((?:[A-Z]\\w*\\.)+)([a-z]\\w*)");
  private static final Pattern OURS = Pattern.compile("`.*|not yet|not needed: .+");
  private static final Pattern COUNTERPART = Pattern.compile("`.*|not yet(: .+)?|not needed: .+");
  private static final Pattern SHOWN = Pattern.compile("|`.*|only refused: `.+");
  private static final List<String> PACKAGES =
      List.of(
          "org.rdma4j",
          "org.rdma4j.cm",
          "org.rdma4j.connection",
          "org.rdma4j.datapath",
          "org.rdma4j.endpoint",
          "org.rdma4j.flow",
          "org.rdma4j.memory",
          "org.rdma4j.verbs",
          "org.rdma4j.verbs.address",
          "org.rdma4j.verbs.attribute");

  /** Returns the functions of the header that have no row. */
  Set<String> missing(Path directory) throws IOException, InterruptedException {
    Set<String> missing = functions(directory);
    assertThat(missing).hasSizeGreaterThanOrEqualTo(min);
    for (List<String> row : rows(FUNCTIONS, 3)) {
      missing.removeAll(code(row.get(0)));
    }
    return missing;
  }

  /** Checks that each row names a method and a test, or the reason why there is none. */
  void checkRows() throws IOException {
    for (List<String> row : rows(FUNCTIONS, 3)) {
      assertThat(row.get(1)).as(row.get(0)).matches(OURS);
      assertThat(row.get(2)).as(row.get(0)).matches(SHOWN);
    }
    for (List<String> row : rows(TESTS, 2)) {
      assertThat(row.get(1)).as(row.get(0)).matches(COUNTERPART);
    }
  }

  /** Returns the methods that the document names but that do not exist. */
  Set<String> unknownMethods() throws IOException {
    List<String> cells = new ArrayList<>();
    rows(FUNCTIONS, 3).forEach(row -> cells.add(row.get(1)));
    return unknown(cells, method -> Modifier.isPublic(method.getModifiers()));
  }

  /** Returns the tests that the document names but that do not exist. */
  Set<String> unknownTests() throws IOException {
    List<String> cells = new ArrayList<>();
    rows(FUNCTIONS, 3).forEach(row -> cells.add(row.get(2)));
    for (List<String> row : rows(TESTS, 2)) {
      if (row.get(1).startsWith("`")) {
        cells.add(row.get(1));
      }
    }
    return unknown(cells, method -> method.getAnnotations().length > 0);
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

  /** Returns the names in the cells for which there is no such method. */
  private static Set<String> unknown(List<String> cells, Predicate<Method> accepted) {
    Set<String> unknown = new TreeSet<>();
    int found = 0;
    for (String cell : cells) {
      for (String name : code(cell)) {
        Matcher matcher = METHOD.matcher(name);
        boolean isMethod = matcher.matches();
        if (isMethod && exists(matcher.group(1), matcher.group(2), accepted)) {
          found++;
        } else if (isMethod || cell.startsWith("`")) {
          unknown.add(name);
        }
      }
    }
    assertThat(found).isGreaterThan(5);
    return unknown;
  }

  private static boolean exists(String type, String name, Predicate<Method> accepted) {
    String binaryName = type.substring(0, type.length() - 1).replace('.', '$');
    return PACKAGES.stream()
        .flatMap(of -> find(of + "." + binaryName).stream())
        .flatMap(found -> List.of(found.getDeclaredMethods()).stream())
        .anyMatch(method -> method.getName().equals(name) && accepted.test(method));
  }

  private static Optional<Class<?>> find(String name) {
    try {
      return Optional.of(Class.forName(name, false, Coverage.class.getClassLoader()));
    } catch (ClassNotFoundException elsewhere) {
      return Optional.empty();
    }
  }
}
