"""`aloex synth tasks`, `page`: tasks made, and a page on them and on what solves them."""

from pathlib import Path
from typing import Annotated

import typer


def tasks(
    out: Annotated[Path, typer.Option(help="Where to write them; it should end in .tsv.xz.")],
    number: Annotated[int, typer.Option("--number", "-n", help="How many.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the endless set that they are taken from.")] = 100,
    first: Annotated[int, typer.Option(help="The number of the first.")] = 0,
) -> None:
    """Make tasks: programs with ten examples each."""
    from aloex.apps.synth.tasks import generate, require_free, save

    require_free(seed)
    save(out, generate(number, seed=seed, first=first).tasks())
    print(f"{number} tasks: {out}")


def page(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/synth"),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/synth_tasks.md"),
) -> None:
    """Write the page on the tasks, and its figure, from what `table` found."""
    from aloex.apps.synth import network_page, tasks_page

    rows, repairs = tasks_page.read_rows(results)
    if network_page.edited(network_page.networks(rows, num_public=4)):
        from aloex.apps.synth.network_figure import figure  # matplotlib loads slowly

        path = out.parent / "images/synth/networks.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure(rows).savefig(path, dpi=150)
        print(f"figure: {path}")
    out.write_text(tasks_page.render(rows, repairs))
    print(f"page: {out}")
