"""`python -m studies.synth`: how often the first of the ranked programs is right, and the pages."""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.apps.programs.tasks.tasks import Task
from aloex.base.errors import require
from aloex.cli.options import listed
from studies.command import command_line, run_app

KEYS = ("set", "model", "public_examples")
# By the model's name: from the number of public examples to a row of results.
Raters = dict[str, Callable[[int], dict[str, Any]]]

app = command_line("Programs from examples: version spaces and networks on frozen tasks.")

Prune = Annotated[
    bool | None,
    typer.Option(help="Drop beams that do not write the outputs; default: for best only."),
]

UntilFit = Annotated[
    bool,
    typer.Option("--until-fit", help="Edit on while the public outputs are not written."),
]
Wider = Annotated[
    str, typer.Option("--wider", help="Also Top-1 of beams of these widths, such as 81,810.")
]


@app.command()
def table(
    model: Annotated[
        list[str] | None,
        typer.Option(help="A way to rank a version space; may be repeated; default: all."),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(help="NAME=Q0 or NAME=Q0+EDITOR, model files or runs; may be repeated."),
    ] = None,
    prune: Prune = None,
    until_fit: UntilFit = False,
    wider: Wider = "",
    public: Annotated[str, typer.Option(help="Numbers of public examples.")] = "1,2,3,4",
    number: Annotated[int, typer.Option("--number", "-n", help="Tasks of the set.")] = 10_000,
    of: Annotated[str, typer.Option("--set", help="test or validation.")] = "test",
    jobs: Annotated[int, typer.Option(help="Processes at work, for version spaces.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/synth"),
) -> None:
    """Top-1 and Top-10 on the frozen tasks, of version spaces or of networks."""
    from studies.results import save
    from studies.synth import study
    from studies.synth.frozen import frozen

    counts = listed(public, "--public")
    require(jobs > 0, f"--jobs must be positive, got {jobs}")
    require(number > 0, f"--number must be positive, got {number}")
    require(all(1 <= count <= 4 for count in counts), f"--public must be 1 to 4, got {public}")
    chosen = frozen(of)[:number]
    names = model or ([] if network else [*study.MODELS])
    for name in names:
        known = ", ".join(map(repr, study.MODELS))
        require(name in study.MODELS, f"there is no model {name!r}; there are {known}")
    raters: Raters = {name: partial(study.evaluate, chosen, name, jobs=jobs) for name in names}
    raters |= networks(network or [], chosen, prune, until_fit, widths(wider))
    for name, rate in raters.items():
        for count in counts:
            row = {"set": of, "model": name, **rate(count)}
            repairs = row.pop("repairs", None)
            save(out / "summary.json", [row], KEYS, quiet=True)
            if repairs is not None:
                shown = {**{key: row[key] for key in KEYS}, "repairs": repairs}
                save(out / "repairs.json", [shown], KEYS, quiet=True)
            top1, top10 = row["top1_beam10"], row["top10_beam10"]
            line = f"{name}, {count} public: top-1 {top1:.2%}, top-10 {top10:.2%}"
            print(line, file=sys.stderr, flush=True)
    print(f"wrote {out / 'summary.json'}")


def networks(
    specs: list[str],
    tasks: Sequence[Task],
    prune: bool | None,
    until_fit: bool,
    wider: Sequence[int],
) -> Raters:
    """What rates each of the networks named."""
    raters: Raters = {}
    for spec in specs:
        from studies.synth.network import load_network  # JAX loads slowly

        name, _, files = spec.partition("=")
        q0, _, editor = files.partition("+")
        require(
            name != "" and q0 != "",
            f"--network is NAME=Q0 or NAME=Q0+EDITOR, such as ALOE=runs/paper+runs/paper_editor, "
            f"got {spec!r}",
        )
        loaded = load_network(Path(q0), Path(editor) if editor else None, prune, until_fit)
        raters[name] = partial(loaded.rate, tasks, wider=wider)
    return raters


@app.command("eval")
def evaluate(
    model: Annotated[Path, typer.Argument(help="A q0: a model file, or the folder of its run.")],
    editor: Annotated[Path | None, typer.Option(help="An editor that goes on from it.")] = None,
    tasks: Annotated[int, typer.Option(help="How many tasks of the set, from its first.")] = 1000,
    of: Annotated[str, typer.Option("--set", help="test or validation.")] = "test",
    public: Annotated[int, typer.Option(help="Public pairs of each task.")] = 4,
    prune: Prune = None,
    until_fit: UntilFit = False,
    wider: Wider = "",
) -> None:
    """Top-1 Beam-1, Top-1 Beam-10 and Top-10 Beam-10 on frozen tasks, as JSON."""
    from studies.synth.frozen import frozen
    from studies.synth.network import load_network

    require(tasks > 0, f"--tasks must be positive, got {tasks}")
    require(1 <= public <= 4, f"--public must be 1 to 4, got {public}")
    network = load_network(model, editor, prune, until_fit)
    row = network.rate(frozen(of)[:tasks], public, widths(wider))
    print(json.dumps({"set": of, **row}))


def widths(wider: str) -> tuple[int, ...]:
    """Those that `--wider` asks for."""
    return listed(wider, "--wider") if wider else ()


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/synth"),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/synth_tasks.md"),
) -> None:
    """Write the page on the tasks and its figure, and synth_models.md beside it."""
    from studies.results import read
    from studies.synth import models_page, network_page, tasks_page

    rows, repairs = tasks_page.read_rows(results)
    if network_page.edited(network_page.networks(rows, num_public=4)):
        from studies.synth.network_figure import figure  # matplotlib loads slowly

        path = out.parent / "images/synth/networks.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure(rows).savefig(path, dpi=150)
        print(f"figure: {path}")
    out.write_text(tasks_page.render(rows, repairs))
    models = out.with_name("synth_models.md")
    models.write_text(models_page.render(read(results / "training.json")))
    print(f"pages: {out}, {models}")


if __name__ == "__main__":
    run_app(app)
