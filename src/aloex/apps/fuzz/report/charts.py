"""A small chart as SVG inside a page: a curve in steps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from aloex.base.html import render

WIDTH, HEIGHT = 540, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 30, 30, 44  # margins
NUM_TICKS = 5

Number = int | float

SVG = """\
<svg class="chart" role="img" viewBox="0 0 {{ width }} {{ height }}" aria-label="{{ title }}">
<text class="title" x="{{ middle }}" y="18">{{ title }}</text>
{% for x, label in x_ticks %}
<line class="axis" x1="{{ x }}" x2="{{ x }}" y1="{{ bottom }}" y2="{{ bottom + 4 }}"/>
<text class="x" x="{{ x }}" y="{{ bottom + 17 }}">{{ label }}</text>
{% endfor %}
{% for y, label in y_ticks %}
<line class="axis" x1="{{ left - 4 }}" x2="{{ left }}" y1="{{ y }}" y2="{{ y }}"/>
<text class="y" x="{{ left - 7 }}" y="{{ y + 4 }}">{{ label }}</text>
{% endfor %}
<path class="axis" d="M{{ left }} {{ top }}V{{ bottom }}H{{ right }}"/>
<text class="x" x="{{ middle }}" y="{{ bottom + 36 }}">{{ x_label }}</text>
{{ marks }}</svg>
"""
CSS = """\
svg.chart { width: 100%; } .chart text { font-size: 12px; fill: var(--ink, #222); }
.chart .title, .chart .x { text-anchor: middle; } .chart .y { text-anchor: end; }
.chart .axis { stroke: var(--soft, #555); fill: none; }
.chart .dashed { stroke: var(--soft, #6b6b6b); stroke-dasharray: 5 4; }
.chart .curve { stroke: var(--accent, #2a6fbb); stroke-width: 2; fill: none; }
"""


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to pixels from `start` to `stop`; with is_log, by the logarithm."""

    low: Number
    high: Number
    start: Number
    stop: Number
    is_log: bool = False

    def __call__(self, value: Number) -> Number:
        low, high, value = map(self._position, (self.low, self.high, value))
        part = min(max((value - low) / ((high - low) or 1), 0), 1)
        return round(self.start + part * (self.stop - self.start), 1)

    def _position(self, value: Number) -> Number:
        return math.log10(max(value, self.low)) if self.is_log else value

    @cached_property
    def ticks(self) -> list[tuple[Number, str]]:
        """Pixels and labels: powers of ten, or round numbers."""
        return [(self(value), f"{value:,.6g}") for value in tick_values(self)]


def tick_values(scale: Scale) -> list[Number]:
    """Round numbers from `low` to `high`: steps of 1, 2 or 5 times a power of ten."""
    if scale.is_log:
        powers = range(math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high)) + 1)
        return [10.0**power for power in powers]
    rough = (scale.high - scale.low) / NUM_TICKS or 1
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * 0.999)
    first, last = math.ceil(scale.low / step), math.floor(scale.high / step + 1e-9)
    return [step * k for k in range(first, last + 1)]


def curve_chart(
    title: str,
    x_label: str,
    points: Sequence[tuple[Number, Number]],
    *,
    dashed: Number,
    is_log: bool = False,
) -> Markup:
    """A curve that changes in steps, and a dashed horizontal line."""
    left = 1.0 if is_log else 0.0
    x = Scale(left, max([point[0] for point in points] + [left]), LEFT, WIDTH - RIGHT, is_log)
    top = max([point[1] for point in points] + [dashed])
    y = _y_scale(dashed - 0.05 * (top - dashed), top)  # from a little below the dashed line
    corners, before = [], None
    for at, value in thinned(points, x):
        if before is not None:
            corners.append((x(at), y(before)))
        corners.append((x(at), y(value)))
        before = value
    marks = render(
        '<line class="dashed" x1="{{ left }}" x2="{{ right }}" y1="{{ y }}" y2="{{ y }}"/>\n'
        '<polyline class="curve" points="{{ corners }}"/>\n',
        left=LEFT,
        right=WIDTH - RIGHT,
        y=y(dashed),
        corners=" ".join(f"{a},{b}" for a, b in corners),
    )
    return _chart(title, x_label, x.ticks, y, marks)


def thinned(points: Sequence[tuple[Number, Number]], x: Scale) -> list[tuple[Number, Number]]:
    """The first point, and the last at each pixel: a campaign has thousands."""
    last = {round(x(point[0])): point for point in points}
    return [*points[:1], *(point for point in last.values() if point != points[0])]


def _y_scale(low: Number, high: Number) -> Scale:
    return Scale(low, high if high > low else low + 1, HEIGHT - BOTTOM, TOP)


def _chart(
    title: str, x_label: str, x_ticks: list[tuple[Number, str]], y: Scale, marks: Markup
) -> Markup:
    return render(
        SVG,
        title=title,
        x_label=x_label,
        x_ticks=x_ticks,
        y_ticks=y.ticks,
        marks=marks,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        middle=(LEFT + WIDTH - RIGHT) / 2,
    )
