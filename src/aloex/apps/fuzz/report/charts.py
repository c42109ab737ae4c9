"""The pictures of a campaign as SVG inside its page: no plotting library is needed for them."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from aloex.apps.fuzz.campaign.record import Record

BLUE, GREY, ORANGE = "#2a6fbb", "#6b6b6b", "#e8871e"
WIDTH, HEIGHT = 440, 260  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 30, 42  # its margins
NUM_BINS = 60  # of the offsets
Number = int | float


class Axis(NamedTuple):
    """Where a value lies on an axis, and the ticks that are written at it."""

    place: Callable[[Number], Number]
    ticks: Sequence[tuple[Number, str]]


def coverage_chart(record: Record) -> str:
    """Edges over inputs and over time."""
    points = [*record.curve, record.now]
    edges, of_seeds = [point.edges for point in points], record.edges_after(0)
    y = y_axis(of_seeds - 0.05 * (max(edges) - of_seeds), max(edges))  # keeps the dashes in sight
    panels = []
    for name in ("inputs", "seconds"):
        values = [getattr(point, name) for point in points]
        many = name == "inputs" and record.num_run > 1
        x = log_axis(record.num_run) if many else x_axis(max(values))
        dashes = f'<path d="M{LEFT} {y.place(of_seeds):.1f}H{WIDTH - RIGHT}" stroke="{GREY}" '
        marks = dashes + 'stroke-dasharray="5 4"/>' + steps(x, y, values, edges)
        panels.append(panel(f"edges over {name}", name, "edges", x, y, marks))
    return beside(panels, "edges over inputs and time")


def found_chart(record: Record) -> str:
    """How many edits mutants with new coverage have, and where."""
    mutants = [found["edits"] for found in record.found if found["number"] >= 0]
    counts = sorted(Counter(map(len, mutants)).items())
    left = bars([str(number) for number, _ in counts], [count for _, count in counts], BLUE)
    heights, width = offset_histogram(mutants)
    x = x_axis(width * NUM_BINS)
    right = bars([], heights, ORANGE, gap=0.0)._replace(x=x)
    return beside(
        [
            panel("number of edits", "edits", "mutants", *left),
            panel("where their edits were", "offset in the input", "mutants", *right),
        ],
        "number and offsets of edits",
    )


def offset_histogram(mutants: Sequence[Sequence[Sequence[int]]]) -> tuple[list[float], float]:
    """Mutants by the offset of their edits, each shared between its edits; the width of a bin."""
    last = max((offset for edits in mutants for offset, _ in edits), default=0)
    width = (last + 1) / NUM_BINS
    heights = [0.0] * NUM_BINS
    for edits in mutants:
        for offset, _ in edits:
            heights[int(offset / width)] += 1 / len(edits)
    return heights, width


class Bars(NamedTuple):
    """A panel's contents."""

    x: Axis
    y: Axis
    marks: str


def bars(names: Sequence[str], heights: Sequence[Number], color: str, gap: float = 0.4) -> Bars:
    """A bar for each height, with its name below."""
    y = y_axis(0, max(heights, default=1))
    slot = (WIDTH - LEFT - RIGHT) / max(len(heights), 1)
    place = lambda i: LEFT + (i + 0.5) * slot
    marks = "".join(
        f'<rect x="{place(i) - slot * (1 - gap) / 2:.1f}" y="{y.place(height):.1f}" '
        f'width="{slot * (1 - gap):.1f}" height="{y.place(0) - y.place(height):.1f}" '
        f'fill="{color}"/>'
        for i, height in enumerate(heights)
    )
    return Bars(Axis(place, list(enumerate(names))), y, marks)


def steps(x: Axis, y: Axis, values: Sequence[Number], heights: Sequence[Number]) -> str:
    """A curve that stays as it is until the next point."""
    path = "".join(
        f"{'H' if i else 'M'}{x.place(value):.1f}{' ' if not i else 'V'}{y.place(height):.1f}"
        for i, (value, height) in enumerate(zip(values, heights, strict=True))
    )
    return f'<path d="{path}" fill="none" stroke="{BLUE}" stroke-width="1.6"/>'


def x_axis(high: Number) -> Axis:
    """From 0 to `high`."""
    scale = (WIDTH - LEFT - RIGHT) / (high or 1)
    return Axis(lambda value: LEFT + value * scale, round_ticks(0, high))


def log_axis(high: Number) -> Axis:
    """From 1 to `high`, a tick for each power of ten; what is below 1 lies at 1."""
    scale = (WIDTH - LEFT - RIGHT) / math.log(high)
    ticks = [(10**i, f"{10**i:,}") for i in range(int(math.log10(high)) + 1)]
    return Axis(lambda value: LEFT + math.log(max(value, 1)) * scale, ticks)


def y_axis(low: Number, high: Number) -> Axis:
    """From `low` at the bottom to a little above `high`."""
    scale = (HEIGHT - TOP - BOTTOM) / (1.05 * (high - low) or 1)
    return Axis(lambda value: HEIGHT - BOTTOM - (value - low) * scale, round_ticks(low, high))


def round_ticks(low: Number, high: Number) -> list[tuple[Number, str]]:
    """Three to seven round numbers from `low` to `high`."""
    step = 10 ** math.floor(math.log10((high - low) or 1))
    step *= next(share for share in (0.2, 0.5, 1, 2) if (high - low) / (step * share) <= 6.0)
    numbers = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [(i * step, f"{round(i * step, 9):,g}") for i in numbers]


def panel(title: str, x_label: str, y_label: str, x: Axis, y: Axis, marks: str) -> str:
    """One chart: its marks, axes and words."""
    bottom, middle = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
    words = [
        (f'x="{(LEFT + WIDTH) / 2}" y="18" text-anchor="middle" font-size="14"', title),
        (f'x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle"', x_label),
        (f'transform="translate(14 {middle}) rotate(-90)" text-anchor="middle"', y_label),
    ]
    for value, word in x.ticks:
        words.append((f'x="{x.place(value):.1f}" y="{bottom + 16}" text-anchor="middle"', word))
    for value, word in y.ticks:
        words.append((f'x="{LEFT - 6}" y="{y.place(value) + 4:.1f}" text-anchor="end"', word))
    frame = f'<path d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}" fill="none" stroke="#222"/>'
    return marks + frame + "".join(f"<text {where}>{word}</text>" for where, word in words)


def beside(panels: Sequence[str], label: str) -> str:
    """Panels in a row, as one picture."""
    placed = (f'<g transform="translate({i * WIDTH} 0)">{p}</g>' for i, p in enumerate(panels))
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH * len(panels)} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12">{"".join(placed)}</svg>'
    )
