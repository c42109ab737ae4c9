"""`aloex synthetic`: train, evaluate and draw the study's models."""

from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.errors import require

app = typer.Typer(
    help="The synthetic study: seven pictures in the plane, 32 bits each.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Recipe = Annotated[str, typer.Option(help="paper, or best (what our ablation found).")]
Preset = Annotated[str, typer.Option(help="paper (full size), or quick (minutes on a CPU).")]
Steps = Annotated[int | None, typer.Option(help="Training steps, instead of the recipe's.")]
Data = Annotated[list[str], typer.Option(help="A data set, or all; may be repeated.")]


@app.command()
def train(
    data: Data = ["pinwheel"],  # noqa: B006
    method: Annotated[str, typer.Option(help="aloe, pcd, ade, ...; a wrong one lists all.")] = (
        "aloe"
    ),
    recipe: Recipe = "paper",
    preset: Preset = "paper",
    seed: Annotated[list[int], typer.Option(help="May be repeated.")] = [0],  # noqa: B006
    steps: Steps = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; default: runs/...")] = None,
) -> None:
    """Train one method, on several data sets and seeds at once; repeat the command to go on."""
    from aloex.apps.synthetic import methods
    from aloex.apps.synthetic import train as training

    settings = methods.choose(method, recipe, preset, **changes_of(steps))
    problems = [training.Problem(name, number) for number in seed for name in names_of(data)]
    label = "-".join([method, recipe, preset, *data, *map(str, seed)])
    folder = out or Path("runs/synthetic") / label
    for path in training.train(folder, settings, problems, recipe=recipe):
        print(f"model: {path}")
    print(f"next: aloex synthetic eval {folder}")


@app.command("eval")
def evaluate(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or a model file.")],
) -> None:
    """NLL above the floor and MMD of trained models, exact where there is an accelerator."""
    from aloex.apps.synthetic.table import rated

    for path in models_in([run]):
        row = rated(path)
        print(f"{row['method']} ({row['recipe']}) on {row['data']}, seed {row['seed']}:")
        for name in ("nll_minus_floor", "mmd_exp", "mmd_linear", "short_mmd_exp", "q_mmd_exp"):
            if name in row:
                error = row["nll_se" if name.startswith("nll") else f"{name}_se"]
                print(f"  {name:16} {row[name]: .6f} ± {error:.6f}")
        print(f"  all of it: {path.with_suffix('.json')}")


@app.command("log-z")
def log_z(
    run: Annotated[list[Path], typer.Argument(help="Folders of runs, or model files.")],
) -> None:
    """Exact log Z by visiting all 2^32 states, which takes an accelerator; `eval` then uses it."""
    from aloex.apps.synthetic.table import write_log_z

    for path in models_in(run):
        value = write_log_z(path)
        print(f"{path}: " + ("normalised, no log Z" if value is None else f"log Z = {value:.6f}"))


Runs = Annotated[Path, typer.Option(help="Folder of the runs.")]
Out = Annotated[Path, typer.Option(help="Folder of the results.")]
Estimate = Annotated[bool, typer.Option("--estimate", help="log Z by importance sampling only.")]
Methods = Annotated[
    list[str] | None, typer.Option(help="As method or method:recipe; default: all.")
]
Seeds = Annotated[int, typer.Option(help="Number of seeds, from 0.")]


@app.command()
def table(
    method: Methods = None,
    preset: Preset = "paper",
    data: Data = ["all"],  # noqa: B006
    seeds: Seeds = 3,
    steps: Steps = None,
    estimate: Estimate = False,
    repeats: Annotated[int, typer.Option(help="Repeats of each MMD; 0: without MMD.")] = 10,
    runs: Runs = Path("runs/table"),
    out: Out = Path("results/synthetic"),
) -> None:
    """Train and evaluate everything that is still missing; may be stopped and repeated."""
    from aloex.apps.synthetic import table

    pairs = table.ALL if not method else [pair_of(name) for name in method]
    lines = table.entries(pairs, preset, **changes_of(steps))
    names = names_of(data)
    problems = problems_of(names, seeds)
    how = {"estimate": estimate, "num_repeats": repeats}
    table.make(lines, problems, runs=runs, summary=out / "summary.json", **how)
    table.references(out, names)


@app.command()
def ablation(
    preset: Preset = "paper",
    data: Data = ["all"],  # noqa: B006
    seeds: Seeds = 3,
    steps: Steps = None,
    estimate: Estimate = False,
    runs: Runs = Path("runs/ablation"),
    out: Out = Path("results/synthetic"),
) -> None:
    """What each ingredient of ALOE's best recipe is worth; may be stopped and repeated."""
    from aloex.apps.synthetic import table

    lines = table.ablation(preset, **changes_of(steps))
    problems = problems_of(names_of(data), seeds)
    table.make(lines, problems, runs=runs, summary=out / "ablation.json", estimate=estimate)


@app.command()
def tune(
    method: Methods = None,
    preset: Preset = "paper",
    data: Data = ["pinwheel", "checkerboard"],  # noqa: B006
    seeds: Seeds = 1,
    steps: Steps = None,
    runs: Runs = Path("runs/tuning"),
    out: Out = Path("results/synthetic"),
) -> None:
    """The grids over settings of PCD, ADE and ALOE; may be stopped and repeated."""
    from aloex.apps.synthetic import table

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
    preset: Preset = "paper",
    seeds: Seeds = 3,
    steps: Steps = None,
    points: Annotated[int, typer.Option(help="How often to pause and measure.")] = 10,
    runs: Runs = Path("runs/variance"),
    out: Out = Path("results/synthetic"),
) -> None:
    """Variance of the sampler's gradient during training, ADE against ALOE, on pinwheel."""
    from aloex.apps import results
    from aloex.apps.synthetic import gradient_variance

    for method in gradient_variance.METHODS:
        rows = gradient_variance.measure(
            runs, method, preset=preset, seeds=seeds, num_points=points, **changes_of(steps)
        )
        keys = ("method", "data", "seed", "step")
        results.save(out / "gradient_variance.json", rows, keys)


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = (
        Path("results/synthetic")
    ),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/synthetic.md"),
) -> None:
    """Write the results page from the committed results."""
    from aloex.apps.synthetic.page import render

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
    from aloex.apps import results
    from aloex.apps.synthetic.figures import write_all  # matplotlib loads slowly
    from aloex.apps.synthetic.trained import load

    models = [load(path) for path in models_in(run)]
    rows = None if variance is None else results.read(variance)
    for path in write_all(models, out, gradient_rows=rows):
        print(f"figure: {path}")


def names_of(data: list[str]) -> list[str]:
    """Data sets by name, or all of them."""
    from aloex.apps.synthetic.data import DATA_SETS, DataSet

    return list(DATA_SETS) if data == ["all"] else [DataSet(name).name for name in data]


def problems_of(names: list[str], seeds: int) -> list:
    """Every data set with every seed."""
    from aloex.apps.synthetic.train import Problem

    require(seeds >= 1, f"--seeds must be at least 1, got {seeds}")
    return [Problem(name, seed) for seed in range(seeds) for name in names]


def changes_of(steps: int | None) -> dict[str, Any]:
    """What the command line changes in the recipe."""
    require(steps is None or steps >= 1, f"--steps must be at least 1, got {steps}")
    return {} if steps is None else {"num_steps": steps}


def pair_of(name: str) -> tuple[str, str]:
    """aloe:best -> (aloe, best); the recipe may be left out."""
    method, _, recipe = name.partition(":")
    return method, recipe or "paper"


def models_in(places: list[Path]) -> list[Path]:
    """The model files named, and those in the folders named."""
    found = [
        path
        for place in places
        for path in (sorted(place.rglob("*.safetensors")) if place.is_dir() else [place])
    ]
    names = ", ".join(map(str, places))
    require(len(found) > 0, f"there are no models in {names}; train one: aloex synthetic train")
    return found
