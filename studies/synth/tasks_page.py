"""The page on the tasks: how they are made, what they are like, how far the version space gets."""

from pathlib import Path
from typing import Any

from aloex.apps.programs.language import in_words
from aloex.apps.programs.tasks.tasks import FROZEN, Task
from studies.results import markdown, read
from studies.synth import network_page, rank_page
from studies.synth.frozen import DATA, frozen
from studies.synth.statistics import statistics
from studies.template import fill

Rows = list[dict[str, Any]]

ALONE = {"version space": "simple score", "version space, generator's prior": "generator's prior"}


def read_rows(results: Path) -> tuple[Rows, Rows]:
    """What `table` wrote: how often models are right, and repairs if there are any."""
    repairs = results / "repairs.json"
    return read(results / "summary.json"), read(repairs) if repairs.exists() else []


def render(rows: Rows, repairs: Rows) -> str:
    """The page."""
    sets = [{"set": name, **statistics(frozen(name))} for name in FROZEN]
    alone = [row for row in rows if row["model"] in ALONE and row["set"] == "test"]
    size = lambda name: f"{name} has {(DATA / f'{name}.tsv.xz').stat().st_size / 1e6:.2f} MB"
    return fill(
        Path(__file__).with_name("tasks.md.j2"),
        example=_example(frozen("test")[EXAMPLE]),
        folder="studies/synth/data",
        sizes=", ".join(size(row["set"]) for row in sets),
        statistics=_statistics(sets),
        expressions=_expressions(sets),
        n=f"{max(row['n_tasks'] for row in alone):,}",
        accuracy=_accuracy(alone),
        ranking=rank_page.render(rows),
        networks=network_page.render(rows, repairs),
    )


EXAMPLE = 1245  # a short one, whose positions change their order


def _example(task: Task) -> str:
    """A program and its public examples."""
    lines = [f"{x!r:24} -> {y!r}" for x, y in task.public]
    program = f"{task.text}\n({in_words(task.program)})"
    return "```text\n" + "\n".join([program, *lines]) + "\n```"


def _statistics(sets: Rows) -> str:
    percent = lambda value: f"{100 * value:.1f}%"
    lines = {
        "tasks": lambda row: f"{row['n_tasks']:,}",
        "expressions, mean": lambda row: f"{row['expressions_mean']:.2f}",
        "tokens of a program, mean (most)": lambda row: (
            f"{row['tokens_mean']:.1f} ({row['tokens_max']})"
        ),
        "characters of an input, mean (most)": lambda row: (
            f"{row['input_mean']:.1f} ({row['input_max']})"
        ),
        "characters of an output, mean (most)": lambda row: (
            f"{row['output_mean']:.1f} ({row['output_max']})"
        ),
        "characters of the public examples, mean": lambda row: f"{row['public_text_mean']:.1f}",
        "expressions that are constants": lambda row: percent(row["const_str"]),
        "positions: ConstPos": lambda row: percent(row["positions"]["ConstPos"]),
        "positions: ConstTok": lambda row: percent(row["positions"]["ConstTok"]),
        "positions: RegexTok": lambda row: percent(row["positions"]["RegexTok"]),
        "positions with ^ or $": lambda row: percent(row["anchors"]),
        "positions with k = 0": lambda row: percent(row["k_zero"]),
    }
    rows = [[name, *map(show, sets)] for name, show in lines.items()]
    return markdown(["", *(row["set"] for row in sets)], rows)


def _expressions(sets: Rows) -> str:
    sizes = list(sets[0]["expressions"])
    shares = [[f"{100 * row['expressions'][size]:.1f}" for size in sizes] for row in sets]
    rows = [[row["set"], *share] for row, share in zip(sets, shares, strict=True)]
    return markdown(["expressions", *sizes], rows)


def _accuracy(rows: Rows) -> str:
    percent = lambda value: f"{100 * value:.1f}%"
    head = ["", "public", "solved", "top-1", "top-10", "vote", "sure", "right"]
    shares = ("solved", "top1_beam1", "top10_beam10", "vote", "sure", "sure_right")
    body = [
        [ALONE[row["model"]], row["public_examples"], *(percent(row[name]) for name in shares)]
        for row in sorted(rows, key=lambda row: (row["model"], row["public_examples"]))
    ]
    return markdown(head, body)
