package org.rdma4j.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.HeadingAnchorExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.AttributeProvider;
import org.commonmark.renderer.html.HtmlNodeRendererContext;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.html.HtmlWriter;

/**
 * A page of the site.
 *
 * @param source the file that it is made from, Markdown or Java, from the top folder
 * @param target the HTML file, from the folder of the site
 * @param title its first heading, or the name of the class
 */
record Page(Path source, Path target, String title) {
  private static final String HOME = "docs/guide/README.md";

  /** Where files that are no pages of the site can be read. */
  private static final String REPOSITORY = "https://github.com/rdma4j/rdma4j/blob/main/";

  private static final List<Extension> EXTENSIONS =
      List.of(TablesExtension.create(), HeadingAnchorExtension.create());
  private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();

  static Page read(Path top, Path source) throws IOException {
    String name = source.getFileName().toString();
    if (name.endsWith(".java")) {
      String type = name.substring(0, name.length() - ".java".length());
      return new Page(source, Path.of("first", type + ".html"), type);
    }
    String title =
        Files.readAllLines(top.resolve(source)).stream()
            .filter(line -> line.startsWith("# "))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(source + " has no heading"))
            .substring(2);
    return new Page(source, targetOf(source), title);
  }

  private static Path targetOf(Path source) {
    if (source.equals(Path.of(HOME))) {
      return Path.of("index.html");
    }
    Path inSite = source.startsWith("docs") ? source.subpath(1, source.getNameCount()) : source;
    String html = inSite.toString().replaceFirst("\\.md$", ".html");
    return Path.of(inSite.getNameCount() == 1 ? html.toLowerCase(java.util.Locale.ROOT) : html);
  }

  /** Returns the text of the page in HTML. */
  String html(Path top, List<Page> pages) throws IOException {
    String text = Files.readString(top.resolve(source));
    if (source.toString().endsWith(".java")) {
      return "<h1>" + title + "</h1>\n<pre><code>" + JavaCode.html(text) + "</code></pre>\n";
    }
    Node document = PARSER.parse(text);
    document.accept(new LinksToPages(top, pages));
    return HtmlRenderer.builder()
        .extensions(EXTENSIONS)
        .attributeProviderFactory(context -> new Wide())
        .nodeRendererFactory(Code::new)
        .build()
        .render(document);
  }

  /** Makes links between sources links between pages. */
  private final class LinksToPages extends AbstractVisitor {
    private final Path top;
    private final List<Page> pages;

    private LinksToPages(Path top, List<Page> pages) {
      this.top = top;
      this.pages = pages;
    }

    @Override
    public void visit(Link link) {
      String destination = link.getDestination();
      if (!destination.matches("(https?:|#|mailto:).*")) {
        String[] parts = destination.split("#", 2);
        link.setDestination(destination(parts[0]) + (parts.length == 2 ? "#" + parts[1] : ""));
      }
      visitChildren(link);
    }

    private String destination(String relative) {
      Path folder = Objects.requireNonNullElse(source.getParent(), Path.of(""));
      Path linked = folder.resolve(relative).normalize();
      if (linked.startsWith("api")) {
        throw new IllegalArgumentException(source + " links to the generated " + linked);
      }
      if (!Files.exists(top.resolve(linked))) {
        throw new IllegalArgumentException(source + " links to " + linked + ", which is missing");
      }
      String home = "../".repeat(target.getNameCount() - 1);
      return pages.stream()
          .filter(page -> page.source.equals(linked))
          .findFirst()
          .map(page -> home + page.target)
          .orElse(REPOSITORY + linked);
    }
  }

  /** Marks tables, which may be wider than a phone, so that they scroll by themselves. */
  private static final class Wide implements AttributeProvider {
    @Override
    public void setAttributes(Node node, String tagName, java.util.Map<String, String> attributes) {
      if (node instanceof TableBlock) {
        attributes.put("class", "wide");
      }
    }
  }

  /** Renders code with its colours, and leaves comments out. */
  private static final class Code implements NodeRenderer {
    private final HtmlWriter html;

    private Code(HtmlNodeRendererContext context) {
      this.html = context.getWriter();
    }

    @Override
    public java.util.Set<Class<? extends Node>> getNodeTypes() {
      return java.util.Set.of(FencedCodeBlock.class, HtmlBlock.class);
    }

    @Override
    public void render(Node node) {
      if (node instanceof FencedCodeBlock code) {
        boolean java = code.getInfo().equals("java");
        html.line();
        html.raw("<pre><code>");
        String text = code.getLiteral().stripTrailing();
        html.raw(java ? JavaCode.html(text) : JavaCode.escape(text));
        html.raw("</code></pre>");
        html.line();
      } else if (node instanceof HtmlBlock block && !block.getLiteral().startsWith("<!--")) {
        html.raw(block.getLiteral());
      }
    }
  }
}
