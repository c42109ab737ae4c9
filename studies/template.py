"""Pages: Markdown templates, filled with values from the rows by jinja2.

A template lies beside its study. All that it names must be given. A line that holds nothing but a
statement, such as `{% if rows %}`, leaves no empty line. `{% filter paragraphs %}` wraps text whose
lines change their length with the values.
"""

import textwrap
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

ENVIRONMENT = Environment(
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # Markdown, not HTML
)
WIDTH = 100


def paragraphs(text: str) -> str:
    """Each paragraph of the text, in lines that are as long as the others of a page."""
    wrap = lambda part: textwrap.fill(
        " ".join(part.split()), WIDTH, break_on_hyphens=False, break_long_words=False
    )
    return "\n\n".join(wrap(part) for part in text.strip().split("\n\n")) + "\n"


ENVIRONMENT.filters["paragraphs"] = paragraphs


def fill(template: Path, **values: Any) -> str:
    """The text of a template, with its values."""
    return ENVIRONMENT.from_string(template.read_text()).render(**values)
