"""Mutators by name: a campaign's settings, made into a mutator.

Modules that need JAX are imported only for the mutators that have a model.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.inputs import hash_of
from aloex.apps.fuzz.mutate.adaptive import Adaptive
from aloex.apps.fuzz.mutate.mutators import ByteOfOtherSeed, Mutator, Uniform
from aloex.apps.fuzz.mutate.numbers import Numbers
from aloex.apps.fuzz.mutate.repair import REPAIRS
from aloex.base.errors import InputError, require
from aloex.base.seeds import check_seed

PLAIN_MUTATORS = {"uniform": Uniform, "other-seed": ByteOfOtherSeed, "numbers": Numbers}
WITH_MODEL = ("learned", "best", "resample")
MUTATORS = ("adaptive", *PLAIN_MUTATORS, *WITH_MODEL)


@dataclass(frozen=True)
class MutatorSettings:
    """Which mutator, and its options.

    Args:
        name: one of `MUTATORS`.
        model: the file of a model.
        visible: for learned: visible fractions of the context; None: its own.
        temperatures: for learned.
        relearn: for adaptive with a model: whether to train the model further.
        edits: numbers of edits, or fractions of the input below 1; None: the mutator's own.
        keep: number of bytes at the beginning that stay as they are.
        repair: one of `REPAIRS`.
        seed: of all randomness.
    """

    name: str = "adaptive"
    model: Path | None = None
    visible: tuple[float, ...] | None = None
    temperatures: tuple[float, ...] = (1.0,)
    relearn: bool = False
    edits: tuple[int | float, ...] | None = None
    keep: int = 0
    repair: str | None = None
    seed: int = 0

    def __post_init__(self):
        name, has_model = self.name, self.model is not None
        require(name in MUTATORS, f"mutator must be one of {', '.join(MUTATORS)}, got {name!r}")
        require(not (has_model and name in PLAIN_MUTATORS), f"the mutator {name} takes no model")
        if name in WITH_MODEL and not has_model:
            raise InputError(
                f"the mutator {name} needs a model: --model FILE; make one: aloex fuzz learn CORPUS"
            )
        require(
            not self.relearn or (name == "adaptive" and has_model),
            "--relearn needs the mutator adaptive and a model: --model FILE",
        )
        require(
            name == "learned" or (self.visible is None and self.temperatures == (1.0,)),
            f"--visible and --temperature are for the mutator learned, not for {name}: leave them "
            "out, or give --mutator learned",
        )
        check_seed(self.seed)
        known = ", ".join(REPAIRS)
        good = self.repair is None or self.repair in REPAIRS
        require(good, f"repair must be one of {known}, got {self.repair!r}")


def make_mutator(settings: MutatorSettings, *, max_len: int) -> tuple[Mutator, dict[str, Any]]:
    """The mutator, and what a campaign records of it, in plain JSON values.

    Args:
        settings: which mutator.
        max_len: number of bytes that a mutant may have.
    """
    make, about = _maker(settings, max_len)
    options = {} if settings.edits is None else {"edits": settings.edits}
    repair = None if settings.repair is None else REPAIRS[settings.repair]
    mutator = make(seed=settings.seed, keep=settings.keep, repair=repair, **options)
    recorded: dict[str, Any] = {
        "mutator": settings.name,
        "edits": ",".join(map(str, mutator.edits)),
        "keep": settings.keep,
        "repair": settings.repair,
        "seed": settings.seed,
    }
    if isinstance(mutator, Adaptive):
        recorded["arms"] = mutator.arms
    return mutator, recorded | about


def _maker(settings: MutatorSettings, max_len: int) -> tuple[Any, dict[str, Any]]:
    """A function that makes the mutator, and what is to be recorded of its model."""
    if settings.name in PLAIN_MUTATORS:
        return PLAIN_MUTATORS[settings.name], {}
    if settings.model is None:
        return partial(Adaptive, max_len=max_len), {}
    from aloex.apps.fuzz.model import load_model, train_further
    from aloex.apps.fuzz.mutate import with_model

    model = load_model(settings.model)
    about: dict[str, Any] = {"model": hash_of(settings.model.read_bytes())}
    match settings.name:
        case "adaptive":
            arguments = {"max_len": max_len, **with_model.adaptive_arguments(model)}
            if settings.relearn:
                arguments, about = arguments | {"relearn": train_further}, about | {"relearn": True}
            return partial(Adaptive, **arguments), about
        case "resample":
            return partial(with_model.Resample, model), about
        case "best":
            return partial(with_model.best, model), about
        case _:
            how: dict[str, Any] = {"temperatures": settings.temperatures}
            if settings.visible is not None:
                how["visible_fractions"] = settings.visible
            return partial(with_model.learned, model, **how), about | {
                "visible": settings.visible,
                "temperatures": settings.temperatures,
            }
