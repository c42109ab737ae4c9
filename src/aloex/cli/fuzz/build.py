"""`aloex fuzz build`: compile a target."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.base.errors import InputError, require


def build(
    target: Annotated[
        str | None,
        typer.Argument(help="libpng, openjpeg, mpeg2dec, a folder of yours, or what was built."),
    ] = None,
    harness: Annotated[
        list[Path] | None, typer.Option(help="C or C++ file with LLVMFuzzerTestOneInput.")
    ] = None,
    sources: Annotated[
        list[Path] | None, typer.Option(help="File of the code under test; may be repeated.")
    ] = None,
    include: Annotated[list[Path] | None, typer.Option(help="Folder of headers.")] = None,
    flag: Annotated[list[str] | None, typer.Option(help="For the compiler: --flag=-DX.")] = None,
    library: Annotated[list[str] | None, typer.Option(help="To link with: z for -lz.")] = None,
    seeds: Annotated[Path | None, typer.Option(help="Folder of inputs to start from.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to build in; default: build/targets/<name>.")
    ] = None,
    sanitizers: Annotated[
        bool, typer.Option(help="Also build what finds errors of memory: ASan and UBSan.")
    ] = True,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Also build with line counts, for fuzz coverage.")
    ] = False,
    afl: Annotated[bool, typer.Option("--afl", help="Also build for AFL++.")] = False,
) -> None:
    """Build a target: a built-in one, a folder with a target.toml, or a harness and sources.

    A target that was built before is built again by its name, with more options if you like.
    """
    from aloex.apps.fuzz.inputs import read_dictionary
    from aloex.apps.fuzz.target import TargetRecipe, build_target

    parts: dict[str, Any] = {
        "sources": sources,
        "include": include,
        "flags": flag,
        "libraries": library,
    }
    if target is not None:
        is_alone = not any([harness, seeds, *parts.values()])
        require(is_alone, "give either a target or --harness and --sources, not both")
        recipe = TargetRecipe.load(target)
    elif not harness:
        raise InputError("what is to be built? name a target, or give --harness FILE")
    else:
        given = {name: value for name, value in parts.items() if value}
        recipe = TargetRecipe.of_files(harness, seeds=seeds, **given)
    tell = lambda line: print(f"{recipe.name}: {line}", file=sys.stderr, flush=True)
    built = build_target(recipe, out, sanitizers=sanitizers, coverage=coverage, afl=afl, tell=tell)
    print(f"target: {built.library.parent}")
    if built.seeds is not None:
        print(f"seeds: {len(built.read_seeds())} in {built.seeds}")
    if built.dictionary is not None:
        print(f"dictionary: {len(read_dictionary(built.dictionary))} tokens in {built.dictionary}")
    name = shlex.quote(built.argument)
    has_seeds = built.seeds is not None
    print(f"next: aloex fuzz run {name}" if has_seeds else f"next: aloex fuzz replay {name} FILES")
