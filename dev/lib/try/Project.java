import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The modules of the checkout, and the order in which Maven puts them on class paths. */
final class Project {
  private static final Pattern MODULE = Pattern.compile("<module>(.*)</module>");

  private final Path root;
  private final Path jars;
  private final Pattern target;
  private final Map<String, Unit> units = new HashMap<>();

  Project(Path root, Path jars) {
    this.root = root;
    this.jars = jars;
    this.target =
        Pattern.compile(Pattern.quote(root.toAbsolutePath().normalize() + "/") + "(.+)/target/[^/]+");
  }

  /** The test classes of all modules: by name, the module. */
  Map<String, String> tests() throws IOException {
    Map<String, String> tests = new TreeMap<>();
    for (String module : modules()) {
      Path sources = root.resolve(module).resolve("src/test/java");
      if (Files.isDirectory(sources)) {
        try (Stream<Path> files = Files.walk(sources)) {
          files
              .filter(file -> file.toString().endsWith(".java"))
              .map(file -> sources.relativize(file).toString())
              .map(name -> name.substring(0, name.length() - 5).replace('/', '.'))
              .forEach(name -> tests.put(name, module));
        }
      }
    }
    return tests;
  }

  /** The directories of the modules, relative to the root, without those of profiles. */
  private List<String> modules() throws IOException {
    String modules = Files.readString(root.resolve("pom.xml")).split("</modules>", 2)[0];
    return MODULE.matcher(modules).results().map(found -> found.group(1)).toList();
  }

  /** The modules whose main classes a module uses, in the order in which they are compiled. */
  List<String> modulesBelow(String module) throws IOException, Trouble {
    SequencedSet<String> order = new LinkedHashSet<>();
    visit(module, order);
    order.remove(module);
    return List.copyOf(order);
  }

  private void visit(String module, SequencedSet<String> order) throws IOException, Trouble {
    for (String entry : classPath(module)) {
      Matcher matcher = target.matcher(entry);
      if (matcher.matches() && !order.contains(matcher.group(1))) {
        visit(matcher.group(1), order);
      }
    }
    order.add(module);
  }

  /** The jars of what a module's tests need, with the tests last, compiled if they have changed. */
  List<Path> compile(String module) throws IOException, Trouble {
    Map<String, Path> main = new LinkedHashMap<>();
    for (String below : modulesBelow(module)) {
      main.put(below, compile(below, "main", main));
    }
    main.put(module, compile(module, "main", main));
    List<Path> jars = new ArrayList<>(main.values());
    jars.add(compile(module, "test", main));
    return jars;
  }

  private Path compile(String module, String kind, Map<String, Path> main)
      throws IOException, Trouble {
    List<Path> used = new ArrayList<>();
    for (String below : modulesBelow(module)) {
      used.add(main.get(below));
    }
    if (kind.equals("test")) {
      used.add(main.get(module));
    }
    Path directory = root.resolve(module).resolve("src").resolve(kind);
    return units
        .computeIfAbsent(module + "-" + kind, name -> new Unit(name.replace('/', '-'), directory, jars))
        .compile(used, libraries(module));
  }

  /** The jars of other projects that a module's tests need. */
  private List<String> libraries(String module) throws IOException, Trouble {
    return classPath(module).stream().filter(entry -> !target.matcher(entry).matches()).toList();
  }

  private List<String> classPath(String module) throws IOException, Trouble {
    Path file = root.resolve(module).resolve("target/test-class-path");
    if (!Files.exists(file)) {
      throw new Trouble(module + " has no target/test-class-path: name the module in pom.xml");
    }
    return List.of(Files.readString(file).split(":"));
  }
}
