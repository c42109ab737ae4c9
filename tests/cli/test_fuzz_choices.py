"""The choices of the command line are those of the application, and its help lists them."""

import pytest
from typer.testing import CliRunner

from aloex.apps.fuzz.bugs import FAIL_ON
from aloex.apps.fuzz.campaign.campaign import SANITIZED_SHARE
from aloex.apps.fuzz.campaign.run import SANITIZED
from aloex.apps.fuzz.model import KINDS
from aloex.apps.fuzz.native import ALL_GUIDES, REPAIRS
from aloex.cli.fuzz.choices import FailOn, GuideName, LearnMethod, RepairName, SanitizerName
from aloex.cli.main import app


@pytest.mark.parametrize(
    ("choices", "known"),
    [
        (LearnMethod, KINDS),
        (RepairName, REPAIRS),
        (SanitizerName, SANITIZED),
        (GuideName, [guide.name.lower() for guide in ALL_GUIDES]),
        (FailOn, FAIL_ON),
    ],
    ids=["method", "repair", "sanitizer", "guide", "fail-on"],
)
def test_choices_are_those_of_the_application(choices, known):
    assert {choice.value for choice in choices} == set(known)


def test_what_the_help_says_of_sanitizers_is_so():
    assert SANITIZED_SHARE == 1 / 50 and "one in fifty" in SanitizerName.SOME.help
    assert SANITIZED["address"] == 1 and SANITIZED["none"] is None


@pytest.mark.parametrize(
    ("command", "choices"),
    [
        *(("run", choices) for choices in (RepairName, SanitizerName, GuideName, FailOn)),
        ("learn", LearnMethod),
    ],
)
def test_the_help_has_a_line_for_each_choice(command, choices):
    text = CliRunner().invoke(app, ["fuzz", command, "--help"]).output
    lines = [line.strip() for line in text.splitlines()]
    for choice in choices:
        assert any(line.startswith(f"{choice.value}: {choice.help}") for line in lines), choice
