"""Mutators by name: what makes one from the options of a command, and what tells it from others."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from aloex.base.errors import InputError, require
from aloex.cli.options import listed

BY_MODEL = ("learned", "best", "resample", "adaptive")

Maker = tuple[Callable[..., Any], dict[str, Any]]


def maker_of(
    mutator: str,
    model: Path | None,
    *,
    level: str,
    temperature: str,
    max_len: int,
    relearn: bool = False,
) -> Maker:
    """A function of seed, keep, repair and maybe edits, and what a campaign is to record."""
    from aloex.apps.fuzz.mutate.numbers import MUTATORS

    known = ", ".join([*MUTATORS, *BY_MODEL])
    plain = mutator in MUTATORS
    can = mutator == "adaptive" and model is not None
    require(can or not relearn, "--relearn is for --mutator adaptive with --model FILE")
    require(plain or mutator in BY_MODEL, f"--mutator must be one of {known}, got {mutator!r}")
    if plain:
        require(model is None, f"--model is for {', '.join(BY_MODEL)}, not for {mutator}")
        return MUTATORS[mutator], {}
    if model is None and mutator != "adaptive":
        message = f"--mutator {mutator} needs --model FILE; make one: aloex fuzz learn CORPUS"
        raise InputError(message)
    law: Any = None
    about: dict[str, Any] = {}
    if model is not None:
        law, about = _read(model)
    if mutator == "adaptive":
        return _adaptive(law, about, max_len, relearn)
    if mutator == "resample":
        from aloex.apps.fuzz.mutate.resample import Resample

        return partial(Resample, law), about
    if mutator == "best":
        from aloex.apps.fuzz.mutate.best import best

        return partial(best, law), about
    return _learned(law, about, level, temperature)


def _read(path: Path) -> tuple[Any, dict[str, Any]]:
    from aloex.apps.fuzz.inputs.seeds import hash_of
    from aloex.apps.fuzz.model import byte_model  # JAX loads slowly

    law = byte_model.load(path)
    return law, {"model": hash_of(path.read_bytes())}


def _learned(law: Any, about: dict[str, Any], level: str, temperature: str) -> Maker:
    from aloex.apps.fuzz.mutate import learned

    levels = learned.LEVELS if level == "mixed" else listed(level, "--level", float)
    how = {"levels": levels, "temperatures": listed(temperature, "--temperature", float)}
    about = {**about, "levels": list(levels), "temperature": temperature}
    return partial(learned.learned, law, **how), about


def _adaptive(law: Any, about: dict[str, Any], max_len: int, relearn: bool) -> Maker:
    from aloex.apps.fuzz.mutate import adaptive

    how: dict[str, Any] = {"max_len": max_len}
    if law is not None:
        from aloex.apps.fuzz.mutate.learned import guides

        how |= guides(law)
    about = {**about, "arms": adaptive.Adaptive(**how).arms}
    if relearn:
        from aloex.apps.fuzz.model.relearn import relearned

        how, about = {**how, "relearn": relearned}, {**about, "relearn": True}
    return partial(adaptive.Adaptive, **how), about
