"""`aloex synth table`: how often the first of the ranked programs is right."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from aloex.cli.numbers import listed
from aloex.cli.synth_models import Prune, UntilFit, Wider, widths
from aloex.errors import require

KEYS = ("set", "model", "public_examples")
Raters = dict[str, Callable[[int], dict]]  # by the model's name; from the public examples to a row


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
    from aloex.apps.results import save
    from aloex.apps.synth import study
    from aloex.apps.synth.tasks import frozen

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
                told = {**{key: row[key] for key in KEYS}, "repairs": repairs}
                save(out / "repairs.json", [told], KEYS, quiet=True)
            top1, top10 = row["top1_beam10"], row["top10_beam10"]
            line = f"{name}, {count} public: top-1 {top1:.2%}, top-10 {top10:.2%}"
            print(line, file=sys.stderr, flush=True)
    print(f"wrote {out / 'summary.json'}")


def networks(
    specs: list[str], tasks: Sequence, prune: bool | None, until_fit: bool, wider: Sequence[int]
) -> Raters:
    """What rates each of the networks named."""
    raters: Raters = {}
    for spec in specs:
        from aloex.apps.synth.models.network import load_network  # JAX loads slowly

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
