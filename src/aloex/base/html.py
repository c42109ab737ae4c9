"""The pages that applications write: one HTML file each, with nothing to load.

Templates are Jinja's. Every value is escaped unless it is `Markup`; a value that a template names
and nobody gives is an error.

>>> render("<p>{{ name }}: {{ '{:,}'.format(count) }}</p>", name="a < b", count=1000)
Markup('<p>a &lt; b: 1,000</p>')
"""

import base64
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

CSS = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
img { max-width: 100%; } h1, h2 { line-height: 1.2; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
td, th { padding: .3rem .8rem; text-align: left; vertical-align: top;
       border-bottom: 1px solid #ddd; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
"""
PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{% if refresh %}
<meta http-equiv="refresh" content="{{ refresh }}">
{% endif %}
<title>{{ title }}</title><style>
{{ css }}</style></head><body>
{{ body }}</body></html>
"""

ENVIRONMENT = Environment(
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def render(template: str, **values: Any) -> Markup:
    """The HTML that a template's text makes of the values."""
    return Markup(ENVIRONMENT.from_string(template).render(**values))


def html_page(title: str, body: str, css: str = "", *, refresh: int = 0) -> str:
    """A whole page.

    Args:
        title: of the page.
        body: what `render` made.
        css: further rules.
        refresh: seconds after which a browser loads the page again; 0: never.
    """
    return str(render(PAGE, title=title, css=Markup(CSS + css), body=body, refresh=refresh))


def png_source(png: bytes) -> str:
    """A picture inside the page: what to write into the `src` of an `<img>`."""
    return "data:image/png;base64," + base64.b64encode(png).decode()
