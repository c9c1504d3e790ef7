package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.CompletionStatus;

/** The pages: their links, their place in the site, and the names in them. */
class PagesTest {
  private static final Path TOP = Path.of("..");
  private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|mailto:)([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String folder : List.of("", "docs", "bindings")) {
      int depth = folder.equals("docs") ? 3 : 1;
      try (Stream<Path> files = Files.walk(TOP.resolve(folder), depth)) {
        files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
      }
    }
    return pages;
  }

  @Test
  void eachPageOfTheGuideIsInTheNavigation() throws Exception {
    String navigation = Files.readString(TOP.resolve("docs/mkdocs.yml"));
    for (Path page : Snippets.pages(TOP)) {
      assertThat(navigation).contains("- " + TOP.relativize(page) + "\n");
    }
  }

  @Test
  void linksLeadSomewhere() throws Exception {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      for (String link : found(LINK, Files.readString(page))) {
        links++;
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (!Files.exists(target)) {
          broken.add(page + ": " + link);
        } else if (parts.length == 2 && !anchors(target).contains(parts[1])) {
          broken.add(page + ": no heading " + link);
        }
      }
    }
    assertThat(links).isGreaterThan(100);
    assertThat(broken).isEmpty();
  }

  /** Returns the anchors of the headings of a page, as GitHub makes them. */
  private static Set<String> anchors(Path page) throws IOException {
    return found(HEADING, Files.readString(page)).stream()
        .map(heading -> heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\s-]", ""))
        .map(heading -> heading.replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  @Test
  void thePageOnErrorsNamesEveryStatus() throws Exception {
    String page = Files.readString(TOP.resolve("docs/guide/errors.md"));
    for (CompletionStatus status : CompletionStatus.values()) {
      assertThat(page).contains("`" + status + "`");
    }
  }

  @Test
  void theFunctionsOfThePageForThoseWhoKnowCExist() throws Exception {
    Set<String> known = new TreeSet<>();
    for (String coverage : List.of("docs/verbs-coverage.md", "docs/cm-coverage.md")) {
      known.addAll(found(Pattern.compile("\\| `(\\w+)`"), Files.readString(TOP.resolve(coverage))));
    }
    String page = Files.readString(TOP.resolve("docs/guide/coming-from-c.md"));
    assertThat(found(Pattern.compile("`((?:ibv|rdma)_\\w+)`"), page))
        .hasSizeGreaterThan(40)
        .filteredOn(name -> !name.equals("ibv_rc_pingpong"))
        .isSubsetOf(known);
  }

  @Test
  void theMembersThatTheGuideNamesExist() throws Exception {
    Pattern named = Pattern.compile("`([A-Z]\\w+\\.[a-z]\\w+)");
    List<String> unknown = new ArrayList<>();
    int members = 0;
    for (Path page : Snippets.pages(TOP)) {
      for (String member : found(named, Files.readString(page))) {
        String[] parts = member.split("\\.", 2);
        for (Path source : sources(parts[0])) {
          members++;
          if (!Files.readString(source).contains(" " + parts[1])) {
            unknown.add(page + ": " + member);
          }
        }
      }
    }
    assertThat(members).isGreaterThan(20);
    assertThat(unknown).isEmpty();
  }

  /** Returns the source of a class of the library; nothing if it is none of its classes. */
  private static List<Path> sources(String type) throws IOException {
    try (Stream<Path> files = Files.walk(TOP.resolve("lib/src/main/java"))) {
      return files.filter(file -> file.endsWith(type + ".java")).toList();
    }
  }

  private static Set<String> found(Pattern pattern, String text) {
    Set<String> found = new TreeSet<>();
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }
}
