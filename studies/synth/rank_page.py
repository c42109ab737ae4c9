"""The section on what a learned energy adds to the version space."""

from studies.results import markdown
from studies.synth.study import MODELS

Rows = list[dict]

SECTION = """\
## What a learned energy adds

The energy f(program, z) is a sum over the expressions of a program of what two small networks say,
given what is known of the task: the examples, and the inputs to be filled. It is learned by ALOE
(`aloex synth train energy`) on {train} new tasks: raised on a task's own program, lowered on
programs that the version space draws with p ~ exp f, most of which are wrong. Nothing tells it how
the generator draws programs. Its weights come with the library.

A program is right if it writes what the true one writes for the hidden inputs. So what counts is
the summed weight of all programs that behave alike there (`aloex.apps.fill.space.behaviours`). In a
table the inputs to be filled are known, only their outputs are hidden: *inputs known*. That is more
than the paper's models are told. The other rows see nothing but the public pairs; the energy then
makes up inputs like the public ones. *Version space* is the simple score from above. Shares of the
first {n} test tasks whose first program, or one of the first ten, is right, by the number of
public examples (`python -m studies.synth table`):

{ranking}

Points of top-1 above the version space alone, part of which is owed to the inputs where these are
known:

{margins}

The generator's prior is what the energy has to find out for itself.

What the energy says of itself can be compared with what happens: with the inputs known it expects
to be right in {expected} of the tasks with {counts} examples, and is in
{actual}. Without the inputs nobody can tell on which of them programs will differ, so
there is less to gain.
"""
KNOWN = "version space + energy, inputs known"


def render(rows: Rows) -> str:
    """The section, from the rows of `python -m studies.synth table`."""
    rows = [row for row in rows if row["model"] in MODELS and row.get("set") == "test"]
    models = {
        name: sorted(
            (row for row in rows if row["model"] == name), key=lambda row: row["public_examples"]
        )
        for name in MODELS
        if any(row["model"] == name for row in rows)
    }
    known = models[KNOWN]
    shares = lambda name: ", ".join(f"{100 * row[name]:.1f}" for row in known) + "%"
    return SECTION.format(
        train=f"{known[0]['train_examples']:,}",
        n=f"{max(row['n_tasks'] for row in rows):,}",
        ranking=_ranking(models),
        margins=_margins(models),
        counts=", ".join(str(row["public_examples"]) for row in known),
        expected=shares("expected"),
        actual=shares("top1_beam1"),
    )


def _ranking(models: dict[str, Rows]) -> str:
    counts = [row["public_examples"] for row in models[KNOWN]]
    head = ["", *(f"top-1, {n}" for n in counts), *(f"top-10, {n}" for n in counts), "ms a task"]
    body = []
    for name, rows in models.items():
        shares = [row[key] for key in ("top1_beam1", "top10_beam10") for row in rows]
        times = [row["ms_mean"] for row in rows]
        percent = [f"{100 * share:.1f}%" for share in shares]
        body.append([name, *percent, f"{min(times):.0f} to {max(times):.0f}"])
    return markdown(head, body)


def _margins(models: dict[str, Rows]) -> str:
    alone, *others = models.values()
    above = lambda row, base: f"{100 * (row['top1_beam1'] - base['top1_beam1']):+.1f}"
    body = [[rows[0]["model"], *map(above, rows, alone)] for rows in others]
    return markdown(["", *(f"{row['public_examples']} public" for row in alone)], body)
