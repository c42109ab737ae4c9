"""The page on CI: its jobs are whole, and their commands find a bug once and know it then."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from commands import parse

ROOT = Path(__file__).parents[3]
PAGE, OWN_TARGET = ROOT / "docs/fuzz_ci.md", ROOT / "docs/fuzz_own_target.md"
NOT_HERE = ("sudo ", "apt-get ", "pip ")  # of the machine


def blocks(page: Path, kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == kind]


GITHUB, GITLAB = (yaml.safe_load(block) for block in blocks(PAGE, "yaml"))
STEPS = GITHUB["jobs"]["fuzz"]["steps"]
BEGIN, ACCEPT = blocks(PAGE, "")


def lines_of_github() -> list[str]:
    return [line for step in STEPS for line in step.get("run", "").splitlines()]


def lines_of_gitlab() -> list[str]:
    job = GITLAB["fuzz"]
    return [*job["before_script"], *job["script"], *job["after_script"]]


@pytest.fixture
def checkout(clang, tmp_path) -> Path:
    """A repository with a target that has one bug."""
    (tmp_path / "fuzz/scale/seeds").mkdir(parents=True)
    (tmp_path / "fuzz/scale/target.toml").write_text('harness = ["scale.c"]\nsanitizers = []\n')
    (tmp_path / "fuzz/scale/scale.c").write_text(blocks(OWN_TARGET, "c")[0])
    (tmp_path / "fuzz/scale/seeds/first").write_bytes(b"S\3abc")
    shell(BEGIN, tmp_path)
    return tmp_path


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a line, for some inputs instead of some minutes."""
    line = line.replace("aloex ", f"{shlex.quote(sys.executable)} -m aloex ")
    command = re.sub(r"--seconds \d+", "--inputs 3000", line)
    return subprocess.run(
        ["bash", "-c", command], cwd=cwd, capture_output=True, text=True, timeout=120
    )


def run_job(lines: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the lines of a job, also those after the campaign. Returns how that ended."""
    campaign = None
    for line in lines:
        if line.startswith(NOT_HERE):
            continue
        done = shell(line, cwd)
        if "aloex fuzz run" in line:
            campaign = done
        else:
            assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert campaign is not None
    return campaign


@pytest.mark.parametrize("lines", [lines_of_github(), lines_of_gitlab()], ids=["github", "gitlab"])
def test_a_job_fails_on_a_new_bug_and_not_on_a_known_one(checkout, lines):
    first = run_job(lines, checkout)
    assert first.returncode == 1, first.stderr
    assert "failed on 1 new bug: FPE in average (scale.c:9)" in first.stderr
    kept = sorted(path.name for path in (checkout / "corpus").iterdir())
    small = sorted(path.name for path in (checkout / "campaign/minimised").iterdir())
    assert kept == small and small
    for path in paths_that_are_kept():
        assert (checkout / path).exists(), path
    assert shell(ACCEPT, checkout).returncode == 0
    subprocess.run(["rm", "-r", checkout / "campaign"], check=True)
    second = run_job(lines, checkout)
    assert second.returncode == 0, second.stderr
    num_seeds = len(small) + 1  # what the first had found, and the seed in the repository
    assert f"inputs: 3000 mutants of {num_seeds} seeds" in second.stdout


@pytest.mark.parametrize("lines", [lines_of_github(), lines_of_gitlab()], ids=["github", "gitlab"])
def test_a_campaign_that_was_stopped_early_loses_nothing(tmp_path, lines):
    """It has no minimised/: what was there stays, and what it found is added."""
    for path in ("corpus/old", "campaign/corpus/new"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(path)
    (keep,) = (line for line in lines if "campaign/minimised" in line)
    assert shell(keep, tmp_path).returncode == 0
    assert {path.name for path in (tmp_path / "corpus").iterdir()} == {"old", "new"}


def paths_that_are_kept() -> set[str]:
    """What the jobs upload."""
    artifacts = GITLAB["fuzz"]["artifacts"]
    uploads = [step["with"] for step in STEPS if step.get("uses", "").startswith("actions/upload")]
    sarif = [s["with"]["sarif_file"] for s in STEPS if "upload-sarif" in s.get("uses", "")]
    assert len(sarif) == len(uploads) == 1
    paths = [*artifacts["paths"], artifacts["reports"]["junit"], *sarif]
    return {*paths, *uploads[0]["path"].split()}


def test_every_command_of_the_jobs_is_known():
    commands = [line for line in [*lines_of_github(), *lines_of_gitlab()] if "aloex fuzz" in line]
    names = [parse(shlex.split(command))[0] for command in commands]
    assert names == ["aloex fuzz build", "aloex fuzz run"] * 2


def test_the_corpus_comes_from_the_cache_and_returns_to_it_whatever_happens():
    uses = {step["uses"].partition("@")[0]: step for step in STEPS if "uses" in step}
    restore, save = uses["actions/cache/restore"], uses["actions/cache/save"]
    assert restore["with"]["path"] == save["with"]["path"] == "corpus"
    assert save["with"]["key"] == restore["with"]["key"].strip()
    assert restore["with"]["key"].startswith(restore["with"]["restore-keys"])
    fuzzing = next(i for i, step in enumerate(STEPS) if "aloex fuzz run" in step.get("run", ""))
    assert all(step["if"] == "always()" for step in STEPS[fuzzing + 1 :])
    assert STEPS.index(restore) < fuzzing < STEPS.index(save)
    assert GITHUB["permissions"]["security-events"] == "write"  # or SARIF is refused
    job = GITLAB["fuzz"]
    assert job["cache"]["paths"] == ["corpus"] and job["cache"]["when"] == "always"
    assert job["artifacts"]["when"] == "always"


def test_the_time_of_a_job_is_bounded_beyond_that_of_the_campaign():
    for lines, minutes in (
        (lines_of_github(), GITHUB["jobs"]["fuzz"]["timeout-minutes"]),
        (lines_of_gitlab(), int(GITLAB["fuzz"]["timeout"].split()[0])),
    ):
        (seconds,) = re.findall(r"--seconds (\d+)", "\n".join(lines))
        assert int(seconds) + 300 < 60 * minutes
