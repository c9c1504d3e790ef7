import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.platform.engine.Filter;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Prints each test class and where dev/test runs it: JUnit discovers the tests with the tag
 * expressions of dev/lib/places. Fails if a test runs nowhere.
 *
 * <p>{@code java dev/lib/ListTests.java DIRECTORY...}, where the directories are roots of classes
 */
final class ListTests {
  /** A line of dev/lib/places. */
  private record Place(String name, String command, String tags) {
    static Place of(String line) {
      String[] words = line.split(" ", 3);
      return new Place(words[0], words[1], words[2]);
    }
  }

  private ListTests() {}

  public static void main(String[] directories) throws IOException {
    Set<Path> roots = Stream.of(directories).map(Path::of).collect(Collectors.toSet());
    Map<String, Set<String>> placesByClass = new TreeMap<>();
    Set<String> nowhere = new TreeSet<>(tests(roots));
    if (nowhere.isEmpty()) {
      throw new IllegalStateException("there are no tests in " + roots);
    }
    // TestWatchTest starts them.
    nowhere.removeIf(test -> test.startsWith("org.rdma4j.testing.HangingTests#"));
    for (Place place : places()) {
      Collection<String> tests =
          tests(
              roots,
              ClassNameFilter.includeClassNamePatterns(ClassNameFilter.STANDARD_INCLUDE_PATTERN),
              TagFilter.includeTags(place.tags()));
      for (String test : tests) {
        placesByClass
            .computeIfAbsent(test.substring(0, test.indexOf('#')), name -> new LinkedHashSet<>())
            .add(place.command() + ": " + place.name());
      }
      nowhere.removeAll(tests);
    }
    placesByClass.forEach(
        (name, places) -> System.out.printf("%-70s %s%n", name, String.join(", ", places)));
    nowhere.forEach(test -> System.err.println("dev/test --list: runs nowhere: " + test));
    System.exit(nowhere.isEmpty() ? 0 : 1);
  }

  private static List<Place> places() throws IOException {
    List<Place> places =
        Files.readAllLines(Path.of("dev/lib/places")).stream()
            .filter(line -> !line.startsWith("#"))
            .map(Place::of)
            .toList();
    String elsewhere = places.get(1).tags().replaceFirst("^slow & !\\((.*)\\)$", "$1");
    if (!Files.readString(Path.of("pom.xml"))
        .contains("<tests.elsewhere>" + elsewhere + "</tests.elsewhere>")) {
      throw new IllegalStateException(
          "dev/lib/places excludes '" + elsewhere + "' from the host, and pom.xml does not");
    }
    return places;
  }

  /** Returns the tests as {@code CLASS#METHOD}. */
  private static Collection<String> tests(Set<Path> roots, Filter<?>... filters) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClasspathRoots(roots))
            .filters(filters)
            .build();
    TestPlan plan = LauncherFactory.create().discover(request);
    return plan.getRoots().stream()
        .flatMap(root -> plan.getDescendants(root).stream())
        .flatMap(test -> test.getSource().stream())
        .filter(MethodSource.class::isInstance)
        .map(MethodSource.class::cast)
        .map(test -> test.getClassName().replaceFirst("\\$.*", "") + "#" + test.getMethodName())
        .collect(Collectors.toSet());
  }
}
