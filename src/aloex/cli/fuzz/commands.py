"""`aloex fuzz`: build targets, run inputs in them, look for new ones."""

import glob
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.base.errors import InputError, require
from aloex.cli.fuzz.mutators import maker_of
from aloex.cli.options import listed, whole_or_share

app = typer.Typer(
    help="Fuzzing: build instrumented targets, run inputs in them, look for new ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SHOWN_AT_ONCE = 1000  # inputs
BATCH = 4000  # mutants, for a mutator that does not say


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
    coverage: Annotated[
        bool, typer.Option("--coverage", help="With line counts too, for aloex fuzz coverage.")
    ] = False,
    afl: Annotated[bool, typer.Option("--afl", help="For AFL++ too.")] = (False),
) -> None:
    """Build a target: one of ours, a folder with a target.toml, or a harness and sources."""
    from aloex.apps.fuzz.target import build as building

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
    extras = {"asan": asan, "coverage": coverage, "afl": afl}
    built = building.build(recipe, out, **extras, tell=tell)
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
    from aloex.apps.fuzz.campaign.crashes import name_of
    from aloex.apps.fuzz.execute.executor import Executor, Status
    from aloex.apps.fuzz.target.target import Target

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


@app.command()
def run(
    target: Annotated[str, typer.Argument(help="A built target, a library, a libFuzzer binary.")],
    mutator: Annotated[
        str,
        typer.Option(
            help="adaptive: learns from what it covers, with --model or without; uniform; "
            "other-seed: bytes of other seeds; numbers: changed as such; learned: by --model; "
            "best: too, with settings by what the model knows; resample: too, byte after byte."
        ),
    ] = "adaptive",
    model: Annotated[Path | None, typer.Option(help="What aloex fuzz learn wrote.")] = None,
    level: Annotated[
        str, typer.Option(help="For learned: belief in the context, numbers from 0 to 1.")
    ] = "mixed",
    temperature: Annotated[
        str, typer.Option(help="For learned: above 1 for more of the unlikely bytes; up to inf.")
    ] = "1",
    relearn: Annotated[
        bool,
        typer.Option(
            "--relearn", help="For adaptive: learn the model again, too, from what had new edges."
        ),
    ] = False,
    edits: Annotated[
        str | None,
        typer.Option(
            help="Edits of a mutant; several numbers: one of them each time; below 1: a share of "
            "its bytes. Default: 1,3,10,30,100; resample: 100; best: by what the model knows."
        ),
    ] = None,
    keep: Annotated[int, typer.Option(help="Bytes at the beginning that stay as they are.")] = 0,
    repair: Annotated[str | None, typer.Option(help="Mend checksums after the edits: png.")] = None,
    inputs: Annotated[int | None, typer.Option(help="Mutants to run; seeds not counted.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Or: how long.")] = None,
    seeds: Annotated[
        Path | None, typer.Option(help="Inputs to start from; default: the target's own.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder; default: runs/<target>-<mutator>.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    grow: Annotated[bool, typer.Option(help="Mutants start from what was found, too.")] = True,
    batch: Annotated[
        int | None,
        typer.Option(help="Mutants from one growth to the next; default: 4000, adaptive: 100."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one input.")] = 1.0,
    memory: Annotated[int, typer.Option(help="MiB that an input may allocate.")] = 2048,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all cores.")] = None,
) -> None:
    """Run mutants of seeds and keep what covers something new or fails.

    The same command goes on where it was stopped, by ctrl-C or otherwise. --inputs and --seconds
    count from the beginning and may be raised.
    """
    from aloex.apps.fuzz.campaign.campaign import Campaign
    from aloex.apps.fuzz.campaign.status import Status
    from aloex.apps.fuzz.inputs import seeds as seed_files
    from aloex.apps.fuzz.mutate import repair as repairs
    from aloex.apps.fuzz.report import report
    from aloex.apps.fuzz.target.target import Target

    require(inputs is None or inputs >= 0, f"--inputs must not be negative, got {inputs}")
    require(seconds is None or seconds >= 0, f"--seconds must not be negative, got {seconds}")
    how: dict[str, Any] = {
        "seed": seed,
        **({} if edits is None else {"edits": listed(edits, "--edits", whole_or_share)}),
        "keep": keep,
        "repair": None if repair is None else one_of(repairs.REPAIRS, repair, "--repair"),
    }
    loaded = Target.load(target)
    options = {"level": level, "temperature": temperature, "max_len": loaded.max_len}
    maker, about = maker_of(mutator, model, **options, relearn=relearn)
    chosen = maker(**how)
    place = seeds or loaded.seeds
    if place is None:
        raise InputError(f"{loaded.name} has no seeds; name a folder of inputs: --seeds FOLDER")
    found = seed_files.read(place, max_len=loaded.max_len)
    for note in found.notes:
        print(note, file=sys.stderr)
    with Campaign(
        loaded,
        chosen,
        found.inputs,
        out or Path("runs") / f"{loaded.name}-{mutator}",
        settings={
            **{"mutator": mutator, "edits": ",".join(map(str, chosen.edits)), "keep": keep},
            **{"repair": repair, "seed": seed, **about},
        },
        grow=grow,
        batch=getattr(chosen, "batch", BATCH) if batch is None else batch,
        workers=workers,
        timeout=timeout,
        memory_mb=memory,
    ) as campaign:
        if campaign.record.curve:
            print(f"going on after {campaign.record.num_run} inputs", file=sys.stderr)
        with Status(inputs, seconds) as status:
            is_done = campaign.run(num_inputs=inputs, max_seconds=seconds, on_batch=status)
        print(f"{status.line(campaign.record)}; writing the report", file=sys.stderr)
        numbers = report.write(campaign)
    gained = numbers["edges"] - numbers["edges_of_seeds"]
    print(f"inputs: {numbers['inputs']} mutants of {numbers['seeds']} seeds")
    print(
        f"edges: {numbers['edges']} of {numbers['edges_of_target']}, {gained} more than the seeds"
    )
    print(f"bugs: {len(numbers['bugs'])} ({numbers['failing_inputs']} inputs)")
    print(f"report: {campaign.out / 'report.html'}")
    if not is_done:
        print("stopped; repeat the command to go on", file=sys.stderr)
        raise typer.Exit(130)


@app.command()
def learn(
    corpus: Annotated[Path, typer.Argument(help="A folder of inputs.")],
    out: Annotated[Path, typer.Option(help="The model file to write: model.safetensors.")],
    method: Annotated[
        str, typer.Option(help="masked, aloe, aloe-window, cd, ade, learn-and-fuzz or rnn-ebm.")
    ] = "masked",
    steps: Annotated[int | None, typer.Option(help="Training steps.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Examples per step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of Adam.")] = None,
    held_out: Annotated[float, typer.Option(help="Share of the files held out.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run.")] = False,
) -> None:
    """Learn which bytes occur where in a corpus, for --mutator learned.

    The run is kept in a folder beside the model. What was stopped goes on with --resume.
    """
    from aloex.apps.fuzz.inputs.corpus import read_corpus
    from aloex.apps.fuzz.model import learn as learning

    require(out.suffix == ".safetensors", f"--out must end in .safetensors, got {out}")
    asked = {"num_steps": steps, "batch_size": batch_size, "learning_rate": learning_rate}
    changes = {name: value for name, value in asked.items() if value is not None}
    learning.recipe_of(method)  # a mistake is told before the corpus is read
    files = read_corpus(corpus)
    if files.note:
        print(files.note, file=sys.stderr)
    learn_from, rest = files.split(held_out, seed)
    model = learning.learn(
        learn_from,
        method=method,
        seed=seed,
        folder=out.with_suffix(".run"),
        resume=resume,
        **changes,
    )
    quality = {} if rest is None else learning.quality(model, rest)
    about = {"seconds": learning.seconds_of(out.with_suffix(".run"))}
    model.save(out, **about, **({"held_out": max(quality.values())} if quality else {}))
    print(f"learned from: {len(learn_from)} files, {learn_from.num_bytes} bytes")
    if rest is not None:
        print(f"log probability of a byte of the {len(rest)} files held out (by chance: -5.545)")
    for share, value in quality.items():
        print(f"  {share:4.0%} of its context believed: {value:.3f}")
    print(f"model: {out}")
    mutator = "learned" if rest is None else "best"
    print(f"next: aloex fuzz run TARGET --mutator {mutator} --model {out}")


@app.command()
def coverage(
    target: Annotated[str, typer.Argument(help="A target that was built with --coverage.")],
    files: Annotated[list[Path], typer.Argument(help="Inputs, or folders of inputs.")],
    out: Annotated[Path, typer.Option(help="Folder of the pages.")] = Path("coverage"),
) -> None:
    """Show line by line what inputs reach, as pages."""
    from aloex.apps.fuzz.report import coverage as lines
    from aloex.apps.fuzz.target.target import Target

    totals = lines.write(Target.load(target), files_in(files), out)
    for kind, (covered, count) in totals.items():
        print(f"{kind}: {covered} of {count} ({covered / max(count, 1):.0%})")
    print(f"pages: {out / 'index.html'}")


def one_of(known: dict[str, Any], name: str, option: str) -> Any:
    """What goes by a name."""
    require(name in known, f"{option} must be one of {', '.join(known)}, got {name!r}")
    return known[name]


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
