"""Pages: values are escaped, templates are checked, everything is in one file."""

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from aloex.base.html import html_page, png_source, render


def test_values_are_escaped_unless_they_are_markup():
    made = render("<td>{{ a }}</td><td>{{ b }}</td>", a="<script>", b=Markup("<b>1</b>"))
    assert made == "<td>&lt;script&gt;</td><td><b>1</b></td>"
    assert render("<p>{{ inner }}</p>", inner=made) == f"<p>{made}</p>"  # not escaped twice


def test_a_value_that_is_not_given_is_an_error():
    with pytest.raises(UndefinedError, match="summary"):
        render("<p>{{ summary }}</p>")


def test_a_page_escapes_its_title_and_a_body_that_is_no_markup():
    page = html_page("a & b", render("<h1>{{ x }}</h1>\n", x=1), "p { color: red; }\n")
    assert "<title>a &amp; b</title>" in page and "<h1>1</h1>\n</body>" in page
    assert "p { color: red; }" in page and page.startswith("<!doctype html>")
    assert "&lt;b&gt;" in html_page("t", "<b>")


def test_a_picture_is_inside_the_page():
    assert render('<img src="{{ x }}">', x=png_source(b"\x89PNG")) == (
        '<img src="data:image/png;base64,iVBORw==">'
    )
