"""Options that every command shares: choices with a line of help each, seeds within bounds."""

import inspect
from enum import Enum
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from aloex.apps.fuzz.campaign import CampaignSettings
from aloex.apps.fuzz.model import learn_to_file
from aloex.base.errors import InputError
from aloex.base.seeds import NUM_SEEDS
from aloex.cli.choices import Choice
from aloex.cli.main import app


def commands(group, path=()):
    """All commands, by the words that call them."""
    for command in group.registered_commands:
        name = command.name or command.callback.__name__
        yield " ".join([*path, name]), command.callback
    for inner in group.registered_groups:
        yield from commands(inner.typer_instance, (*path, inner.name))


def options():
    """Each option of each command: its name, its type and what typer knows of it."""
    for name, callback in commands(app):
        hints = get_type_hints(callback, include_extras=True)
        for parameter in inspect.signature(callback).parameters:
            kind, about = get_args(hints[parameter])[:2]
            yield pytest.param(kind, about, id=f"{name} {parameter}")


def enumerations(kind):
    """The enumerations in a type such as `Name | None`."""
    parts = [kind, *get_args(kind)]
    return [part for part in parts if isinstance(part, type) and issubclass(part, Enum)]


OPTIONS = list(options())
CHOICES = [option for option in OPTIONS if enumerations(option.values[0])]
SEEDS = [option for option in OPTIONS if option.id.endswith(" seed")]


def test_all_commands_are_looked_at():
    assert {"learn", "fill", "programs train q0", "fuzz run"} <= {name for name, _ in commands(app)}
    assert len(CHOICES) >= 12 and len(SEEDS) == 10


@pytest.mark.parametrize(("kind", "about"), CHOICES)
def test_a_choice_has_a_line_of_help(kind, about):
    [choices] = enumerations(kind)
    assert issubclass(choices, Choice)
    lines = about.help.splitlines()
    assert [f"{choice.value}: {choice.help}" for choice in choices] == lines[-len(choices) :]


@pytest.mark.parametrize(("kind", "about"), SEEDS)
def test_seeds_that_would_be_folded_are_refused(kind, about):
    """The synthetic study has a bound of its own, which its tests hold."""
    if kind is int:
        assert (about.min, about.max) == (0, NUM_SEEDS - 1)
    else:
        assert kind == list[int]


LEARN = {"method": "masked", "held_out": 0.0, "resume": False, "tell": print}


@pytest.mark.parametrize(
    "call",
    [
        lambda seed: CampaignSettings("libpng", seed=seed),
        lambda seed: learn_to_file(Path("none"), Path("m"), seed=seed, **LEARN),
    ],
    ids=["mutator", "model of bytes"],
)
@pytest.mark.parametrize("seed", [-1, NUM_SEEDS])
def test_the_library_refuses_them_too(call, seed):
    with pytest.raises(InputError, match=rf"seed must be a whole number in .*, got {seed}"):
        call(seed)
