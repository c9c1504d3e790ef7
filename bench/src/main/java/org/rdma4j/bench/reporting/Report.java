package org.rdma4j.bench.reporting;

import java.io.IOException;
import java.nio.file.Path;

/** Writes the table of the measured points into a document: {@code dev/bench report}. */
public final class Report {
  private Report() {}

  /**
   * Replaces the table of a document.
   *
   * @param arguments the file with the points; the document; and what was measured on
   * @throws IOException if a file cannot be read or written
   */
  public static void main(String[] arguments) throws IOException {
    new Summary(Point.read(Path.of(arguments[0]))).replaceIn(Path.of(arguments[1]), arguments[2]);
  }
}
