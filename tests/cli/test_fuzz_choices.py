"""The choices of the command line are those of the application, and its help lists them."""

import pytest
from typer.testing import CliRunner

from aloex.apps.fuzz.model import KINDS
from aloex.apps.fuzz.mutate.make import MUTATORS
from aloex.apps.fuzz.mutate.repair import REPAIRS
from aloex.cli.fuzz.choices import LearnMethod, MutatorName, RepairName
from aloex.cli.main import app


@pytest.mark.parametrize(
    ("choices", "known"),
    [(MutatorName, MUTATORS), (LearnMethod, KINDS), (RepairName, REPAIRS)],
    ids=["mutator", "method", "repair"],
)
def test_choices_are_those_of_the_application(choices, known):
    assert {choice.value for choice in choices} == set(known)


@pytest.mark.parametrize(
    ("command", "choices"), [("run", MutatorName), ("run", RepairName), ("learn", LearnMethod)]
)
def test_the_help_has_a_line_for_each_choice(command, choices):
    text = CliRunner().invoke(app, ["fuzz", command, "--help"]).output
    lines = [line.strip() for line in text.splitlines()]
    for choice in choices:
        assert any(line.startswith(f"{choice.value}: {choice.help}") for line in lines), choice
