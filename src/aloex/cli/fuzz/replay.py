"""`aloex fuzz replay` and `aloex fuzz coverage`: run given inputs in a target."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from aloex.base.errors import require

SHOWN_AT_ONCE = 1000  # inputs

Files = Annotated[list[Path], typer.Argument(help="Inputs, or folders of inputs.")]


def replay(
    target: Annotated[str, typer.Argument(help="A built target, a library, a libFuzzer binary.")],
    files: Files,
    timeout: Annotated[float, typer.Option(help="Seconds that an input may take.")] = 1.0,
    memory: Annotated[int, typer.Option(help="MiB that an input may allocate.")] = 2048,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all cores.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the totals only.")] = False,
) -> None:
    """Run inputs. Prints for each how it ends, the number of its edges, and how many are new.

    The exit status is 1 if one of them crashes, hangs or takes too much memory.
    """
    from aloex.apps.fuzz.target import Target

    paths, built, endings = files_in(files), Target.load(target), Counter()
    from aloex.apps.fuzz.bugs import signal_name  # NumPy loads slowly
    from aloex.apps.fuzz.execute import Executor
    from aloex.apps.fuzz.inputs import ExitStatus

    with Executor(built, workers=workers, timeout=timeout, memory_mb=memory) as executor:
        if not quiet:
            print("ending          edges    new  input")
        for start in range(0, len(paths), SHOWN_AT_ONCE):
            part = paths[start : start + SHOWN_AT_ONCE]
            outcomes = executor.run([path.read_bytes() for path in part])
            endings.update(outcomes.status.tolist())
            words = [ExitStatus(status).name.lower() for status in outcomes.status]
            for failure in outcomes.failures:
                if failure.status == ExitStatus.CRASH:
                    words[failure.index] += f" {signal_name(failure.signal)}"
            for row in zip(words, outcomes.num_edges, outcomes.new_edges, part, strict=True):
                if not quiet:
                    print("{:14} {:6} {:6}  {}".format(*row), flush=True)
    counts = ", ".join(f"{endings[status]} {status.name.lower()}" for status in ExitStatus)
    print(f"inputs: {len(paths)} ({counts})")
    print(f"edges: {executor.edges} of {len(executor.seen)}")
    if endings[ExitStatus.OK] < len(paths):
        raise typer.Exit(1)


def coverage(
    target: Annotated[str, typer.Argument(help="A target that was built with --coverage.")],
    files: Files,
    out: Annotated[Path, typer.Option(help="Folder of the pages.")] = Path("coverage"),
) -> None:
    """Write pages that show, line by line, what the inputs reach in the source of the target."""
    from aloex.apps.fuzz.target import Target

    built, paths = Target.load(target), files_in(files)
    from aloex.apps.fuzz.report import write_line_coverage  # NumPy loads slowly

    totals = write_line_coverage(built, paths, out)
    for kind, (covered, count) in totals.items():
        print(f"{kind}: {covered} of {count} ({covered / max(count, 1):.0%})")
    print(f"pages: {out / 'index.html'}")


def files_in(paths: list[Path]) -> list[Path]:
    """The files named, and those in the folders named."""
    for path in paths:
        require(path.exists(), f"there is no file {path}; check the path")
    found = [
        file
        for path in paths
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file()
    ]
    require(len(found) > 0, f"there are no files in {', '.join(map(str, paths))}")
    return found
