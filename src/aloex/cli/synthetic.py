"""`aloex synthetic`: train and evaluate the methods of the synthetic study."""

from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.base.errors import require
from aloex.cli.choices import (
    DataName,
    MethodName,
    PresetName,
    RecipeName,
    help_with_choices,
)

app = typer.Typer(
    help="The synthetic study: seven pictures in the plane, 32 bits each.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ALL = "all"
Data = Annotated[
    list[str],
    typer.Option(
        metavar=f"<{'|'.join([*DataName, ALL])}>",
        help=help_with_choices("A picture; may be repeated.", DataName) + f"\n{ALL}: all seven",
    ),
]
Method = Annotated[MethodName, typer.Option(help=help_with_choices("What learns it.", MethodName))]
Recipe = Annotated[RecipeName, typer.Option(help=help_with_choices("Settings.", RecipeName))]
Preset = Annotated[PresetName, typer.Option(help=help_with_choices("Sizes.", PresetName))]
Seeds = Annotated[list[int], typer.Option(help="May be repeated.")]
Steps = Annotated[int | None, typer.Option(help="Training steps, instead of the recipe's.")]


@app.command()
def train(
    data: Data = ["pinwheel"],  # noqa: B006
    method: Method = MethodName.ALOE,
    recipe: Recipe = RecipeName.PAPER,
    preset: Preset = PresetName.PAPER,
    seed: Seeds = [0],  # noqa: B006
    steps: Steps = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; default: runs/...")] = None,
) -> None:
    """Train one method, on several data sets and seeds at once; repeat the command to go on."""
    from aloex.apps.synthetic import methods
    from aloex.apps.synthetic import train as training

    settings = methods.choose(method.value, recipe.value, preset.value, **changes_of(steps))
    problems = [training.Problem(name, number) for number in seed for name in names_of(data)]
    label = "-".join([method, recipe, preset, *data, *map(str, seed)])
    folder = out or Path("runs/synthetic") / label
    for path in training.train(folder, settings, problems, recipe=recipe.value):
        print(f"model: {path}")
    print(f"next: aloex synthetic eval {folder}")


@app.command("eval")
def evaluate(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or a model file.")],
) -> None:
    """NLL above the floor and MMD of trained models, exact where there is an accelerator."""
    from aloex.apps.synthetic.rated import rated

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
    from aloex.apps.synthetic.rated import write_log_z

    for path in models_in(run):
        value = write_log_z(path)
        print(f"{path}: " + ("normalised, no log Z" if value is None else f"log Z = {value:.6f}"))


def names_of(data: list[str]) -> list[str]:
    """Data sets by name; `all` is all of them, whatever else is named."""
    from aloex.apps.synthetic.data import DATA_SETS, DataSet

    return list(DATA_SETS) if ALL in data else [DataSet(name).name for name in data]


def changes_of(steps: int | None) -> dict[str, Any]:
    """What the command line changes in the recipe."""
    require(steps is None or steps >= 1, f"--steps must be at least 1, got {steps}")
    return {} if steps is None else {"num_steps": steps}


def models_in(paths: list[Path]) -> list[Path]:
    """The model files named, and those in the folders named; parts of checkpoints are none."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*.safetensors")) if path.is_dir() else [path]
        found += [file for file in inside if "checkpoints" not in file.relative_to(path).parts]
    names = ", ".join(map(str, paths))
    require(len(found) > 0, f"there are no models in {names}; train one: aloex synthetic train")
    return found
