import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.platform.console.ConsoleLauncher;

/**
 * Runs tests in a JVM that has started before it knows which tests: starting a JVM and loading
 * JUnit takes an emulated processor longer than most tests. It reads the name of a file from
 * standard input. The lines of the file are, in any order, {@code jar FILE} for the class path,
 * {@code property NAME=VALUE}, and {@code option TEXT} for JUnit's console launcher.
 */
public final class Runner {
  private static Instrumentation instrumentation;

  private Runner() {}

  /** Called before main, because the JVM has the option -javaagent. */
  public static void premain(String options, Instrumentation given) {
    instrumentation = given;
  }

  public static void main(String[] args) throws IOException, ClassNotFoundException {
    rehearse();
    if (args.length > 0) {
      load(Path.of(args[0]));
      return;
    }
    String job = readLine();
    if (!job.isEmpty()) {
      ConsoleLauncher.main(prepare(Path.of(job)).toArray(String[]::new));
    }
  }

  private static void rehearse() throws IOException {
    Path reports = Files.createTempDirectory("rehearsal");
    PrintWriter nowhere = new PrintWriter(OutputStream.nullOutputStream());
    ConsoleLauncher.run(
        nowhere,
        nowhere,
        "execute",
        "--select-class=" + Rehearsal.class.getName(),
        "--include-tag=!none",
        "--details=testfeed",
        "--disable-banner",
        "--reports-dir=" + reports);
    try (Stream<Path> files = Files.list(reports)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.delete(file);
      }
    }
    Files.delete(reports);
  }

  /** Loads the classes of a jar, for an archive of classes. */
  private static void load(Path jar) throws IOException, ClassNotFoundException {
    try (JarFile file = new JarFile(jar.toFile())) {
      for (var entry : (Iterable<java.util.jar.JarEntry>) file.stream()::iterator) {
        String name = entry.getName();
        if (name.endsWith(".class") && !name.endsWith("-info.class")) {
          String type = name.substring(0, name.length() - ".class".length()).replace('/', '.');
          Class.forName(type, false, Runner.class.getClassLoader());
        }
      }
    }
  }

  /** Byte by byte, because what follows belongs to the tests. */
  private static String readLine() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int read = System.in.read(); read != -1 && read != '\n'; read = System.in.read()) {
      line.append((char) read);
    }
    return line.toString();
  }

  private static List<String> prepare(Path job) throws IOException {
    List<String> options = new ArrayList<>(List.of("execute"));
    StringBuilder path = new StringBuilder(System.getProperty("java.class.path"));
    for (String line : Files.readAllLines(job)) {
      String value = line.substring(line.indexOf(' ') + 1);
      switch (line.substring(0, line.indexOf(' '))) {
        case "jar" -> {
          instrumentation.appendToSystemClassLoaderSearch(new JarFile(value));
          path.append(':').append(value);
        }
        case "property" -> {
          int equals = value.indexOf('=');
          System.setProperty(value.substring(0, equals), value.substring(equals + 1));
        }
        case "option" -> options.add(value);
        default -> throw new IllegalArgumentException("unknown line '" + line + "' in " + job);
      }
    }
    // Tests start other JVMs with it.
    System.setProperty("java.class.path", path.toString());
    return options;
  }
}
