"""A hook of ``make docs``: links to files of the repository, which the site does not have, become plain text there."""

import re

OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:src|tests|benchmarks|scripts|CONTRIBUTING|README|NOTICE)[^)]*\)")


def on_page_markdown(markdown: str, **kwargs) -> str:
    """The page without links that lead out of docs/."""
    return OUTSIDE.sub(r"\1", markdown)
