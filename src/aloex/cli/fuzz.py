"""`aloex fuzz`: build targets, run inputs in them."""

import glob
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from aloex.errors import InputError, require

app = typer.Typer(
    help="Fuzzing: build instrumented targets and run inputs in them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


SHOWN_AT_ONCE = 1000  # inputs


@app.command()
def build(
    target: Annotated[
        str | None, typer.Argument(help="libpng, openjpeg, mpeg2dec, or a folder of yours.")
    ] = None,
    harness: Annotated[
        list[Path] | None, typer.Option(help="C or C++ with LLVMFuzzerTestOneInput.")
    ] = None,
    sources: Annotated[
        list[Path] | None, typer.Option(help="The code under test; may be repeated.")
    ] = None,
    include: Annotated[list[Path] | None, typer.Option(help="Folders of headers.")] = None,
    flag: Annotated[list[str] | None, typer.Option(help="For the compiler: --flag=-DX.")] = None,
    library: Annotated[list[str] | None, typer.Option(help="To link with: z for -lz.")] = None,
    seeds: Annotated[Path | None, typer.Option(help="A folder of inputs to start from.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to build; default: build/targets/<name>.")
    ] = None,
    asan: Annotated[
        bool, typer.Option("--asan", help="With AddressSanitizer too, to tell crashes apart.")
    ] = False,
) -> None:
    """Build a target: one of ours, a folder with a target.toml, or a harness and sources."""
    from aloex.apps.fuzz import build as building

    if target is not None:
        given = [harness, sources, include, flag, library, seeds]
        require(not any(given), "give either a target or --harness and --sources, not both")
        recipe = building.Recipe.load(target)
    else:
        if not harness:
            raise InputError("what is to be built? name a target, or give --harness FILE")
        for path in [*harness, *(sources or []), *(include or []), *([seeds] if seeds else [])]:
            require(path.exists(), f"there is no {path}; check the path")
        pattern = lambda path: glob.escape(str(path.absolute()))
        recipe = building.Recipe(
            name=harness[0].stem,
            folder=Path.cwd(),
            sources=[pattern(path) for path in sources or []],
            harness=[pattern(path) for path in harness],
            include=[str(path.absolute()) for path in include or []],
            flags=flag or [],
            libraries=library or [],
            seeds=[f"{pattern(seeds)}/*"] if seeds else [],
        )
    tell = lambda line: print(f"{recipe.name}: {line}", file=sys.stderr, flush=True)
    built = building.build(recipe, out, asan=asan, tell=tell)
    print(f"target: {built.library.parent}")
    if built.seeds is not None:
        print(f"seeds: {len(built.read_seeds())} in {built.seeds}")
    print(f"next: aloex fuzz replay {built.library.parent} FILES")


@app.command()
def replay(
    target: Annotated[str, typer.Argument(help="A built target, a library, a libFuzzer binary.")],
    files: Annotated[list[Path], typer.Argument(help="Inputs, or folders of inputs.")],
    timeout: Annotated[float, typer.Option(help="Seconds for one input.")] = 1.0,
    memory: Annotated[int, typer.Option(help="MiB that an input may allocate.")] = 2048,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all cores.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="The totals only.")] = False,
) -> None:
    """Run inputs and tell how each ends, how many edges it covers and how many of them are new."""
    from aloex.apps.fuzz.crashes import name_of
    from aloex.apps.fuzz.executor import Executor, Status
    from aloex.apps.fuzz.target import Target

    paths, endings = files_in(files), Counter()
    with Executor(
        Target.load(target), workers=workers, timeout=timeout, memory_mb=memory
    ) as executor:
        if not quiet:
            print("ending          edges    new  input")
        for start in range(0, len(paths), SHOWN_AT_ONCE):
            part = paths[start : start + SHOWN_AT_ONCE]
            outcomes = executor.run([path.read_bytes() for path in part])
            endings.update(outcomes.status.tolist())
            words = [Status(status).name.lower() for status in outcomes.status]
            for failure in outcomes.failures:
                if failure.status == Status.CRASH:
                    words[failure.index] += f" {name_of(failure.signal)}"
            for row in zip(words, outcomes.num_edges, outcomes.new_edges, part, strict=True):
                if not quiet:
                    print("{:14} {:6} {:6}  {}".format(*row), flush=True)
    counts = ", ".join(f"{endings[status]} {status.name.lower()}" for status in Status)
    print(f"inputs: {len(paths)} ({counts})")
    print(f"edges: {executor.edges} of {len(executor.seen)}")


def files_in(places: list[Path]) -> list[Path]:
    """The files named, and those in the folders named."""
    for place in places:
        require(place.exists(), f"there is no file {place}; check the path")
    found = [
        path
        for place in places
        for path in (sorted(place.rglob("*")) if place.is_dir() else [place])
        if path.is_file()
    ]
    require(len(found) > 0, f"there are no files in {', '.join(map(str, places))}")
    return found
