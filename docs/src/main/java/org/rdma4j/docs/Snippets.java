package org.rdma4j.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The code in the pages. A page names the source of a block in a comment before it:
 *
 * <pre>
 * &lt;!-- snippet: WaitingDeviceTest awaiting --&gt;
 * </pre>
 *
 * <p>The source has it between the lines {@code // snippet: awaiting} and {@code // end}. It is a
 * class of the guide's tests, or a path from the top folder, of which the whole file is taken if no
 * name follows.
 */
public final class Snippets {
  private static final Path GUIDE_TESTS = Path.of("docs/src/test/java/org/rdma4j/docs/guide");
  private static final Pattern BLOCK =
      Pattern.compile("(?m)^<!-- snippet: (\\S+)(?: (\\S+))? -->\\n```(\\w+)\\n((?s:.*?))^```$");
  private static final Map<String, String> COMMENT_ENDS = Map.of("//", "", "<!--", " -->");

  /** The folder of the pages that have code. */
  private static final Path PAGES = Path.of("docs/guide");

  private final Path top;

  Snippets(Path top) {
    this.top = top;
  }

  /**
   * Copies the code of the tests into the pages.
   *
   * @param args the top folder of the project
   * @throws IOException if a file cannot be read or written
   */
  public static void main(String[] args) throws IOException {
    Path top = Path.of(args[0]);
    Snippets snippets = new Snippets(top);
    for (Path page : pages(top)) {
      String text = Files.readString(page);
      String updated = snippets.update(text);
      if (!updated.equals(text)) {
        Files.writeString(page, updated);
        System.out.println("updated " + page);
      }
    }
  }

  /** Returns the pages that have code. */
  static List<Path> pages(Path top) throws IOException {
    try (Stream<Path> files = Files.list(top.resolve(PAGES))) {
      return files.filter(file -> file.toString().endsWith(".md")).sorted().toList();
    }
  }

  /** Returns the page with each block replaced by what its source has now. */
  String update(String page) throws IOException {
    Matcher block = BLOCK.matcher(page);
    StringBuilder updated = new StringBuilder();
    while (block.find()) {
      String name = block.group(2);
      String source = block.group(1) + (name == null ? "" : " " + name);
      String code = code(block.group(1), name);
      String text = "<!-- snippet: " + source + " -->\n```" + block.group(3) + "\n" + code + "```";
      block.appendReplacement(updated, Matcher.quoteReplacement(text));
    }
    return block.appendTail(updated).toString();
  }

  private String code(String source, String name) throws IOException {
    Path file =
        source.contains("/")
            ? top.resolve(source)
            : top.resolve(GUIDE_TESTS).resolve(source + ".java");
    List<String> lines = Files.readAllLines(file);
    List<String> region = name == null ? lines : region(lines, name, file);
    int indent =
        region.stream()
            .filter(line -> !line.isBlank())
            .mapToInt(line -> line.length() - line.stripLeading().length())
            .min()
            .orElseThrow(() -> new IllegalArgumentException(file + ": " + name + " is empty"));
    StringBuilder code = new StringBuilder();
    for (String line : region) {
      code.append(line.isBlank() ? "" : line.substring(indent)).append('\n');
    }
    return code.toString();
  }

  /** Returns the lines between the markers, which may appear several times: they are joined. */
  private static List<String> region(List<String> lines, String name, Path file) {
    List<String> region = new ArrayList<>();
    boolean found = false;
    boolean inside = false;
    for (String line : lines) {
      if (isMarker(line, "snippet: " + name)) {
        inside = true;
        found = true;
      } else if (isMarker(line, "end")) {
        inside = false;
      } else if (inside) {
        region.add(line);
      }
    }
    if (!found || inside) {
      throw new IllegalArgumentException(
          file + (found ? " does not end snippet " : " has no snippet ") + name);
    }
    return region;
  }

  private static boolean isMarker(String line, String text) {
    return COMMENT_ENDS.entrySet().stream()
        .anyMatch(
            comment -> line.strip().equals(comment.getKey() + " " + text + comment.getValue()));
  }
}
