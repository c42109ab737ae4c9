"""`python -m studies.synthetic`: tables, ablation, grids, gradient variance, figures, page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aloex.base.errors import require
from aloex.cli.choices import PresetName
from aloex.cli.synthetic import Data, Preset, Steps, changes_of, models_in, names_of
from studies.command import command_line, run_app

if TYPE_CHECKING:
    from aloex.apps.synthetic.train import Problem

app = command_line("The synthetic study: every method on seven pictures in the plane.")

Runs = Annotated[Path, typer.Option(help="Folder of the runs.")]
Out = Annotated[Path, typer.Option(help="Folder of the results.")]
Estimate = Annotated[bool, typer.Option("--estimate", help="log Z by importance sampling only.")]
Methods = Annotated[
    list[str] | None, typer.Option(help="As method or method:recipe; default: all.")
]
Names = Annotated[
    list[str] | None,
    typer.Option("--job", help="A job, or with ' exact' its second stage; default: all."),
]
Seeds = Annotated[int, typer.Option(help="Number of seeds, from 0.")]


@app.command()
def table(
    method: Methods = None,
    preset: Preset = PresetName.PAPER,
    data: Data = ["all"],  # noqa: B006
    seeds: Seeds = 3,
    steps: Steps = None,
    estimate: Estimate = False,
    repeats: Annotated[int, typer.Option(help="Repeats of each MMD; 0: without MMD.")] = 10,
    runs: Runs = Path("runs/table"),
    out: Out = Path("results/synthetic"),
) -> None:
    """Train and evaluate everything that is still missing; may be stopped and repeated."""
    from studies.synthetic import table

    pairs = table.ALL if not method else [pair_of(name) for name in method]
    lines = table.entries(pairs, preset, **changes_of(steps))
    names = names_of(data)
    problems = problems_of(names, seeds)
    how = {"estimate": estimate, "num_repeats": repeats}
    table.make(lines, problems, runs=runs, summary=out / "summary.json", **how)
    table.references(out, names)


@app.command()
def ablation(
    preset: Preset = PresetName.PAPER,
    data: Data = ["all"],  # noqa: B006
    seeds: Seeds = 3,
    steps: Steps = None,
    estimate: Estimate = False,
    runs: Runs = Path("runs/ablation"),
    out: Out = Path("results/synthetic"),
) -> None:
    """What each ingredient of ALOE's best recipe is worth; may be stopped and repeated."""
    from studies.synthetic import table

    lines = table.ablation(preset, **changes_of(steps))
    problems = problems_of(names_of(data), seeds)
    table.make(lines, problems, runs=runs, summary=out / "ablation.json", estimate=estimate)


@app.command()
def tune(
    method: Methods = None,
    preset: Preset = PresetName.PAPER,
    data: Data = ["pinwheel", "checkerboard"],  # noqa: B006
    seeds: Seeds = 1,
    steps: Steps = None,
    runs: Runs = Path("runs/tuning"),
    out: Out = Path("results/synthetic"),
) -> None:
    """The grids over settings of PCD, ADE and ALOE; may be stopped and repeated."""
    from studies.synthetic import table

    pairs = list(table.GRIDS) if not method else [pair_of(name) for name in method]
    known = ", ".join(":".join(pair) for pair in table.GRIDS)
    for pair in pairs:
        require(pair in table.GRIDS, f"there is no grid for {':'.join(pair)}, only for {known}")
    lines = table.tuning(pairs, preset, **changes_of(steps))
    problems = problems_of(names_of(data), seeds)
    how = {"estimate": True, "num_repeats": 0}  # the likelihood decides
    table.make(lines, problems, runs=runs, summary=out / "tuning.json", **how)


@app.command()
def variance(
    preset: Preset = PresetName.PAPER,
    seeds: Seeds = 3,
    steps: Steps = None,
    points: Annotated[int, typer.Option(help="How often to pause and measure.")] = 10,
    runs: Runs = Path("runs/variance"),
    out: Out = Path("results/synthetic"),
) -> None:
    """Variance of the sampler's gradient during training, ADE against ALOE, on pinwheel."""
    from studies import results
    from studies.synthetic import gradient_variance

    for method in gradient_variance.METHODS:
        rows = gradient_variance.measure(
            runs, method, preset=preset, seeds=seeds, num_points=points, **changes_of(steps)
        )
        keys = ("method", "data", "seed", "step")
        results.save(out / "gradient_variance.json", rows, keys)


@app.command()
def jobs(
    job: Names = None,
    lanes: Annotated[int, typer.Option(help="How many work side by side.")] = 4,
    minutes: Annotated[float, typer.Option(help="When to save and stop.")] = 600,
    rehearse: Annotated[int, typer.Option(help="Steps of tiny networks; 0: the real ones.")] = 0,
    runs: Runs = Path("runs/jobs"),
    out: Out = Path("results/synthetic"),
) -> None:
    """Work through the long jobs in order of value; may be stopped and repeated."""
    import time

    from studies.synthetic.lane import Lane
    from studies.synthetic.lanes import drive

    names = names_of_jobs(job)
    require(lanes >= 1, f"--lanes must be at least 1, got {lanes}")
    require(rehearse >= 0, f"--rehearse must not be negative, got {rehearse}")
    if lanes == 1:
        Lane(runs, out, time.monotonic() + 60 * minutes, rehearse).work(names)
        return
    same = ["--minutes", minutes, "--rehearse", rehearse, "--runs", runs, "--out", out]
    chosen = [part for name in job or () for part in ("--job", name)]
    drive(runs, [*map(str, same), *chosen], num_lanes=lanes, minutes=minutes)


@app.command()
def collect(
    to: Annotated[Path, typer.Argument(help="The folder to pack into.")],
    job: Names = None,
    rehearse: Annotated[int, typer.Option(help="As given to `jobs`.")] = 0,
    runs: Runs = Path("runs/jobs"),
    out: Out = Path("results/synthetic"),
) -> None:
    """Pack what `jobs` has made so far into a few files: rows, logs, and state to go on with."""
    from studies.synthetic import luggage
    from studies.synthetic.jobs import JOBS, job_of
    from studies.synthetic.lane import Lane

    names = [name for name in JOBS if not job or name in {job_of(n).name for n in job}]
    for line in luggage.collect(Lane(runs, out, rehearse=rehearse), to, names):
        print(line)


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="What `collect` packed.")],
    runs: Runs = Path("runs/jobs"),
    out: Out = Path("results/synthetic"),
) -> None:
    """Unpack what `collect` has packed: rows into the results, state where `jobs` goes on."""
    from studies.synthetic import luggage
    from studies.synthetic.lane import Lane

    for line in luggage.restore(source, Lane(runs, out)):
        print(line)


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = (
        Path("results/synthetic")
    ),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/synthetic.md"),
) -> None:
    """Write the results page from the committed results."""
    from studies.synthetic.page import render

    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(render(results))
    print(f"page: {out}")


@app.command()
def figures(
    run: Annotated[list[Path], typer.Argument(help="Folders of runs, or model files.")],
    variance: Annotated[Path | None, typer.Option(help="What `variance` wrote (JSON).")] = None,
    out: Annotated[Path, typer.Option(help="Where to draw.")] = Path("results/synthetic/figures"),
) -> None:
    """Draw the paper's figures, those for which the models are at hand."""
    from aloex.apps.synthetic.trained import load
    from studies import results
    from studies.synthetic.figures import write_all  # matplotlib loads slowly

    models = [load(path) for path in models_in(run)]
    rows = None if variance is None else results.read(variance)
    for path in write_all(models, out, gradient_rows=rows):
        print(f"figure: {path}")


def problems_of(names: list[str], seeds: int) -> "list[Problem]":
    """Every data set with every seed."""
    from aloex.apps.synthetic.train import Problem

    require(seeds >= 1, f"--seeds must be at least 1, got {seeds}")
    return [Problem(name, seed) for seed in range(seeds) for name in names]


def names_of_jobs(given: list[str] | None) -> list[str]:
    """The stages to work through, all of them unless some are named."""
    from studies.synthetic.jobs import NAMES, job_of

    for name in given or ():
        job_of(name)
    return [name for name in NAMES if not given or name in given]


def pair_of(name: str) -> tuple[str, str]:
    """aloe:best -> (aloe, best); the recipe may be left out."""
    method, _, recipe = name.partition(":")
    return method, recipe or "paper"


if __name__ == "__main__":
    run_app(app)
