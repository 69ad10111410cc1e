"""Docstrings as Markdown for ``make docs``: roles become code; examples and tables of text stay as they are typed."""

import re

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|data):`~?([^`]+)`")
RULE = re.compile(r"^ *=+(?: +=+)+ *$", re.MULTILINE)
GROUP = re.compile(r"^(\w+)((?:, \w+)+)\n((?: +.*\n?)+)", re.MULTILINE)  # "a, b, c" and what is said of them
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)  # up to an empty line


class Markdown(griffe.Extension):
    """Rewrites every docstring before it is shown."""

    def on_instance(self, *, obj: griffe.Object, **kwargs) -> None:
        """Rewrite the docstring of one object, if it has one."""
        if not obj.is_alias and obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """A docstring with code spans for roles and fences around examples and tables."""
    text = GROUP.sub(_apart, ROLE.sub(r"`\1`", text))
    rules = [match.span() for match in RULE.finditer(text)]
    for (start, _), _, (_, stop) in reversed([*zip(rules[::3], rules[1::3], rules[2::3], strict=False)]):
        text = f"{text[:start]}```text\n{text[start:stop]}\n```{text[stop:]}"
    if "Examples\n---" in text:  # a section that is shown as code anyway
        return text
    return EXAMPLE.sub(r"```pycon\n\g<0>\n```", text)


def _apart(match: re.Match[str]) -> str:
    """Parameters that are explained together, one by one: each then has its own type."""
    first, others, words = match[1], match[2].removeprefix(", ").split(", "), match[3]
    together = re.match(r" +", words)[0] + f"With {', '.join(f'`{name}`' for name in others)}. " + words.lstrip()
    return f"{first}\n{together}" + "".join(f"{name}\n    See `{first}`.\n" for name in others)
