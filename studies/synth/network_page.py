"""The section on networks that write programs: how often they are right, and what edits do."""

from typing import Any

from aloex.apps.fill.language import parse, run
from aloex.apps.fill.networks.programs.edits import EDITS_TO_KEEP, MAX_EDITS
from studies.results import markdown

Rows = list[dict[str, Any]]

# Accuracies of the paper's table, in percent, and the examples it trained on.
PAPER = {
    "seq2seq-init": (45.86, 55.49, 58.66, 483_000_000),
    "seq2seq-tune": (47.86, 57.52, 60.62, 747_000_000),
    "ALOE": (53.57, 61.99, 65.29, 747_000_000),
}
BEAMS = {
    "top1_beam1": "Top-1 Beam-1",
    "top1_beam10": "Top-1 Beam-10",
    "top10_beam10": "Top-10 Beam-10",
}
SECTION = """
## How far networks get

[Networks](synth_models.md) write programs token by token, and an editor repairs what they wrote.
Top-k Beam-b: of the programs of a beam of width b, in the order of their probability and without
those that fail a public pair, one of the first k writes all ten outputs. The first {n} test
tasks with four public pairs (`python -m studies.synth table --network`), beside what the paper
prints for tasks
of its own. *Trained on* counts the tasks of all training that went before; *GPU seconds* have
compiling in them, and other work on the same GPU; *ms* is the time of a beam of 10 for a task among
500 ({devices}).

{accuracy}
"""
UNTRAINED = """
The version space above learns nothing of this. With its simple score it has {top1:.1%} for the
first program and {top10:.1%} for the first ten: no network is ahead of it by more than half a
point.
"""
BY_PAIRS = """
The same with fewer public pairs, Top-1 and Top-10 with a beam of 10:

{by_pairs}
"""
MARGINS = """
With the same time for training, ALOE with the paper's networks is {plain} points above
seq2seq-tune, that is, behind it; in the paper it is {papers}. There the editor decides when to
stop, and ours mostly does so at once: it does not see what programs write, and has seen a small
part of the paper's examples. Where running the programs decides, and those that fail are edited on
(*until they fit*), ALOE is {fit} points above seq2seq-tune.

That is owed to the search more than to the editor, for it looks at up to {n1} programs for a beam
of 1, and {n10} for one of 10. Plain beams of seq2seq-tune as wide as that have {tune1:.1%} and
{tune10:.1%} for the first program, where ALOE has {aloe1:.1%} and {aloe10:.1%}: as many programs of
q0's own are worth more than edited ones. With pruned beams of 10 both get further, and ALOE stays
ahead: {pruned} points.
"""
EDITS = """
![Accuracy, and numbers of edits](images/synth/networks.png)

*Accuracy with four public pairs, the paper's as black marks; numbers of edits behind the program
that is ranked first, and behind the first that is right.*

How many edits led to the program that is ranked first, in percent of the tasks that have one:

{edits}

*Repaired* is the share of all tasks in which that program is right, while the one that q0 had
written at the start of it is not.
"""
REPAIRED = ("ALOE", "ALOE, until they fit", "best-q0 + editor")  # of which repairs are shown
REPAIRS = """
Some repairs of {model}, the first in the test set with at most four expressions. Behind each output
stands what q0's program wrote, where that was another.

{repairs}
"""


def networks(rows: Rows, num_public: int | None = None) -> Rows:
    """The rows of networks on the test set."""
    return [
        row
        for row in rows
        if "weights" in row
        and row["set"] == "test"
        and num_public in (None, row["public_examples"])
    ]


def edited(rows: Rows) -> Rows:
    """Those of networks with an editor."""
    return [row for row in rows if "num_edits" in row]


def render(rows: Rows, repairs: Rows) -> str:
    """The section, or nothing as long as there are no rows."""
    found, with_four = networks(rows), networks(rows, num_public=4)
    if not found:
        return ""
    text = SECTION.format(
        n=f"{max(row['n_tasks'] for row in found):,}",
        devices=", ".join(dict.fromkeys(row["device"] for row in found)),
        accuracy=_accuracy(with_four),
    )
    text += BY_PAIRS.format(by_pairs=_by_pairs(found))
    text += _untrained(rows) + _margins(with_four)
    if editors := edited(with_four):
        text += EDITS.format(edits=_edits(editors))
    for row in repairs:
        is_shown = (row["set"], row["public_examples"]) == ("test", 4) and row["model"] in REPAIRED
        if is_shown and row["repairs"]:
            shown = "\n\n".join(map(_repair, row["repairs"]))
            text += REPAIRS.format(model=row["model"], repairs=shown)
    return text


def _accuracy(rows: Rows) -> str:
    head = ["", *BEAMS.values(), "trained on", "GPU seconds", "ms"]
    lines = []
    for row in rows:
        shares = [f"{100 * row[name]:.2f}%" for name in BEAMS]
        ms = f"{row['ms_mean']:.1f}" if "ms_mean" in row else "–"
        training = [_millions(row["train_examples"]), f"{row['gpu_seconds']:,.0f}"]
        lines.append([row["model"], *shares, *training, ms])
    for name, (*shares, examples) in PAPER.items():
        cells = [f"{share:.2f}%" for share in shares]
        lines.append([f"{name}, as printed", *cells, _millions(examples), "–", "–"])
    return markdown(head, lines)


def _by_pairs(rows: Rows) -> str:
    """Accuracies by the number of public pairs, those of a model in a line."""
    counts = sorted({row["public_examples"] for row in rows})
    found = {(row["model"], row["public_examples"]): row for row in rows}
    cell = lambda row: f"{100 * row['top1_beam10']:.1f} / {100 * row['top10_beam10']:.1f}"
    lines = []
    for model in dict.fromkeys(row["model"] for row in rows):
        cells = [cell(found[model, n]) if (model, n) in found else "–" for n in counts]
        lines.append([model, *cells])
    return markdown(["", *counts], lines)


def _untrained(rows: Rows) -> str:
    """How far one gets without a network, where that was rated."""
    for row in rows:
        if (row["set"], row["model"], row["public_examples"]) == ("test", "version space", 4):
            return UNTRAINED.format(top1=row["top1_beam10"], top10=row["top10_beam10"])
    return ""


def _margins(rows: Rows) -> str:
    """What the editor adds at equal cost, where all was rated that this is told by."""
    by_name = {row["model"]: row for row in rows}
    names = ("ALOE", "ALOE, until they fit", "ALOE, pruned, until they fit")
    if not {*names, "seq2seq-tune", "seq2seq-tune, pruned"} <= set(by_name):
        return ""
    tune, fit = by_name["seq2seq-tune"], by_name["ALOE, until they fit"]
    n1, n10 = (width * (1 + MAX_EDITS * EDITS_TO_KEEP) for width in (1, 10))
    if not {f"top1_beam{n1}", f"top1_beam{n10}"} <= set(tune):
        return ""
    listed = lambda points: " / ".join(f"{x:+.1f}" for x in points)
    above = lambda a, b: listed(100 * (by_name[a][beam] - by_name[b][beam]) for beam in BEAMS)
    papers = (a - b for a, b in zip(PAPER["ALOE"][:3], PAPER["seq2seq-tune"][:3], strict=True))
    return MARGINS.format(
        plain=above("ALOE", "seq2seq-tune"),
        papers=listed(papers),
        fit=above("ALOE, until they fit", "seq2seq-tune"),
        pruned=above("ALOE, pruned, until they fit", "seq2seq-tune, pruned"),
        **{"n1": n1, "tune1": tune[f"top1_beam{n1}"], "aloe1": fit["top1_beam1"]},
        **{"n10": n10, "tune10": tune[f"top1_beam{n10}"], "aloe10": fit["top1_beam10"]},
    )


def _millions(number: int) -> str:
    return f"{number / 1e6:.1f}M"


def _edits(rows: Rows) -> str:
    counts = range(len(rows[0]["num_edits"]))
    lines = []
    for row in rows:
        total = max(sum(row["num_edits"]), 1)
        shares = [f"{100 * n / total:.1f}" for n in row["num_edits"]]
        lines.append([row["model"], *shares, f"{100 * row['repaired']:.1f}%"])
    return markdown(["", *counts, "repaired"], lines)


def _repair(repair: dict[str, Any]) -> str:
    start = parse(repair["start"])
    lines = []
    for x, y in repair["pairs"]:
        wrote = run(start, x, "paper")
        lines.append(f"{x!r:24} -> {y!r}" + ("" if wrote == y else f"   not {wrote!r}"))
    lines.append(f"q0:   {repair['start']}")
    lines += [f"edit: {edit}" for edit in repair["edits"]]
    lines.append(f"so:   {repair['end']}")
    return "```text\n" + "\n".join(lines) + "\n```"
