package org.rdma4j.docs;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Java source as HTML, with its keywords, strings and comments marked. */
final class JavaCode {
  private static final Pattern TOKEN =
      Pattern.compile(
          """
          (?<comment>//[^\\n]*|/\\*(?s:.*?)\\*/)\
          |(?<string>\"""(?s:.*?)\"""|"(?:\\\\.|[^"\\\\\\n])*"|'(?:\\\\.|[^'\\\\])+')\
          |(?<keyword>\\b(?:abstract|boolean|break|byte|case|catch|char|class|continue|default|do\
          |double|else|enum|extends|final|finally|float|for|if|implements|import|instanceof|int\
          |interface|long|module|new|null|package|private|protected|public|record|requires|return\
          |short|static|super|switch|this|throw|throws|true|false|try|var|void|volatile|while)\\b)\
          |(?<number>\\b\\d[\\w.]*)\
          |(?<annotation>@\\w+)\
          """);

  private JavaCode() {}

  static String html(String code) {
    StringBuilder html = new StringBuilder();
    Matcher token = TOKEN.matcher(code);
    int end = 0;
    while (token.find()) {
      html.append(escape(code.substring(end, token.start())));
      html.append("<span class=\"").append(kind(token)).append("\">");
      html.append(escape(token.group())).append("</span>");
      end = token.end();
    }
    return html.append(escape(code.substring(end))).toString();
  }

  private static String kind(Matcher token) {
    for (String kind : new String[] {"comment", "string", "keyword", "number"}) {
      if (token.group(kind) != null) {
        return kind;
      }
    }
    return "annotation";
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
