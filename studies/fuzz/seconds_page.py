"""The page on coverage by the clock, docs/fuzz_seconds.md, and its figure, from the rows."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

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
Case = tuple[str, float]  # target, seconds
Tests = dict[tuple[Case, str], Versus]  # of ours against a fuzzer
AnyCase = TypeVar("AnyCase")

TARGETS = {"libpng": "libpng", "openjpeg": "OpenJPEG", "mpeg2dec": "mpeg2dec"}
FUZZERS = {OURS: "Aloex", "libfuzzer": "libFuzzer", "aflpp": "AFL++"}
WHOLE = "aloex:--sanitizer none"  # of which the variants lack something, or have more
# Okabe and Ito's colours; they differ in line and marker as well.
STYLES = {
    OURS: {"color": "#0072B2", "ls": "-", "marker": "o"},
    "libfuzzer": {"color": "#D55E00", "ls": "--", "marker": "s"},
    "aflpp": {"color": "#404040", "ls": ":", "marker": "^"},
}
TICKS = (1, 4, 15, 60, 300)
MOST = 4  # functions that are named
EARLY = 7.5  # seconds: a moment of the curves that the text looks at


def render(rows: list[Row], left_out: list[Row], speed: list[Row], apart: list[Row]) -> str:
    """The page.

    Args:
        rows: those of ours and the other fuzzers, after one or more durations.
        left_out: those of variants of ours, which lack a guide each or have a model.
        speed: those of `studies.fuzz.speed`.
        apart: those of `studies.fuzz.anatomy`.
    """
    found = {seconds: by_fuzzer(rows, seconds) for seconds in durations(rows)}
    tests = tests_of(found)
    shortest = min(found)
    variants = by_fuzzer(left_out, shortest)
    worth = against_ours(edges_of(variants), WHOLE)
    return fill(
        Path(__file__).with_name("seconds.md.j2"),
        **{"times": in_words(found), "shortest": f"{shortest:g}", "early": f"{EARLY:g}"},
        num_tests=len(tests),
        table=table(found, tests),
        said=said(found, tests),
        span=named(found[shortest], lambda some: span(row["edges"] for row in some)),
        at_early=named(found[shortest], lambda some: f"{np.median(edges_at(some, EARLY)):,.0f}"),
        times_table=times_table(speed, found[shortest]),
        speed_trials=len({row["trial"] for row in speed}),
        left_out=left_out_table(variants, worth),
        worth=[*worth_in_words(worth)],
        num_variants=len(worth),
        fewest=min(map(len, variants.values())),
        most=max(map(len, variants.values())),
        apart=apart_table(apart),
        behind=[*apart_in_words(apart)],
        apart_seconds=f"{apart[0]['seconds']:g}",
        commands="\n".join(sorted({row["command"] for row in [*rows, *left_out, *speed, *apart]})),
    )


def durations(rows: list[Row]) -> list[float]:
    """Seconds of the jobs."""
    return sorted({row["seconds"] for row in rows})


def in_words(found: Iterable[float]) -> str:
    """Durations: 60 seconds, or 300."""
    first, *others = (f"{seconds:g}" for seconds in found)
    return ", ".join([f"{first} seconds", *(f"or {other}" for other in others)])


def tests_of(found: dict[float, dict[Key, list[Row]]]) -> Tests:
    """Ours against each other fuzzer, on each target after each time: one family."""
    return against_ours(
        {
            ((target, seconds), fuzzer): [row["edges"] for row in some]
            for seconds, lines in found.items()
            for (target, fuzzer), some in lines.items()
        }
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


def said(found: Iterable[float], tests: Tests) -> list[str]:
    """A line for each target: how ours stands after each time."""
    lines = []
    for target, name in TARGETS.items():
        parts = [f"after {s:g} s Aloex is {verdict((target, s), tests)}" for s in found]
        lines.append(f"**{name}:** {'; '.join(parts)}.")
    return lines


def verdict(case: AnyCase, tests: Mapping[tuple[AnyCase, str], Versus]) -> str:
    """Ours in a case: ahead of a fuzzer, behind it, or not told apart from it."""
    groups: dict[str, list[str]] = {}
    for fuzzer, name in FUZZERS.items():
        if test := tests.get((case, fuzzer)):
            ahead = "ahead of" if test.a12 > 0.5 else "behind"
            how = ahead if test.p_value < ALPHA else "not told apart from"
            groups.setdefault(how, []).append(f"{name} (p {test.p_value:.2g})")
    return ", ".join(f"{how} {' and '.join(names)}" for how, names in groups.items())


def table(found: dict[float, dict[Key, list[Row]]], tests: Tests) -> str:
    """A line for each target, time and fuzzer."""
    lines = []
    for target in TARGETS:
        for seconds, of_time in found.items():
            for fuzzer in FUZZERS:
                some, test = of_time[target, fuzzer], tests.get(((target, seconds), fuzzer))
                edges = [row["edges"] for row in some]
                cells = [f"{median(edges):,g}", span(edges), len(some), f"{rate(some):,.0f}"]
                cells += [f"{test.p_value:.2g}", f"{test.a12:.2f}"] if test else ["", ""]
                lines.append([f"{TARGETS[target]}, {seconds:g} s", FUZZERS[fuzzer], *cells])
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


def name_of(variant: str) -> str:
    """What a variant of ours is called."""
    if "--model" in variant:
        return "with a model"
    guide = variant.partition("--leave-out ")[2]
    return f"without `{guide}`" if guide else "as it is"


def left_out_table(found: dict[Key, list[Row]], worth: dict[Key, Versus]) -> str:
    """The median of each variant by target, and p beside ours as it is, which comes first."""
    lines = []
    for variant in sorted({fuzzer for _, fuzzer in found}, key=lambda f: (f != WHOLE, f)):
        cells = list[str]()
        for target in TARGETS:
            edges, test = edges_of(found).get((target, variant)), worth.get((target, variant))
            p = f" (p {test.p_value:.2g})" if test else ""
            cells.append(f"{median(edges):,g}{p}" if edges else "–")
        lines.append([name_of(variant), *cells])
    return markdown(["", *TARGETS.values()], lines)


def worth_in_words(worth: dict[Key, Versus]) -> Iterable[str]:
    """A sentence for each variant that is told apart from ours as it is."""
    for target, title in TARGETS.items():
        for (of, variant), test in worth.items():
            if of == target and test.p_value < ALPHA:
                how = "fewer" if test.a12 > 0.5 else "more"
                words = f"{name_of(variant)} Aloex covers {how} edges (p {test.p_value:.2g})"
                yield f"{title}: {words}."


def apart_table(rows: list[Row]) -> str:
    """How many edges and functions one of Aloex and libFuzzer covers and the other does not."""
    lines = list[list[str]]()
    for row in ordered(rows):
        only = lambda one, other, row=row: sum(f[one] > 0 == f[other] for f in row["functions"])
        edges = [f"{row[name]:,}" for name in ("both", "ours", "theirs")]
        functions = [str(only("ours", "theirs")), str(only("theirs", "ours"))]
        lines.append([TARGETS[row["target"]], *edges, *functions])
    head = ["", "edges of both", "only Aloex", "only libFuzzer"]
    return markdown([*head, "functions only Aloex", "only libFuzzer"], lines)


def apart_in_words(rows: list[Row]) -> Iterable[str]:
    """Where libFuzzer covers most that Aloex does not: a line for each target."""
    for row in ordered(rows):
        behind = [f for f in row["functions"] if f["theirs"] > f["ours"]]
        behind.sort(key=lambda f: (f["ours"] - f["theirs"], f["name"]))
        told = [f"`{f['name']}` {f['theirs']} against {f['ours']}" for f in behind[:MOST]]
        more = f", and {len(behind) - MOST} more" if len(behind) > MOST else ""
        yield f"{TARGETS[row['target']]}: {', '.join(told) or 'none'}{more}."


def ordered(rows: list[Row]) -> list[Row]:
    """By target, as in all tables."""
    return sorted(rows, key=lambda row: [*TARGETS].index(row["target"]))


def figure(rows: list[Row]) -> Figure:
    """Edges over seconds: a panel for each target, a line of panels for each duration."""
    times = durations(rows)
    picture = Figure(figsize=(8.4, 0.6 + 2.9 * len(times)), layout="constrained")
    panels = picture.subplots(len(times), len(TARGETS), squeeze=False)
    for line, seconds in zip(panels, times, strict=True):
        for ax, target in zip(line, TARGETS, strict=True):
            draw(ax, by_fuzzer(rows, seconds), target, seconds)
        line[0].set_ylabel(f"edges, {seconds:g} s")
    names = panels[0][0].get_legend_handles_labels()
    picture.legend(*names, loc="outside upper center", ncols=3, frameon=False)
    return picture


def draw(ax: Any, found: dict[Key, list[Row]], target: str, seconds: float) -> None:
    """The curves of all fuzzers on a target: the median, and the middle half."""
    for fuzzer, name in FUZZERS.items():
        some, style = found[target, fuzzer], STYLES[fuzzer]
        moments = [at for at, *_ in some[0]["curve"]]
        edges = [edges_at(some, moment) for moment in moments]
        low, middle, high = np.transpose([np.quantile(e, (0.25, 0.5, 0.75)) for e in edges])
        ax.plot(moments, middle, label=name, ms=4, lw=1.6, **style)
        ax.fill_between(moments, low, high, color=style["color"], alpha=0.18, lw=0)
    ticks = [tick for tick in TICKS if tick <= seconds]
    ax.set(title=TARGETS[target], xscale="log", xlabel="seconds", xticks=ticks, xticklabels=ticks)
    ax.minorticks_off()
    ax.grid(axis="y", color="#dddddd", lw=0.6)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.spines[["top", "right"]].set_visible(False)
