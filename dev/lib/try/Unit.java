import com.sun.source.util.JavacTask;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import javax.lang.model.element.TypeElement;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The main classes or the tests of a module, compiled into one jar. The jar's name is a digest of
 * all that the compiler reads: the sources, and the declarations of the units that they use. So a
 * jar is never stale, and a change of a method's body leaves the jars of other units alone.
 */
final class Unit {
  private static final List<String> OPTIONS = List.of("-proc:none", "-nowarn", "-g", "-parameters");

  final String name;
  private final Path directory;
  private final Path jars;
  private State last = new State();

  Unit(String name, Path directory, Path jars) {
    this.name = name;
    this.directory = directory;
    this.jars = jars;
  }

  /** What was compiled: the digest of each file, the classes of each source, all declarations. */
  private static final class State {
    private String others = "";
    private final Map<Path, String> files = new TreeMap<>();
    private final Map<Path, Map<String, byte[]>> classes = new TreeMap<>();
    private final Map<String, String> declarations = new TreeMap<>();
  }

  /** Compiles what has changed, and returns the jar. */
  Path compile(List<Path> used, List<String> libraries) throws IOException, Trouble {
    State next = new State();
    MessageDigest others = digest();
    for (Path jar : used) {
      others.update(declarations(jar).getBytes());
    }
    others.update((OPTIONS + Runtime.version().toString() + libraries).getBytes());
    next.others = hex(others);
    for (Path file : files()) {
      MessageDigest digest = digest();
      digest.update(Files.readAllBytes(file));
      next.files.put(file, hex(digest));
    }
    MessageDigest all = digest();
    all.update((next.others + next.files).getBytes());
    Path jar = jars.resolve(name + "-" + hex(all) + ".jar");
    if (!Files.exists(jar)) {
      List<String> path = new ArrayList<>(used.stream().map(Path::toString).toList());
      path.addAll(libraries);
      if (!compileChanged(next, path)) {
        compile(next.files.keySet(), path, next);
      }
      write(next, jar);
      deleteOthers(jar);
      last = next;
    }
    return jar;
  }

  private List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String kind : List.of("java", "resources")) {
      if (Files.isDirectory(directory.resolve(kind))) {
        try (var walk = Files.walk(directory.resolve(kind))) {
          walk.filter(Files::isRegularFile)
              .filter(file -> !file.endsWith("module-info.java"))
              .forEach(files::add);
        }
      }
    }
    return files;
  }

  /**
   * Compiles only the changed files, if all others would be compiled to the same as before: then no
   * file has come or gone, and the changed ones declare what they declared.
   */
  private boolean compileChanged(State next, List<String> path) throws IOException, Trouble {
    if (!last.others.equals(next.others) || !last.files.keySet().equals(next.files.keySet())) {
      return false;
    }
    Set<Path> changed = new TreeSet<>(next.files.keySet());
    changed.removeIf(file -> next.files.get(file).equals(last.files.get(file)));
    Path jar = Files.createTempFile(jars, "before", ".jar");
    try {
      write(last, jar);
      path = new ArrayList<>(path);
      path.add(0, jar.toString());
      compile(changed, path, next);
    } finally {
      Files.delete(jar);
    }
    for (Path file : changed) {
      if (!declaredBy(file, last).equals(declaredBy(file, next))) {
        next.classes.clear();
        next.declarations.clear();
        return false;
      }
    }
    last.classes.forEach(next.classes::putIfAbsent);
    last.declarations.forEach(next.declarations::putIfAbsent);
    return true;
  }

  /** The declarations of the top-level types of a file. */
  private static Map<String, String> declaredBy(Path file, State state) {
    Map<String, String> declared = new TreeMap<>();
    for (String entry : state.classes.getOrDefault(file, Map.of()).keySet()) {
      String type = entry.replaceAll("\\.class$|\\$.*", "").replace('/', '.');
      declared.put(type, state.declarations.getOrDefault(type, ""));
    }
    return declared;
  }

  /** Adds the classes and the declarations of these files. */
  private void compile(Set<Path> files, List<String> path, State state)
      throws IOException, Trouble {
    List<Path> sources = files.stream().filter(file -> file.toString().endsWith(".java")).toList();
    if (sources.isEmpty()) {
      return;
    }
    List<String> options = new ArrayList<>(OPTIONS);
    options.addAll(List.of("-implicit:none", "-classpath", String.join(":", path)));
    options.addAll(List.of("-sourcepath", ""));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager standard = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  messages,
                  new ToMemory(standard, state.classes),
                  null,
                  options,
                  null,
                  standard.getJavaFileObjectsFromPaths(sources));
      task.addTaskListener(
          new TaskListener() {
            @Override
            public void finished(TaskEvent event) {
              if (event.getKind() == TaskEvent.Kind.ANALYZE && event.getTypeElement() != null) {
                TypeElement type = event.getTypeElement();
                StringWriter text = new StringWriter();
                task.getElements().printElements(text, type);
                state.declarations.put(type.getQualifiedName().toString(), text.toString());
              }
            }
          });
      if (!task.call()) {
        throw new Trouble(messages + name + " does not compile");
      }
    }
  }

  private void write(State state, Path jar) throws IOException {
    Map<String, byte[]> entries = new TreeMap<>();
    state.classes.values().forEach(entries::putAll);
    Path resources = directory.resolve("resources");
    for (Path file : state.files.keySet()) {
      if (file.startsWith(resources)) {
        entries.put(resources.relativize(file).toString(), Files.readAllBytes(file));
      }
    }
    MessageDigest digest = digest();
    digest.update(state.declarations.toString().getBytes());
    write(entries, hex(digest), jar);
  }

  private static void write(Map<String, byte[]> entries, String comment, Path jar)
      throws IOException {
    Path draft = Path.of(jar + ".draft");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(draft))) {
      // Not compressed, because the JVMs in guests are slow.
      zip.setMethod(ZipOutputStream.STORED);
      for (var each : entries.entrySet()) {
        ZipEntry entry = new ZipEntry(each.getKey());
        CRC32 checksum = new CRC32();
        checksum.update(each.getValue());
        entry.setSize(each.getValue().length);
        entry.setCrc(checksum.getValue());
        zip.putNextEntry(entry);
        zip.write(each.getValue());
      }
      zip.setComment(comment);
    }
    Files.move(draft, jar, StandardCopyOption.ATOMIC_MOVE);
  }

  private void deleteOthers(Path jar) throws IOException {
    try (var others = Files.newDirectoryStream(jars, name + "-*.jar")) {
      for (Path other : others) {
        if (!other.equals(jar)) {
          Files.delete(other);
        }
      }
    }
  }

  /** A digest of what other units can see of a jar's classes. */
  private static String declarations(Path jar) throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      return zip.getComment();
    }
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest(), 0, 8);
  }

  private static final class ToMemory extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final Map<Path, Map<String, byte[]>> classes;

    ToMemory(StandardJavaFileManager manager, Map<Path, Map<String, byte[]>> classes) {
      super(manager);
      this.classes = classes;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        JavaFileManager.Location location,
        String type,
        JavaFileObject.Kind kind,
        FileObject source) {
      String entry = type.replace('.', '/') + kind.extension;
      Map<String, byte[]> ofSource =
          classes.computeIfAbsent(fileManager.asPath(source), file -> new TreeMap<>());
      return new SimpleJavaFileObject(URI.create("memory:///" + entry.replace("$", "%24")), kind) {
        @Override
        public OutputStream openOutputStream() {
          return new ByteArrayOutputStream() {
            @Override
            public void close() {
              ofSource.put(entry, toByteArray());
            }
          };
        }
      };
    }
  }
}
