"""`aloex fuzz learn`: a model of the bytes of a corpus."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from aloex.base.errors import require
from aloex.base.extras import require_extra
from aloex.cli.choices import help_with_choices
from aloex.cli.fuzz.choices import LearnMethod
from aloex.cli.options import Resume, Seed


def learn(
    corpus: Annotated[Path, typer.Argument(help="A folder of inputs.")],
    out: Annotated[Path, typer.Option(help="The model file to write: model.safetensors.")],
    method: Annotated[
        LearnMethod, typer.Option(help=help_with_choices("How it is learned.", LearnMethod))
    ] = LearnMethod.MASKED,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Examples per step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of Adam.")] = None,
    held_out: Annotated[float, typer.Option(help="Fraction of the files held out.")] = 0.1,
    seed: Seed = 0,
    resume: Resume = False,
) -> None:
    """Learn which bytes occur where in a corpus, for aloex fuzz run --model.

    The run is kept in a folder beside the model. A run that was stopped is resumed with --resume.
    """
    require(out.suffix == ".safetensors", f"--out must end in .safetensors, got {out}")
    require(corpus.exists(), f"there is no corpus {corpus}; check the path")
    require_extra("learn")
    from aloex.apps.fuzz.model import learn_to_file  # JAX loads slowly

    asked = {"num_steps": steps, "batch_size": batch_size, "learning_rate": learning_rate}
    found = learn_to_file(
        corpus,
        out,
        method=method.value,
        held_out=held_out,
        seed=seed,
        resume=resume,
        tell=lambda line: print(line, file=sys.stderr),
        **{name: value for name, value in asked.items() if value is not None},
    )
    print(f"learned from: {len(found.learned_from)} files, {found.learned_from.num_bytes} bytes")
    if found.held_out is not None:
        num_files = len(found.held_out)
        print(f"log probability of a byte of the {num_files} files held out (by chance: -5.545)")
    for fraction, value in found.quality.items():
        print(f"  {fraction:4.0%} of its context visible: {value:.3f}")
    print(f"model: {out}")
    print(f"next: aloex fuzz run TARGET --model {out}")
