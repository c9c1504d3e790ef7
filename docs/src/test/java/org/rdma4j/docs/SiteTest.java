package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.verbs.CompletionStatus;

/** The site as a whole. */
class SiteTest {
  private static final Path TOP = Path.of("..");
  private static final Pattern LINK = Pattern.compile("(?:href|src)=\"([^\"]*)\"");
  private static final Pattern ID = Pattern.compile(" id=\"([^\"]*)\"");

  @TempDir static Path site;

  @BeforeAll
  static void build() throws IOException {
    Site.write(TOP, site);
  }

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(site)) {
      return files.filter(file -> file.toString().endsWith(".html")).toList();
    }
  }

  @Test
  void eachPageOfTheGuideIsInTheNavigation() throws Exception {
    try (Stream<Path> files = Files.list(TOP.resolve("docs/guide"))) {
      Set<Path> pages =
          files
              .filter(file -> file.toString().endsWith(".md"))
              .map(TOP::relativize)
              .collect(Collectors.toSet());
      assertThat(Site.markdown()).containsAll(pages);
    }
  }

  @Test
  void linksLeadSomewhere() throws Exception {
    List<String> broken = new ArrayList<>();
    for (Path file : files()) {
      for (String link : found(LINK, Files.readString(file))) {
        if (link.startsWith("https:") || link.contains("api/")) {
          continue; // elsewhere, or written by javadoc
        }
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? file : file.resolveSibling(parts[0]).normalize();
        if (!Files.exists(target)) {
          broken.add(site.relativize(file) + ": " + link);
        } else if (parts.length == 2 && !found(ID, Files.readString(target)).contains(parts[1])) {
          broken.add(site.relativize(file) + ": no heading " + link);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void nothingIsLoadedFromElsewhere() throws Exception {
    for (Path file : files()) {
      assertThat(Files.readString(file))
          .doesNotContainPattern("(?:src|url)[=(]\"?https?:")
          .doesNotContainPattern("<link[^>]*https?:")
          .doesNotContain("<script");
    }
    assertThat(Files.readString(site.resolve("style.css"))).doesNotContain("url(", "@import");
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
    for (Path page : Site.markdown()) {
      if (page.startsWith("docs/guide")) {
        for (String member : found(named, Files.readString(TOP.resolve(page)))) {
          String[] parts = member.split("\\.", 2);
          for (Path source : sources(parts[0])) {
            members++;
            if (!Files.readString(source).contains(" " + parts[1])) {
              unknown.add(page + ": " + member);
            }
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
