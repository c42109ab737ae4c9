"""The page on coverage by the clock, docs/fuzz_seconds.md, and its figure, from the rows."""

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.figure import Figure

from studies.fuzz.claims import ALPHA
from studies.fuzz.compare import Versus
from studies.fuzz.jobs import Row
from studies.fuzz.seconds import OURS, against_ours, by_fuzzer
from studies.fuzz.speed import medians
from studies.results import markdown
from studies.template import fill

Key = tuple[str, str]  # target, fuzzer

TARGETS = {"libpng": "libpng", "openjpeg": "OpenJPEG", "mpeg2dec": "mpeg2dec"}
FUZZERS = {OURS: "Aloex", "libfuzzer": "libFuzzer", "aflpp": "AFL++"}
# Okabe and Ito's colours; they differ in line and marker as well.
STYLES = {
    OURS: {"color": "#0072B2", "ls": "-", "marker": "o"},
    "libfuzzer": {"color": "#D55E00", "ls": "--", "marker": "s"},
    "aflpp": {"color": "#404040", "ls": ":", "marker": "^"},
}
TICKS = (1, 4, 15, 60)
EARLY = 7.5  # seconds: a moment of the curves that the text looks at


def render(rows: list[Row], left_out: list[Row], speed: list[Row], seconds: float) -> str:
    """The page.

    Args:
        rows: those of ours and the other fuzzers.
        left_out: those of ours without one of the guides each.
        speed: those of `studies.fuzz.speed`.
        seconds: which rows.
    """
    found = by_fuzzer(rows, seconds)
    lacking = by_fuzzer(left_out, seconds)
    edges = edges_of(found)
    tests = against_ours(edges)
    return fill(
        Path(__file__).with_name("seconds.md.j2"),
        **{"seconds": f"{seconds:g}", "early": f"{EARLY:g}"},
        num_tests=len(tests),
        table=table(found, tests),
        said=[f"**{TARGETS[target]}:** Aloex is {verdict(target, tests)}." for target in TARGETS],
        span=named(found, lambda some: span(row["edges"] for row in some)),
        at_early=named(found, lambda some: f"{np.median(edges_at(some, EARLY)):,.0f}"),
        times=times_table(speed, found),
        speed_trials=len({row["trial"] for row in speed}),
        left_out=left_out_table(lacking),
        fewest=min(map(len, lacking.values())),
        most=max(map(len, lacking.values())),
        commands="\n".join(sorted({row["command"] for row in [*rows, *left_out, *speed]})),
    )


def edges_of(found: dict[Key, list[Row]]) -> dict[Key, list[int]]:
    """Edges at the end, of each trial."""
    return {key: [row["edges"] for row in some] for key, some in found.items()}


def edges_at(some: list[Row], moment: float) -> list[int]:
    """Edges at a moment of the curves, of each trial."""
    return [edges for row in some for at, edges, _ in row["curve"] if at == moment]


def rate(some: list[Row]) -> float:
    """Median inputs per second."""
    return median(row["executions"] / row["seconds"] for row in some)


def span(values: Iterable[int]) -> str:
    """The least and the largest."""
    ordered = sorted(values)
    return f"{ordered[0]:,} to {ordered[-1]:,}"


def named(found: dict[Key, list[Row]], text: Callable[[list[Row]], str]) -> dict[str, str]:
    """A text of each line as the page asks for it: "libpng aloex"."""
    return {" ".join(key): text(some) for key, some in found.items()}


def verdict(target: str, tests: dict[Key, Versus]) -> str:
    """Ours on a target: ahead of a fuzzer, behind it, or not told apart from it."""
    said: dict[str, list[str]] = {}
    for fuzzer, name in FUZZERS.items():
        if test := tests.get((target, fuzzer)):
            ahead = "ahead of" if test.a12 > 0.5 else "behind"
            how = ahead if test.p_value < ALPHA else "not told apart from"
            said.setdefault(how, []).append(f"{name} (p {test.p_value:.2g})")
    return "; ".join(f"{how} {' and '.join(names)}" for how, names in said.items())


def table(found: dict[Key, list[Row]], tests: dict[Key, Versus]) -> str:
    """A line for each target and fuzzer."""
    lines = []
    for target in TARGETS:
        for fuzzer in FUZZERS:
            some, test = found[target, fuzzer], tests.get((target, fuzzer))
            edges = [row["edges"] for row in some]
            cells = [f"{median(edges):,g}", span(edges), len(some), f"{rate(some):,.0f}"]
            cells += [f"{test.p_value:.2g}", f"{test.a12:.2f}"] if test else ["", ""]
            lines.append([TARGETS[target], FUZZERS[fuzzer], *cells])
    return markdown(["", "", "median", "range", "trials", "inputs/s", "p", "A12"], lines)


def times_table(speed: list[Row], found: dict[Key, list[Row]]) -> str:
    """Where the time goes, a line for each target."""
    of = lambda case, key: medians(speed, case, key)
    outside, two = of("outside", "outside"), of("workers", "ratio")
    costly, time_of_costly = of("outside", "costly"), of("outside", "time_of_costly")
    lines = []
    for target in TARGETS:
        beside = rate(found[target, OURS]) / rate(found[target, "libfuzzer"])
        share = f"{costly[target]:.1%} take {time_of_costly[target]:.0%}"
        cells = [f"{outside[target]:.0%}", share, f"{two[target]:.2f}", f"{beside:.2f}"]
        lines.append([TARGETS[target], *cells])
    return markdown(["", "outside", "costly", "two workers", "inputs/s"], lines)


def left_out_table(found: dict[Key, list[Row]]) -> str:
    """The median and all trials of each variant, by target; the first lacks nothing."""
    lines = []
    for fuzzer in sorted({fuzzer for _, fuzzer in found}):
        without = fuzzer.partition("--leave-out ")[2]
        cells = [edges_of(found).get((target, fuzzer), []) for target in TARGETS]
        shown = [f"{median(c):,g} ({' '.join(map(str, sorted(c)))})" if c else "–" for c in cells]
        lines.append([f"`{without}`" if without else "nothing", *shown])
    return markdown(["left out", *TARGETS.values()], lines)


def figure(rows: list[Row], seconds: float) -> Figure:
    """Edges over seconds, a panel for each target."""
    found = by_fuzzer(rows, seconds)
    picture = Figure(figsize=(8.4, 3.5), layout="constrained")
    panels = picture.subplots(1, len(TARGETS))
    for ax, (target, title) in zip(panels, TARGETS.items(), strict=True):
        for fuzzer, name in FUZZERS.items():
            some, style = found[target, fuzzer], STYLES[fuzzer]
            moments = [at for at, *_ in some[0]["curve"]]
            edges = [edges_at(some, moment) for moment in moments]
            low, middle, high = np.transpose([np.quantile(e, (0.25, 0.5, 0.75)) for e in edges])
            ax.plot(moments, middle, label=name, ms=4, lw=1.6, **style)
            ax.fill_between(moments, low, high, color=style["color"], alpha=0.18, lw=0)
        ax.set(title=title, xscale="log", xlabel="seconds", xticks=TICKS, xticklabels=TICKS)
        ax.minorticks_off()
        ax.grid(axis="y", color="#dddddd", lw=0.6)
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("edges, with those of the seeds")
    names = panels[0].get_legend_handles_labels()
    picture.legend(*names, loc="outside upper center", ncols=3, frameon=False)
    return picture
