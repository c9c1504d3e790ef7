"""Links of the pages as they are on GitHub, made those of the site."""

import os
import re

from mkdocs.structure.nav import Link

REPOSITORY = "https://github.com/rdma4j/rdma4j"  # repo_url would let each page ask GitHub for its stars
LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)")


def on_nav(nav, **_):
    nav.items += [Link("Javadoc", "api/index.html"), Link("GitHub", REPOSITORY)]
    return nav


def on_page_markdown(markdown, page, files, **_):
    """Sources that are no pages are read in the repository."""
    folder = os.path.dirname(page.file.src_path)

    def linked(match):
        path = os.path.normpath(os.path.join(folder, match.group(1)))
        if files.get_file_from_path(path):
            return match.group(1)
        program = path.removesuffix(".java") + ".md"
        if path.endswith(".java") and files.get_file_from_path(program):
            return match.group(1).removesuffix(".java") + ".md"
        if not os.path.exists(path):
            raise ValueError(f"{page.file.src_path} links to {path}, which is missing")
        return f"{REPOSITORY}/blob/main/{path}"

    return LINK.sub(linked, markdown)
