"""The page on planted bugs, docs/fuzz_planted.md, and its figure, from the rows of `bugs`."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from aloex.base.errors import require
from studies.fuzz import old_library
from studies.fuzz.bugs import STEP, faults_of_trials, hits, when
from studies.fuzz.compare import Versus
from studies.fuzz.faults import OLD, PLANTED, Faults
from studies.fuzz.jobs import Row
from studies.fuzz.seconds import OURS, against_ours, by_fuzzer
from studies.fuzz.seconds_page import FUZZERS, STYLES, TICKS, Key, span, verdict
from studies.results import markdown
from studies.template import fill

Hits = Mapping[str, Mapping[str, list[float]]]  # seconds in each trial, by fault and fuzzer


class Part(NamedTuple):
    """What the page says of the planted faults, or of the old library."""

    fuzzers: str  # table
    verdict: str
    faults: str  # table
    single: list[str]  # Aloex beside each other fuzzer, by fault
    never: str  # faults that nobody hits
    others: list[str]  # failures that are none of the faults


def render(rows: Iterable[Row], seconds: float) -> str:
    """The page.

    Args:
        rows: those of ours and the other fuzzers; those of the old library may be missing.
        seconds: which rows.
    """
    found = shown(rows, seconds)
    used = [row for some in found.values() for row in some]
    sets = sets_of(found)
    totals = {(name, f): totals_of(used, f, seconds, sets[name]) for name in sets for f in FUZZERS}
    tests = against_ours(totals)
    parts = {name: part_of(name, faults, found, totals, tests) for name, faults in sets.items()}
    ours = {target: some for (target, fuzzer), some in found.items() if fuzzer == OURS}
    trials = [row for some in ours.values() for row in some]
    return fill(
        Path(__file__).with_name("bugs.md.j2"),
        **{"seconds": f"{seconds:g}", "step": f"{STEP:g}", "num_tests": len(tests)},
        **{"planted": parts["planted"], "old": parts.get("old")},
        num_planted=sum(map(len, PLANTED.values())),
        about_old=old_library.Source.of("cares").about,
        told_apart=told_apart_table(sets, ours),
        num_trials=len(trials),
        num_split=sum(row["split"] > 0 for row in trials),
        num_merged=sum(row["merged"] > 0 for row in trials),
        started="\n".join(line for fuzzer in FUZZERS for line in started(used, fuzzer)),
        versions=versions(used),
        machines="; ".join(sorted({row["machine"] for row in used})),
        commands="\n".join(sorted({row["command"] for row in used})),
    )


def shown(rows: Iterable[Row], seconds: float) -> dict[Key, list[Row]]:
    """The rows that the page is about: no variants of ours, no other targets."""
    targets = {*PLANTED, *OLD}
    mine = [row for row in rows if row["fuzzer"] in FUZZERS and row["target"] in targets]
    return by_fuzzer(mine, seconds)


def sets_of(found: Mapping[Key, list[Row]]) -> dict[str, Faults]:
    """The planted faults, and those of the old library if there are rows of it."""
    there = {target for target, _ in found}
    return {"planted": PLANTED, "old": OLD} if there & {*OLD} else {"planted": PLANTED}


def totals_of(rows: Iterable[Row], fuzzer: str, seconds: float, faults: Faults) -> list[int]:
    """How many faults a fuzzer hits in each trial that has all targets."""
    totals = faults_of_trials(rows, fuzzer, seconds, {t: [*names] for t, names in faults.items()})
    where = ", ".join(faults)
    require(
        bool(totals), f"no trial of {fuzzer} with {seconds:g} s has rows of {where}; run `bugs`"
    )
    return totals


def part_of(
    name: str,
    faults: Faults,
    found: Mapping[Key, list[Row]],
    totals: Mapping[Key, list[int]],
    tests: dict[Key, Versus],
) -> Part:
    """What the page says of a set of faults."""
    hit = hits_of(faults, found)
    never = [fault for fault, by in hit.items() if min(map(min, by.values())) == inf]
    return Part(
        fuzzers=fuzzers_table(name, totals, tests),
        verdict=verdict(name, tests),
        faults=faults_table(faults, found),
        single=[single_faults(rival, hit) for rival in FUZZERS if rival != OURS],
        never=listed(never),
        others=other_failures(faults, found),
    )


def hits_of(faults: Faults, found: Mapping[Key, list[Row]]) -> Hits:
    """When each fault was hit."""
    return {
        fault: {fuzzer: hits(found[target, fuzzer], fault) for fuzzer in FUZZERS}
        for target, names in faults.items()
        for fault in names
    }


def listed(faults: Sequence[str]) -> str:
    """Names of faults."""
    return ", ".join(f"`{fault}`" for fault in faults)


def fuzzers_table(name: str, totals: Mapping[Key, list[int]], tests: Mapping[Key, Versus]) -> str:
    """A line for each fuzzer: faults in a trial."""
    lines = []
    for fuzzer, title in FUZZERS.items():
        counts, test = totals[name, fuzzer], tests.get((name, fuzzer))
        cells = [f"{mean(counts):.1f}", span(counts), len(counts)]
        cells += [f"{test.p_value:.2g}", f"{test.a12:.2f}"] if test else ["", ""]
        lines.append([title, *cells])
    return markdown(["", "mean", "range", "trials", "p", "A12"], lines)


def faults_table(faults: Faults, found: Mapping[Key, list[Row]]) -> str:
    """A line for each fault: what it is, who hits it, and when."""
    lines = [
        [target, f"`{fault}`", words, *(when(found[target, fuzzer], fault) for fuzzer in FUZZERS)]
        for target, names in faults.items()
        for fault, words in names.items()
    ]
    return markdown(["", "fault", "what it is", *FUZZERS.values()], lines)


def single_faults(rival: str, hit: Hits) -> str:
    """At which faults ours is ahead of another fuzzer, and at which it is behind."""
    of = defaultdict[int, list[str]](list)
    for fault, by in hit.items():
        of[standing(by[OURS], by[rival])].append(fault)
    ahead, behind = (f"{len(of[i])} ({listed(of[i])})" if of[i] else "none" for i in (1, -1))
    return f"Beside {FUZZERS[rival]}: ahead at {ahead}, behind at {behind}, level at {len(of[0])}."


def standing(ours: Sequence[float], theirs: Sequence[float]) -> int:
    """1 if ours hit a fault in a larger share of trials, or in the same and sooner; -1, or 0.

    Medians that differ by no more than the time between two looks are the same.
    """
    share, other = (mean(at < inf for at in some) for some in (ours, theirs))
    if share != other:
        return 1 if share > other else -1
    mine, their = median(ours), median(theirs)
    if mine == their or abs(mine - their) <= STEP:  # both may be infinite
        return 0
    return 1 if mine < their else -1


def other_failures(faults: Faults, found: Mapping[Key, list[Row]]) -> list[str]:
    """Failures that are none of the faults, and in how many trials; numbers in them are N."""
    trials = defaultdict[Key, Counter[str]](Counter)
    for target, fuzzer in found:
        for row in found[target, fuzzer] if target in faults else ():
            names = {*row["found"]} - {*faults[target]}
            for name in {re.sub(r"\b(0x[\da-f]+|\d+)\b", "N", name) for name in names}:
                trials[target, name][fuzzer] += 1
    lines = []
    for (target, name), by in sorted(trials.items()):
        shares = {FUZZERS[f]: f"{by[f]} of {len(found[target, f])}" for f in FUZZERS if by[f]}
        told = ", ".join(f"{fuzzer} in {share} trials" for fuzzer, share in shares.items())
        lines.append(f"{target}, `{name}`: {told}")
    return lines


def told_apart_table(sets: Mapping[str, Faults], ours: Mapping[str, list[Row]]) -> str:
    """A line for each target: means over the trials of ours."""
    lines = []
    for target, names in (item for faults in sets.values() for item in faults.items()):
        some = ours[target]
        means = [mean(len({*row["found"]} & {*names}) for row in some)]
        means += [mean(row[key] for row in some) for key in ("reported", "split", "merged")]
        lines.append([target, len(some), *(f"{value:.1f}" for value in means)])
    return markdown(["", "trials", "faults hit", "bugs reported", "split", "merged"], lines)


def started(rows: Iterable[Row], fuzzer: str) -> list[str]:
    """How a fuzzer was started; what differs between trials and targets is left out."""
    alike = defaultdict[int, list[list[str]]](list)
    for words in (row["started"].split() for row in rows if row["fuzzer"] == fuzzer):
        alike[len(words)].append(words)
    return [" ".join(map(in_common, zip(*some, strict=True))) for some in alike.values()]


def in_common(words: Sequence[str]) -> str:
    """A word, or what is left of several without the numbers at their ends."""
    if len({*words}) == 1:
        return words[0]
    shared = {re.sub(r"\d+$", "…", word) for word in words}
    return shared.pop() if len(shared) == 1 else "…"


def versions(rows: Iterable[Row]) -> str:
    """What was measured, as far as the rows know it."""
    names = {"aloex": "Aloex", "clang": "clang", "afl-fuzz": "AFL++"}
    found = {
        name: {row["versions"][name] for row in rows if name in row["versions"]} for name in names
    }
    return ", ".join(f"{names[n]} {' and '.join(sorted(found[n]))}" for n in names if found[n])


def figure(rows: Iterable[Row], seconds: float) -> Figure:
    """When each fault is hit, a panel for each target; what is not hit is at the right edge."""
    found = shown(rows, seconds)
    targets = {t: faults[t] for faults in sets_of(found).values() for t in faults}
    heights = [*map(len, targets.values())]
    picture = Figure(figsize=(8.4, 1 + 0.4 * sum(heights)), layout="constrained")
    panels = picture.subplots(len(targets), 1, sharex=True, height_ratios=heights)
    missed = 1.6 * seconds
    for ax, (target, faults) in zip(panels, targets.items(), strict=True):
        for row, fault in enumerate(faults):
            for shift, fuzzer in zip((-0.25, 0, 0.25), FUZZERS, strict=True):
                _mark(ax, hits(found[target, fuzzer], fault), row + shift, fuzzer, missed)
            ax.axhline(row + 0.5, color="#dddddd", lw=0.6)
        ax.axvline(seconds, color="#999999", lw=0.8)
        ax.set(yticks=range(len(faults)), yticklabels=[*faults], ylim=(len(faults) - 0.5, -0.5))
        ax.set_title(target, loc="left", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    ticks = [at for at in (STEP, *TICKS) if at <= seconds]
    labels = [*(f"{at:g}" for at in ticks), "not hit"]
    panels[-1].set(xscale="log", xlabel="seconds", xlim=(0.8 * STEP, 1.2 * missed))
    panels[-1].set(xticks=[*ticks, missed], xticklabels=labels)
    panels[-1].minorticks_off()
    for fuzzer, name in FUZZERS.items():
        panels[0].plot([], [], label=name, **STYLES[fuzzer])
    names = panels[0].get_legend_handles_labels()
    picture.legend(*names, loc="outside upper center", ncols=3, frameon=False)
    picture.draw_without_rendering()
    picture.set_layout_engine("none")  # else each draw moves it by a little
    return picture


def _mark(ax: Any, times: Sequence[float], height: float, fuzzer: str, missed: float) -> None:
    """The range of the times and their median, which is open if most trials do not have one."""
    style, middle = STYLES[fuzzer], median(times)
    ends = [min(at, missed) for at in (min(times), max(times))]
    ax.plot(ends, [height] * 2, color=style["color"], ls=style["ls"], lw=1.4)
    inside = style["color"] if middle < inf else "white"
    ax.plot([min(middle, missed)], [height], ms=5, mfc=inside, **style)
