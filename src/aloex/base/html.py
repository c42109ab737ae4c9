"""The frame of the pages that the applications write: one file each, with nothing to load."""

import html

CSS = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
img { max-width: 100%; } h1, h2 { line-height: 1.2; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
td, th { padding: .3rem .8rem; text-align: left; vertical-align: top;
       border-bottom: 1px solid #ddd; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
"""


def html_page(title: str, body: str, css: str = "") -> str:
    """A whole page; `css` are rules of its own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>\n{CSS}{css}</style></head><body>\n"
        f"{body}</body></html>\n"
    )
