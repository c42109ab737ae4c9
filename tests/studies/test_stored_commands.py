"""The commands that are kept with results can be pasted: their options are those of today."""

import json
import shlex
from pathlib import Path

import pytest

from commands import parse

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "results").rglob("*.json"))
COMMANDS = {
    source["command"]: path.relative_to(ROOT)
    for path in FILES
    for source in json.loads(path.read_text())["sources"]
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_stored_command_can_be_repeated(command):
    parse(shlex.split(command))


def test_there_are_commands_of_every_study():
    studies = {shlex.split(command)[2] for command in COMMANDS if command.startswith("python")}
    names = ("synthetic", "fuzz", "synth", "speed", "fill", "samplers")
    assert studies == {f"studies.{name}" for name in names}


@pytest.mark.parametrize(
    "wrong",
    [
        "python -m studies.fuzz study libpng",
        "python -m studies.fuzz run libpng --method uniform --edit 3",
        "python -m studies.synthetic table --steps many",
        "aloex nothing",
    ],
)
def test_what_is_no_command_today_is_found_out(wrong):
    with pytest.raises(Exception, match=r"No such|valid integer"):
        parse(shlex.split(wrong))
