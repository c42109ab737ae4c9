"""The section on networks that write programs: how often they are right, and what edits do."""

from pathlib import Path
from typing import Any

from aloex.apps.programs.language import parse, run
from aloex.apps.programs.networks.programs.edits import EDITS_TO_KEEP, MAX_EDITS
from studies.results import markdown
from studies.template import fill

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
REPAIRED = ("ALOE", "ALOE, until they fit", "best-q0 + editor")  # of which repairs are shown


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
    editors = edited(with_four)
    return fill(
        Path(__file__).with_name("networks.md.j2"),
        n=f"{max(row['n_tasks'] for row in found):,}",
        devices=", ".join(dict.fromkeys(row["device"] for row in found)),
        accuracy=_accuracy(with_four),
        by_pairs=_by_pairs(found),
        untrained=_untrained(rows),
        margins=_margins(with_four),
        edits=_edits(editors) if editors else "",
        repairs=[
            {"model": row["model"], "text": "\n\n".join(map(_repair, row["repairs"]))}
            for row in repairs
            if (row["set"], row["public_examples"]) == ("test", 4)
            and row["model"] in REPAIRED
            and row["repairs"]
        ],
    )


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


def _untrained(rows: Rows) -> dict[str, str] | None:
    """How far one gets without a network, where that was rated."""
    for row in rows:
        if (row["set"], row["model"], row["public_examples"]) == ("test", "version space", 4):
            return {"top1": _percent(row["top1_beam10"]), "top10": _percent(row["top10_beam10"])}
    return None


def _margins(rows: Rows) -> dict[str, Any] | None:
    """What the editor adds at equal cost, where all was rated that this is told by."""
    by_name = {row["model"]: row for row in rows}
    names = ("ALOE", "ALOE, until they fit", "ALOE, pruned, until they fit")
    if not {*names, "seq2seq-tune", "seq2seq-tune, pruned"} <= set(by_name):
        return None
    tune, fit = by_name["seq2seq-tune"], by_name["ALOE, until they fit"]
    n1, n10 = (width * (1 + MAX_EDITS * EDITS_TO_KEEP) for width in (1, 10))
    if not {f"top1_beam{n1}", f"top1_beam{n10}"} <= set(tune):
        return None
    listed = lambda points: " / ".join(f"{x:+.1f}" for x in points)
    above = lambda a, b: listed(100 * (by_name[a][beam] - by_name[b][beam]) for beam in BEAMS)
    papers = (a - b for a, b in zip(PAPER["ALOE"][:3], PAPER["seq2seq-tune"][:3], strict=True))
    return dict(
        plain=above("ALOE", "seq2seq-tune"),
        papers=listed(papers),
        fit=above("ALOE, until they fit", "seq2seq-tune"),
        pruned=above("ALOE, pruned, until they fit", "seq2seq-tune, pruned"),
        **{
            "n1": n1,
            "tune1": _percent(tune[f"top1_beam{n1}"]),
            "aloe1": _percent(fit["top1_beam1"]),
        },
        **{
            "n10": n10,
            "tune10": _percent(tune[f"top1_beam{n10}"]),
            "aloe10": _percent(fit["top1_beam10"]),
        },
    )


def _percent(share: float) -> str:
    return f"{share:.1%}"


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
