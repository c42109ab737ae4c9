"""`python -m studies.fuzz`: fuzzers and mutators compared, and the pages on them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.base.errors import InputError
from aloex.cli.options import listed, whole_or_share
from studies.command import command_line, run_app

app = command_line("Which mutants cover most? Methods, libFuzzer and AFL++ on the same targets.")


@app.command("run")
def study(
    target: Annotated[list[str], typer.Argument(help="Built targets, with seeds.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="uniform, other-seed, numbers; with --models how they were learned: masked, "
            "aloe, ..."
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a model: mixed, place, context, best, paper, union (with libFuzzer)."
        ),
    ] = None,
    models: Annotated[
        Path | None, typer.Option(help="A folder with files TARGET.METHOD.safetensors.")
    ] = None,
    edits: Annotated[
        str, typer.Option(help="Edits of a mutant, or shares of its bytes below 1, each a line.")
    ] = "1,3,10,30,100",
    inputs: Annotated[str, typer.Option(help="When to read off the coverage.")] = (
        "300,1000,3000,10000"
    ),
    trials: Annotated[int, typer.Option(help="Repeats with other seeds of randomness.")] = 10,
    first_trial: Annotated[
        int, typer.Option(help="The first of these seeds: others than a method was tuned with.")
    ] = 0,
    timeout: Annotated[float, typer.Option(help="Seconds for one input.")] = 1.0,
    memory: Annotated[int, typer.Option(help="MiB that an input may allocate.")] = 2048,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all cores.")] = None,
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = (
        Path("results/fuzz/summary.json")
    ),
) -> None:
    """Compare mutators that learn nothing from the target. May be stopped and repeated."""
    from aloex.apps.fuzz.target import Target
    from studies.fuzz import study as comparison
    from studies.fuzz.compare import table
    from studies.fuzz.mutators import PLAIN_MUTATORS
    from studies.results import read

    sweep = listed(edits, "--edits", whole_or_share)
    counts = listed(inputs, "--inputs")
    wanted = method or [*PLAIN_MUTATORS]
    by_model = [name for name in wanted if name in comparison.LEARNED]
    if by_model and models is None:
        raise InputError(f"{by_model[0]} needs --models FOLDER, with what aloex fuzz learn wrote")
    plain = comparison.lines([name for name in wanted if name not in comparison.LEARNED], sweep)
    limits: dict[str, Any] = {"timeout": timeout, "memory_mb": memory, "workers": workers}
    for loaded in [Target.load(name) for name in target]:
        todo = list(plain)
        for name in by_model if method else comparison.LEARNED:
            file = (models or Path()) / f"{loaded.name}.{name}.safetensors"
            if method or (models and file.exists()):  # one that is asked for is missed
                todo += comparison.model_lines(file, sweep, mode)
        tell = lambda line, name=loaded.name: print(f"{name}: {line}", file=sys.stderr, flush=True)
        how: dict[str, Any] = {
            "trials": trials,
            "first_trial": first_trial,
            "counts": counts,
            "tell": tell,
        }
        comparison.make(loaded, todo, out, **how, **limits)
    print(table(read(out), max(counts)))


@app.command("equal")
def equal_(
    targets: Annotated[
        str, typer.Option(help="Built targets by name or folder, with commas between them.")
    ] = "libpng,openjpeg,mpeg2dec",
    fuzzers: Annotated[
        str, typer.Option(help="Of aloex, libfuzzer, aflpp; aloex+masked: with a model.")
    ] = "aloex,libfuzzer,aflpp",
    models: Annotated[
        Path | None, typer.Option(help="A folder with files TARGET.masked.safetensors.")
    ] = None,
    inputs: Annotated[str, typer.Option(help="When to read off the coverage.")] = (
        "1000,10000,100000,1000000"
    ),
    trials: Annotated[int, typer.Option(min=1, help="Repeats with other seeds.")] = 10,
    first_trial: Annotated[int, typer.Option(min=0, help="The first of these seeds.")] = 0,
    cores: Annotated[str, typer.Option(help="One job at a time on each: 0-3,6.")] = "0",
    within: Annotated[float | None, typer.Option(help="Seconds; start no job later.")] = None,
    takes: Annotated[float, typer.Option(help="Seconds of the longest job, for --within.")] = 60.0,
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = (
        Path("results/fuzz/equal.json")
    ),
) -> None:
    """Coverage at equal executions, one core for each fuzzer. May be stopped and repeated."""
    from studies.fuzz import equal
    from studies.fuzz.jobs import cores_in

    left = equal.make(
        targets.split(","),
        fuzzers.split(","),
        out,
        trials=range(first_trial, first_trial + trials),
        cores=cores_in(cores),
        counts=listed(inputs, "--inputs"),
        models=models,
        takes=takes,
        within=within,
        tell=lambda line: print(line, file=sys.stderr, flush=True),
    )
    print(f"rows: {out}")
    if left:
        print(f"left: {left} jobs; repeat the command")


@app.command("seconds")
def seconds_(
    targets: Annotated[
        str, typer.Option(help="Built targets by name or folder, with commas between them.")
    ] = "libpng,openjpeg,mpeg2dec",
    fuzzers: Annotated[
        str, typer.Option(help="Of aloex, libfuzzer, aflpp; 'aloex:OPTIONS' for a variant of ours.")
    ] = "aloex,libfuzzer,aflpp",
    seconds: Annotated[float, typer.Option(min=1, help="By the clock, for each.")] = 60.0,
    trials: Annotated[int, typer.Option(min=1, help="Repeats with other seeds.")] = 10,
    first_trial: Annotated[int, typer.Option(min=0, help="The first of these seeds.")] = 0,
    cores: Annotated[str, typer.Option(help="One job at a time on each: 0-3,6.")] = "0",
    seed: Annotated[int, typer.Option(help="Of the order of the jobs.")] = 0,
    within: Annotated[
        float | None, typer.Option(help="Start no job that would end later, in seconds from now.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = (
        Path("results/fuzz/seconds.json")
    ),
) -> None:
    """Coverage at equal wall-clock, one core for each fuzzer. May be stopped and repeated."""
    from aloex.apps.fuzz.target import Target
    from studies.fuzz import seconds as by_the_clock
    from studies.fuzz.fuzzers import what_is_missing
    from studies.fuzz.jobs import cores_in

    names = targets.split(",")
    tell = lambda line: print(line, file=sys.stderr, flush=True)
    for name in names:
        for line in what_is_missing(Target.load(name)):
            tell(line)
    left = by_the_clock.make(
        names,
        fuzzers.split(","),
        out,
        seconds=seconds,
        trials=range(first_trial, first_trial + trials),
        cores=cores_in(cores),
        seed=seed,
        within=within,
        tell=tell,
    )
    print(f"rows: {out}")
    if left:
        print(f"left: {left} jobs; repeat the command")


@app.command("anatomy")
def anatomy_(
    targets: Annotated[
        str, typer.Option(help="Built targets by name or folder, with commas between them.")
    ] = "libpng,openjpeg,mpeg2dec",
    seconds: Annotated[float, typer.Option(min=1, help="By the clock, for each.")] = 60.0,
    trial: Annotated[int, typer.Option(min=0, help="Seed of the fuzzers.")] = 0,
    cores: Annotated[str, typer.Option(help="One target at a time on each: 0-3,6.")] = "0",
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = (
        Path("results/fuzz/anatomy.json")
    ),
) -> None:
    """Which edges libFuzzer reaches and Aloex does not, and the reverse, by function: one trial."""
    from studies.fuzz import anatomy
    from studies.fuzz.jobs import cores_in
    from studies.results import save

    def keep(rows: list[dict[str, Any]]) -> None:
        save(out, rows, anatomy.KEYS, quiet=True)
        for row in rows:
            edges = f"{row['both']} by both, {row['ours']} by Aloex, {row['theirs']} by libFuzzer"
            print(f"{row['target']}: {edges}", file=sys.stderr, flush=True)

    names = targets.split(",")
    anatomy.make(names, seconds=seconds, trial=trial, cores=cores_in(cores), save=keep)
    print(f"rows: {out}")


@app.command("speed")
def speed_(
    targets: Annotated[
        str, typer.Option(help="Built targets by name or folder, with commas between them.")
    ] = "libpng,openjpeg,mpeg2dec",
    seconds: Annotated[float, typer.Option(min=1, help="Of a campaign, by the clock.")] = 60.0,
    trials: Annotated[int, typer.Option(min=1, help="Repeats with other seeds.")] = 3,
    cases: Annotated[str, typer.Option(help="Of outside, workers.")] = "outside,workers",
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = Path("results/fuzz/speed.json"),
) -> None:
    """What share of a campaign passes outside the target, and what a second worker adds."""
    from studies.fuzz import speed
    from studies.results import save

    for target in targets.split(","):
        rows = speed.rows_of(target, cases.split(","), seconds=seconds, trials=trials)
        for row in rows:
            what = row["outside"] if row["case"] == "outside" else row["ratio"]
            print(f"{row['target']}, {row['case']}, trial {row['trial']}: {what}", file=sys.stderr)
        save(out, rows, speed.KEYS, quiet=True)
    print(f"rows: {out}")


@app.command()
def plant(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="tiles, ledger, vault, parcel, mesh; or cares, an old library."),
    ] = None,
) -> None:
    """Build targets with faults for all fuzzers: the small ones of ours, or those named."""
    from studies.fuzz import old_library, planted

    for name in names or planted.NAMES:
        tell = lambda line, name=name: print(f"{name}: {line}", file=sys.stderr, flush=True)
        if name in old_library.NAMES:
            target = old_library.build(name, tell=tell)
        else:
            target = planted.build(planted.HOME / name, tell=tell)
        print(f"{target.library.parent}: {', '.join(faults_of(name))}")


def faults_of(name: str) -> list[str]:
    """The names of the faults of a target."""
    from studies.fuzz import old_library, planted

    if name in old_library.NAMES:
        return [*old_library.known(name).values()]
    return planted.faults(planted.HOME / name / "harness.c")


@app.command("bugs")
def bugs_(
    targets: Annotated[
        str, typer.Option(help="By name or folder, with commas between them.")
    ] = "tiles,ledger,vault,parcel,mesh",
    fuzzers: Annotated[
        str, typer.Option(help="Of aloex, libfuzzer, aflpp; 'aloex:OPTIONS' for a variant of ours.")
    ] = "aloex,libfuzzer,aflpp",
    seconds: Annotated[float, typer.Option(min=1, help="By the clock, for each.")] = 60.0,
    trials: Annotated[int, typer.Option(min=1, help="Repeats with other seeds.")] = 10,
    first_trial: Annotated[int, typer.Option(min=0, help="The first of these seeds.")] = 0,
    cores: Annotated[str, typer.Option(help="One job at a time on each: 0-3,6.")] = "0",
    seed: Annotated[int, typer.Option(help="Of the order of the jobs.")] = 0,
    within: Annotated[
        float | None, typer.Option(help="Start no job that would end later, in seconds from now.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = Path("results/fuzz/bugs.json"),
) -> None:
    """When is each planted fault hit first? After `plant`. May be stopped and repeated."""
    from studies.fuzz import bugs
    from studies.fuzz.jobs import cores_in

    left = bugs.make(
        targets.split(","),
        fuzzers.split(","),
        out,
        seconds=seconds,
        trials=range(first_trial, first_trial + trials),
        cores=cores_in(cores),
        seed=seed,
        within=within,
        tell=lambda line: print(line, file=sys.stderr, flush=True),
    )
    print(f"rows: {out}")
    if left:
        print(f"left: {left} jobs; repeat the command")


@app.command("bug-table")
def bug_table(
    rows: Annotated[list[Path], typer.Argument(help="What `bugs` wrote.")],
    seconds: Annotated[float, typer.Option(help="Which rows.")] = 60.0,
    ours: Annotated[str, typer.Option(help="Which of our variants is held against others.")] = (
        "aloex"
    ),
    out: Annotated[Path | None, typer.Option(help="Join the rows in this file.")] = None,
) -> None:
    """Show the rows of `bugs`: who hit which fault, in how many trials, and when."""
    from studies.fuzz import bugs, old_library, planted
    from studies.fuzz.seconds import KEYS
    from studies.results import join, save

    joined = join(rows, KEYS)
    if out is not None:
        save(out, joined, KEYS)
    there = {row["target"] for row in joined}
    for names in (planted.NAMES, old_library.NAMES):
        if there & {*names}:
            faults = {name: faults_of(name) for name in names}
            print(bugs.table(joined, seconds, faults, ours))


@app.command("table")
def table_(
    rows: Annotated[list[Path], typer.Argument(help="What `seconds` wrote.")],
    seconds: Annotated[float, typer.Option(help="Which rows.")] = 60.0,
    out: Annotated[Path | None, typer.Option(help="Join the rows in this file.")] = None,
) -> None:
    """Show the rows of `seconds`: medians, values, and whether one is ahead by more than chance."""
    from studies.fuzz import seconds as by_the_clock
    from studies.results import join, save

    joined = join(rows, by_the_clock.KEYS)
    if out is not None:
        save(out, joined, by_the_clock.KEYS)
    print(by_the_clock.table(joined, seconds))


@app.command()
def carry(
    to: Annotated[Path, typer.Option(help="The folder to fill and to pack.")] = (
        Path("build/carried")
    ),
    targets: Annotated[
        str, typer.Option(help="Built targets by name or folder, with commas between them.")
    ] = "libpng,openjpeg,mpeg2dec",
    models: Annotated[
        Path | None, typer.Option(help="A folder of models TARGET.safetensors to take along.")
    ] = None,
) -> None:
    """Pack what the study needs on a machine without compilers and AFL++ into one archive."""
    from studies.fuzz.carry import fill

    print(fill(to, targets.split(","), models))


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="What the study wrote.")] = (
        Path("results/fuzz/summary.json")
    ),
    equal: Annotated[Path, typer.Option(help="Rows of aloex and other fuzzers, if any.")] = (
        Path("results/fuzz/equal.json")
    ),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/fuzz_study.md"),
) -> None:
    """Write the study's page and figure from its rows."""
    from studies.fuzz import page
    from studies.results import read

    rows = read(results)
    _write(out, page.render(rows, read(equal) if equal.exists() else None))
    _draw(page.figure(rows), "study", out, results)


@app.command("seconds-page")
def seconds_page_(
    results: Annotated[Path, typer.Option(help="What `seconds` wrote.")] = (
        Path("results/fuzz/seconds.json")
    ),
    left_out: Annotated[
        Path, typer.Option(help="Rows of variants of ours that lack one guide each, or have more.")
    ] = Path("results/fuzz/leave_one_out.json"),
    speed: Annotated[Path, typer.Option(help="What `speed` wrote.")] = (
        Path("results/fuzz/speed.json")
    ),
    anatomy: Annotated[Path, typer.Option(help="What `anatomy` wrote.")] = (
        Path("results/fuzz/anatomy.json")
    ),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/fuzz_seconds.md"),
) -> None:
    """Write the page on coverage by the clock and its figure from the rows."""
    from studies.fuzz import seconds_page
    from studies.results import read

    rows = read(results)
    _write(out, seconds_page.render(rows, read(left_out), read(speed), read(anatomy)))
    _draw(seconds_page.figure(rows), "seconds", out, results)


@app.command("bugs-page")
def bugs_page_(
    results: Annotated[Path, typer.Option(help="What `bugs` wrote.")] = (
        Path("results/fuzz/bugs.json")
    ),
    seconds: Annotated[float, typer.Option(help="Which rows.")] = 60.0,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/fuzz_planted.md"),
) -> None:
    """Write the page on planted bugs and its figure from the rows."""
    from studies.fuzz import bugs_page
    from studies.results import read

    rows = read(results)
    _write(out, bugs_page.render(rows, seconds))
    _draw(bugs_page.figure(rows, seconds), "planted", out, results)


def _write(page: Path, text: str) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
    print(f"page: {page}")


def _draw(figure: Any, name: str, page: Path, results: Path) -> None:
    """Save a figure beside the images of its page and beside its rows."""
    from matplotlib import rc_context

    images = page.parent / "images/fuzz"
    images.mkdir(parents=True, exist_ok=True)
    paths = images / f"{name}.png", *(results.with_name(f"{name}.{end}") for end in ("png", "svg"))
    with rc_context({"svg.hashsalt": "aloex"}):  # the same file each time it is written
        for path in paths:
            undated = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, dpi=150, metadata=undated)


if __name__ == "__main__":
    run_app(app)
