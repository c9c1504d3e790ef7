package org.rdma4j.testing.headers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A filter of what jextract generates: lines such as {@code --include-struct ibv_qp}. */
public final class Filter {
  private static final Path DIRECTORY = Path.of("jextract");
  private static final String INCLUDE = "--include-";

  private Filter() {}

  /** A line of the filter. The kind is struct, union, typedef, function or constant. */
  public record Symbol(String kind, String name) {
    public boolean isType() {
      return List.of("struct", "union", "typedef").contains(kind);
    }

    public boolean isConstant() {
      return kind.equals("constant");
    }

    /** Returns the name of the type in C: with a tag, unless it is a typedef. */
    public String spelling() {
      return kind.equals("typedef") ? name : kind + " " + name;
    }
  }

  /** Returns the lines of a file in the folder {@code jextract}. */
  public static List<Symbol> symbols(String file) {
    try (Stream<String> lines = Files.lines(DIRECTORY.resolve(file))) {
      return lines.map(Filter::symbol).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Symbol symbol(String line) {
    int space = line.indexOf(' ');
    return new Symbol(line.substring(INCLUDE.length(), space), line.substring(space + 1));
  }
}
