import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * How tests have to run: as lines, {@code base JAR} and {@code jar JAR} for the class path, {@code
 * module NAME}, {@code select OPTION} for JUnit's console launcher, and {@code launch NAME} for
 * each launch of dev/device-tests that the tags of the tests ask for.
 */
final class Plan {
  private static final Set<String> BASE = Set.of("testing-support-main-", "bindings-core-main-");

  private Plan() {}

  static List<String> of(Project project, String wanted) throws IOException, Trouble {
    String method = wanted.contains("#") ? wanted.substring(wanted.indexOf('#') + 1) : "";
    Map<String, String> tests = project.tests();
    String type = find(wanted.split("#", 2)[0], tests.keySet());
    String module = tests.get(type);

    List<String> lines = new ArrayList<>(List.of("module " + module));
    List<Path> jars = project.compile(module);
    for (Path jar : jars) {
      boolean base = BASE.stream().anyMatch(jar.getFileName().toString()::startsWith);
      lines.add((base ? "base " : "jar ") + jar);
    }

    try (URLClassLoader loader = loader(jars)) {
      List<TestIdentifier> found = select(discover(loader, type), type, method);
      if (method.isEmpty()) {
        lines.add("select --select-class=" + type);
      } else {
        found.forEach(test -> lines.add("select --select-unique-id=" + test.getUniqueId()));
      }
      found.stream()
          .flatMap(Plan::launches)
          .distinct()
          .forEach(launch -> lines.add("launch " + launch));
    }
    return lines;
  }

  private static String find(String wanted, Set<String> types) throws Trouble {
    List<String> matches =
        types.contains(wanted)
            ? List.of(wanted)
            : types.stream().filter(type -> type.endsWith("." + wanted)).toList();
    if (matches.size() == 1) {
      return matches.get(0);
    }
    if (matches.size() > 1) {
      throw new Trouble(
          "'" + wanted + "' names several classes: say which of " + String.join(", ", matches));
    }
    throw new Trouble("there is no test class '" + wanted + "'" + near(wanted, types));
  }

  private static URLClassLoader loader(List<Path> jars) throws MalformedURLException {
    URL[] urls = new URL[jars.size()];
    for (int i = 0; i < urls.length; i++) {
      urls[i] = jars.get(i).toUri().toURL();
    }
    return new URLClassLoader(urls, Plan.class.getClassLoader());
  }

  private static TestPlan discover(ClassLoader loader, String type) {
    Thread.currentThread().setContextClassLoader(loader);
    try {
      return LauncherFactory.create()
          .discover(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(DiscoverySelectors.selectClass(loader, type))
                  .build());
    } finally {
      Thread.currentThread().setContextClassLoader(Plan.class.getClassLoader());
    }
  }

  private static List<TestIdentifier> select(TestPlan plan, String type, String method)
      throws Trouble {
    Set<String> names = new TreeSet<>();
    List<TestIdentifier> found = new ArrayList<>();
    for (TestIdentifier root : plan.getRoots()) {
      for (TestIdentifier test : plan.getDescendants(root)) {
        if (test.getSource().orElse(null) instanceof MethodSource source) {
          names.add(source.getMethodName());
          if (method.isEmpty() || method.equals(source.getMethodName())) {
            found.add(test);
          }
        }
      }
    }
    if (found.isEmpty()) {
      throw new Trouble(
          method.isEmpty()
              ? "the class " + type + " has no tests"
              : "there is no test '" + method + "' in " + type + near(method, names));
    }
    return found;
  }

  private static Stream<String> launches(TestIdentifier test) {
    Set<String> tags =
        test.getTags().stream().map(TestTag::getName).collect(Collectors.toSet());
    Set<String> launches = new LinkedHashSet<>();
    if (tags.contains("pair")) {
      launches.add("pair");
    } else if (tags.contains("stand-in")) {
      launches.addAll(List.of("stand-in", "critical-stand-in"));
    } else if (tags.contains("mlx5")) {
      launches.add("mlx5");
    } else if (tags.contains("device") && tags.contains("alone")) {
      launches.add("alone");
    } else if (tags.contains("device")) {
      launches.add(tags.contains("slow") ? "slow" : "others");
    } else {
      launches.add("host");
    }
    if (tags.contains("data-path")) {
      launches.add("critical");
    }
    return launches.stream();
  }

  /** Names that contain the other one, or differ from it in few letters, the nearest first. */
  private static String near(String wanted, Set<String> names) {
    String word = last(wanted);
    List<String> near =
        names.stream()
            .filter(name -> isNear(word, last(name)))
            .sorted(Comparator.comparingInt(name -> distance(word, last(name))))
            .limit(8)
            .toList();
    return near.isEmpty() ? "" : "; did you mean " + String.join(", ", near) + "?";
  }

  /** Without the package, and in small letters. */
  private static String last(String name) {
    return name.substring(name.lastIndexOf('.') + 1).toLowerCase();
  }

  private static boolean isNear(String one, String other) {
    return other.contains(one)
        || one.contains(other)
        || distance(one, other) <= Math.max(2, one.length() / 4);
  }

  private static int distance(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int changed = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(changed, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[other.length()];
  }
}
