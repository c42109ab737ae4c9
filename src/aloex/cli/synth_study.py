"""`aloex synth tasks`, `study`, `page`: tasks made, the version space measured, a page on it."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from aloex.cli.numbers import listed
from aloex.errors import require

Results = Annotated[Path, typer.Option(help="Folder of the results.")]


def tasks(
    out: Annotated[Path, typer.Option(help="Where to write them; it should end in .tsv.xz.")],
    number: Annotated[int, typer.Option("--number", "-n", help="How many.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the endless set that they are taken from.")] = 100,
    first: Annotated[int, typer.Option(help="The number of the first.")] = 0,
) -> None:
    """Make tasks: programs with ten examples each."""
    from aloex.apps.synth.tasks import FROZEN, generate, save

    taken = {of_set for of_set, *_ in FROZEN.values()}
    require(seed not in taken, f"seed {seed} is that of a frozen set; take another")
    save(out, generate(number, seed=seed, first=first).tasks())
    print(f"{number} tasks: {out}")


def study(
    number: Annotated[int, typer.Option("--number", "-n", help="Tasks of the test set.")] = 1000,
    public: Annotated[str, typer.Option(help="Numbers of public examples.")] = "1,2,3,4",
    out: Results = Path("results/synth"),
) -> None:
    """Measure the version space on the frozen test tasks, and the generator's speed."""
    from aloex.apps.results import save
    from aloex.apps.synth import study as measure
    from aloex.apps.synth.tasks import FROZEN, frozen

    counts = listed(public, "--public")
    chosen = frozen("test")[:number]
    require(len(chosen) > 0, f"--number must be positive, got {number}")
    require(all(1 <= count <= 4 for count in counts), f"--public must be 1 to 4, got {public}")
    rows = [{"set": name, **measure.statistics(frozen(name))} for name in FROZEN]
    rows.append({"set": "speed", **measure.speed()})
    rows.append({"set": "solved", **measure.solved(frozen("test"))})
    save(out / "tasks.json", rows, ("set",))
    for model in measure.MODELS:
        for count in counts:
            row = measure.evaluate(chosen, model, count)
            line = f"{model}, {count} public: top-1 {row['top1']:.1%}, top-10 {row['top10']:.1%}"
            print(line, file=sys.stderr, flush=True)
            save(out / "version_space.json", [row], ("model", "public_examples"), quiet=True)
    print(f"wrote {out / 'version_space.json'}")


def page(
    results: Results = Path("results/synth"),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/synth_tasks.md"),
) -> None:
    """Write the page on the tasks from the study's rows."""
    from aloex.apps.results import read
    from aloex.apps.synth import tasks_page

    names = ("tasks.json", "version_space.json", "summary.json")
    out.write_text(tasks_page.render(*(read(results / name) for name in names)))
    print(f"page: {out}")
