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
import java.util.TreeMap;
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
  private final Path sources;
  private final Path jars;

  Unit(String name, Path sources, Path jars) {
    this.name = name;
    this.sources = sources;
    this.jars = jars;
  }

  /** Compiles what has changed, and returns the jar. */
  Path compile(List<Path> used, List<String> libraries) throws IOException, Trouble {
    Map<String, Path> files = files();
    MessageDigest digest = digest();
    for (Path jar : used) {
      digest.update(declarations(jar).getBytes());
    }
    digest.update((OPTIONS + Runtime.version().toString() + libraries).getBytes());
    for (var file : files.entrySet()) {
      digest.update((file.getKey() + '\n').getBytes());
      digest.update(digest().digest(Files.readAllBytes(file.getValue())));
    }
    Path jar = jars.resolve(name + "-" + hex(digest) + ".jar");
    if (!Files.exists(jar)) {
      compile(files, used, libraries, jar);
      deleteOthers(jar);
    }
    return jar;
  }

  private Map<String, Path> files() throws IOException {
    Map<String, Path> files = new TreeMap<>();
    for (String kind : List.of("java", "resources")) {
      Path directory = sources.resolve(kind);
      if (Files.isDirectory(directory)) {
        try (var walk = Files.walk(directory)) {
          walk.filter(Files::isRegularFile)
              .filter(file -> !file.endsWith("module-info.java"))
              .forEach(file -> files.put(sources.relativize(file).toString(), file));
        }
      }
    }
    return files;
  }

  private void compile(Map<String, Path> files, List<Path> used, List<String> libraries, Path jar)
      throws IOException, Trouble {
    List<String> path = new ArrayList<>(used.stream().map(Path::toString).toList());
    path.addAll(libraries);
    List<String> options = new ArrayList<>(OPTIONS);
    options.addAll(List.of("-classpath", String.join(":", path)));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    Map<String, byte[]> classes = new TreeMap<>();
    Map<String, String> declarations = new TreeMap<>();
    List<Path> java =
        files.values().stream().filter(file -> file.toString().endsWith(".java")).toList();
    try (StandardJavaFileManager standard = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  messages,
                  new ToMemory(standard, classes),
                  null,
                  options,
                  null,
                  standard.getJavaFileObjectsFromPaths(java));
      task.addTaskListener(
          new TaskListener() {
            @Override
            public void finished(TaskEvent event) {
              if (event.getKind() == TaskEvent.Kind.ANALYZE && event.getTypeElement() != null) {
                TypeElement type = event.getTypeElement();
                StringWriter text = new StringWriter();
                task.getElements().printElements(text, type);
                declarations.put(type.getQualifiedName().toString(), text.toString());
              }
            }
          });
      if (!java.isEmpty() && !task.call()) {
        throw new Trouble(messages + name + " does not compile");
      }
    }
    for (var file : files.entrySet()) {
      if (file.getKey().startsWith("resources/")) {
        classes.put(
            file.getKey().substring("resources/".length()), Files.readAllBytes(file.getValue()));
      }
    }
    MessageDigest digest = digest();
    declarations.forEach((type, text) -> digest.update((type + '\n' + text).getBytes()));
    write(classes, hex(digest), jar);
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
    private final Map<String, byte[]> classes;

    ToMemory(StandardJavaFileManager manager, Map<String, byte[]> classes) {
      super(manager);
      this.classes = classes;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        JavaFileManager.Location location, String type, JavaFileObject.Kind kind, FileObject near) {
      String entry = type.replace('.', '/') + kind.extension;
      return new SimpleJavaFileObject(URI.create("memory:///" + entry.replace("$", "%24")), kind) {
        @Override
        public OutputStream openOutputStream() {
          return new ByteArrayOutputStream() {
            @Override
            public void close() {
              classes.put(entry, toByteArray());
            }
          };
        }
      };
    }
  }
}
