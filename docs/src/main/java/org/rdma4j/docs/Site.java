package org.rdma4j.docs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the pages as HTML into a folder.
 *
 * <pre>
 * Site TOP SITE       # writes the site
 * Site --snippets TOP # copies the code of the tests into the pages
 * </pre>
 */
public final class Site {
  private static final String STYLE = "style.css";

  /** The sections of the navigation. */
  static final List<Section> SECTIONS =
      List.of(
          Section.of(
              "Guide",
              "docs/guide/README.md",
              "docs/guide/getting-started.md",
              "docs/guide/layers.md",
              "docs/guide/connections.md",
              "docs/guide/memory.md",
              "docs/guide/visibility.md",
              "docs/guide/hot-path.md",
              "docs/guide/waiting.md",
              "docs/guide/channels.md",
              "docs/guide/netty.md",
              "docs/guide/valkey.md",
              "docs/guide/monitoring.md",
              "docs/guide/errors.md",
              "docs/guide/coming-from-c.md",
              "docs/guide/coming-from-disni.md",
              "docs/guide/coming-from-sockets.md",
              "docs/guide/deployment.md"),
          Section.of(
              "First programs",
              first("SendAndReceive"),
              first("RcPingPong"),
              first("WriteAndRead"),
              first("Atomics"),
              first("CompletionEvents"),
              first("CmEcho"),
              first("ConnectionEcho")),
          Section.of(
              "Reference",
              "docs/verbs-coverage.md",
              "docs/cm-coverage.md",
              "docs/performance.md",
              "docs/benchmarks/programs.md",
              "docs/guest.md",
              "docs/simulated-adapter.md",
              "docs/versions.md",
              "CHANGELOG.md",
              "SECURITY.md"),
          Section.of(
              "Development",
              "CONTRIBUTING.md",
              "docs/architecture/layers.md",
              "docs/architecture/lifetimes-and-threads.md",
              "docs/architecture/memory.md",
              "docs/architecture/data-path.md",
              "docs/architecture/queues-in-place.md",
              "docs/architecture/connection-manager.md",
              "docs/architecture/connections.md",
              "docs/architecture/channels.md",
              "bindings/README.md",
              "docs/mutations.md"));

  private final Path top;
  private final Path out;
  private final List<Page> pages = new ArrayList<>();

  private Site(Path top, Path out) {
    this.top = top;
    this.out = out;
  }

  /** A part of the navigation. */
  record Section(String title, List<Path> sources) {
    static Section of(String title, String... sources) {
      return new Section(title, Stream.of(sources).map(Path::of).toList());
    }
  }

  private static String first(String name) {
    return "samples/src/main/java/org/rdma4j/samples/first/" + name + ".java";
  }

  /**
   * Writes the site, or updates the code in the pages.
   *
   * @param args the top folder of the project, and the folder of the site; or {@code --snippets}
   *     and the top folder
   * @throws IOException if a file cannot be read or written
   */
  public static void main(String[] args) throws IOException {
    if (args[0].equals("--snippets")) {
      updateSnippets(Path.of(args[1]));
    } else {
      write(Path.of(args[0]), Path.of(args[1]));
    }
  }

  static void write(Path top, Path out) throws IOException {
    new Site(top, out).write();
  }

  private static void updateSnippets(Path top) throws IOException {
    Snippets snippets = new Snippets(top);
    for (Path page : markdown()) {
      Path file = top.resolve(page);
      String text = Files.readString(file);
      String updated = snippets.update(text);
      if (!updated.equals(text)) {
        Files.writeString(file, updated);
        System.out.println("updated " + page);
      }
    }
  }

  /** Returns the pages in Markdown. */
  static List<Path> markdown() {
    return SECTIONS.stream()
        .flatMap(section -> section.sources().stream())
        .filter(path -> path.toString().endsWith(".md"))
        .toList();
  }

  private void write() throws IOException {
    Files.createDirectories(out);
    try (InputStream style = Site.class.getResourceAsStream(STYLE)) {
      Files.copy(
          Objects.requireNonNull(style), out.resolve(STYLE), StandardCopyOption.REPLACE_EXISTING);
    }
    for (Section section : SECTIONS) {
      for (Path source : section.sources()) {
        pages.add(Page.read(top, source));
      }
    }
    for (int i = 0; i < pages.size(); i++) {
      write(
          pages.get(i),
          i == 0 ? null : pages.get(i - 1),
          i + 1 == pages.size() ? null : pages.get(i + 1));
    }
  }

  private void write(Page page, @Nullable Page previous, @Nullable Page next) throws IOException {
    Path file = out.resolve(page.target());
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    String home = "../".repeat(page.target().getNameCount() - 1);
    StringBuilder html = new StringBuilder();
    html.append(
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>%s - rdma4j</title>
        <link rel="stylesheet" href="%sstyle.css">
        </head>
        <body>
        <a class="skip" href="#content">Skip to the text</a>
        """
            .formatted(JavaCode.escape(page.title()), home));
    html.append("<header><a class=\"name\" href=\"").append(home).append("index.html\">rdma4j</a>");
    html.append("<span>RDMA for the JVM</span><a href=\"").append(home);
    html.append("api/index.html\">Javadoc</a></header>\n<div class=\"columns\">\n");
    // On a phone, the navigation is folded behind its title; with room next to the text, it is
    // open.
    html.append("<nav class=\"folded\"><details><summary>Pages</summary>\n");
    appendNavigation(html, page, home);
    html.append("</details></nav>\n<nav class=\"open\">\n");
    appendNavigation(html, page, home);
    html.append("</nav>\n<main id=\"content\">\n").append(page.html(top, pages));
    html.append("<footer>");
    appendNeighbour(html, previous, home, "Previous");
    appendNeighbour(html, next, home, "Next");
    html.append(
        """
        <p>Licensed under the Apache License 2.0.</p></footer>
        </main>
        </div>
        </body>
        </html>
        """);
    Files.writeString(file, html, StandardCharsets.UTF_8);
  }

  private void appendNavigation(StringBuilder html, Page current, String home) {
    int index = 0;
    for (Section section : SECTIONS) {
      html.append("<h2>").append(section.title()).append("</h2>\n<ul>\n");
      for (int i = 0; i < section.sources().size(); i++) {
        Page page = pages.get(index++);
        html.append("<li><a href=\"").append(home).append(page.target()).append('"');
        html.append(page.equals(current) ? " aria-current=\"page\"" : "").append('>');
        html.append(JavaCode.escape(page.title())).append("</a></li>\n");
      }
      html.append("</ul>\n");
    }
  }

  private static void appendNeighbour(
      StringBuilder html, @Nullable Page page, String home, String label) {
    if (page != null) {
      html.append("<a href=\"").append(home).append(page.target()).append("\"><small>");
      html.append(label).append("</small>").append(JavaCode.escape(page.title())).append("</a>");
    }
  }
}
