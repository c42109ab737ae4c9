"""`aloex fuzz run`: what it prints, its exit status, and how little it loads to say no."""

import json
import re
import shutil
import sys

import pytest

from commands import assert_mistakes_are_one_line, python
from fuzz_targets import clang, stairs, tiny  # noqa: F401

HEAVY = ("numpy", "rich.console", "jinja2", "jax")


@pytest.fixture
def seeds(tmp_path):
    folder = tmp_path / "seeds"
    folder.mkdir()
    (folder / "first").write_bytes(b"--------")
    (folder / "second").write_bytes(b"abcdefghijkl")
    return folder


def test_a_campaign_from_the_command_line(run, stairs, seeds, tmp_path):  # noqa: F811
    command = ("fuzz", "run", stairs.library, "--seeds", seeds, "--inputs", 3000)
    status, said, errors = run(*command, "--workers", 1)
    assert status == 0, errors
    lines = said.splitlines()
    numbers = json.loads((tmp_path / "runs/library/report.json").read_text())
    assert lines[0] == "inputs: 3000 mutants of 2 seeds"
    assert lines[1] == (
        f"edges: {numbers['edges']} of {numbers['edges_of_target']}, "
        f"{numbers['edges_gained']} more than the seeds"
    )
    assert lines[2] == f"bugs: 2 ({numbers['failing_inputs']} inputs)"
    for line, bug in zip(lines[3:-1], numbers["bugs"], strict=True):
        name, inputs, path = re.fullmatch(r"  (.+): (\d+) inputs?, (\S+)", line).groups()
        assert name == bug["name"] and int(inputs) == bug["inputs"]
        assert (tmp_path / path).is_file()
    assert lines[-1] == "report: runs/library/report.html"
    again, more, errors = run(*command[:-1], 3500, "--workers", 2)  # the same, and it goes on
    assert again == 0 and "resuming after " in errors and "inputs: 3500 mutants" in more


def test_the_exit_status_tells_of_bugs(run, stairs, seeds, tmp_path):  # noqa: F811
    out = tmp_path / "out"
    known = tmp_path / "known.json"
    command = ("fuzz", "run", stairs.library, "--seeds", seeds, "--inputs", 2000, "--out", out)
    status, _, errors = run(*command, "--fail-on", "bug")
    assert status == 1
    assert re.search(r"failed on 2 bugs: .*abort in .*; .*SEGV in fall|SEGV.*; .*abort", errors)
    bugs = json.loads((out / "bugs.json").read_text())
    kinds = {bug["kind"] for bug in bugs["bugs"]}
    assert kinds == {"abort", "SEGV"}
    for left, new in (({"abort", "SEGV"}, set()), ({"abort"}, {"SEGV"}), (set(), kinds)):
        part = {**bugs, "bugs": [bug for bug in bugs["bugs"] if bug["kind"] in left]}
        known.write_text(json.dumps(part))
        status, _, errors = run(*command, "--fail-on", "new-bug", "--baseline", known)
        assert status == (1 if new else 0)
        (*_, last) = ["", *errors.splitlines()]
        assert all((kind in last) == (kind in new) for kind in kinds), last
        states = json.loads((out / "bugs.json").read_text())["bugs"]
        assert {bug["kind"] for bug in states if bug["is_new"]} == new
    shutil.rmtree(out)
    status, *_ = run(*command[:-3], 0, "--out", out, "--fail-on", "bug")
    assert status == 0  # no input, no bug


SHORT = """
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, long size) {
  if (size < %d) abort();
  return data[0] == 'x';
}
"""


@pytest.mark.parametrize(("shortest", "status"), [(4, 0), (1 << 20, 2)])
def test_bugs_of_seeds_are_written_even_if_none_can_be_used(clang, run, tmp_path, shortest, status):  # noqa: F811
    (tmp_path / "short.c").write_text(SHORT % shortest)
    assert run("fuzz", "build", "--harness", "short.c", "--no-sanitizers")[0] == 0
    command = ("fuzz", "run", "short", "--inputs", 300)
    for options, expected in (((), status), (("--fail-on", "bug"), 1)):
        ended, said, errors = run(*command, *options)
        assert ended == expected, errors
        assert ("fails on inputs of zeros (abort in " in errors) == (status == 2)
        (*_, last) = errors.splitlines()
        assert last.startswith("failed on 1 bug: abort in ") == (expected == 1)
        out = tmp_path / "runs/short"
        assert f"bugs: 1 ({'6 inputs' if status else ''}" in said
        assert len(json.loads((out / "bugs.json").read_text())["bugs"]) == 1
        for name in ("bugs.sarif", "bugs.junit.xml", "report.html", "report.json"):
            assert (out / name).is_file()


def test_settings_reach_the_campaign(run, tiny, seeds, tmp_path):  # noqa: F811
    (tmp_path / "tokens").write_text('"ALOEX"\n')
    status, _, errors = run(
        *("fuzz", "run", tiny.library.parent, "--seeds", seeds, "--inputs", 300, "--out", "out"),
        *("--dict", "tokens", "--keep", 1, "--repair", "png", "--sanitizer", "none", "--seed", 7),
        *("--leave-out", "compares,stack", "--timeout", 0.5, "--memory", 512, "--workers", 1),
    )
    assert status == 0, errors
    settings = json.loads((tmp_path / "out/report.json").read_text())["settings"]
    expected = {"seed": 7, "keep": 1, "repair": "png", "timeout": 0.5, "memory_mb": 512}
    expected |= {"guides": ["FEATURES", "TOKENS", "FORGET"], "sanitized_share": 0}
    assert {name: settings[name] for name in expected} == expected


def test_mistakes_are_one_line(tmp_path):
    (tmp_path / "text").write_text("x")
    (tmp_path / "text.c").write_text("x")
    (tmp_path / "bad.json").write_text("{")
    cases = {
        ("nothing",): "there is no target nothing; ",
        ("nothing", "--leave-out", "compares,magic"): "features, compares, tokens, forget, stack, "
        "got 'magic'",
        ("nothing", "--fail-on", "new-bug"): "add --baseline FILE",
        ("text", "--baseline", "none.json"): "cannot read the baseline none.json",
        ("text", "--baseline", "bad.json"): "the baseline bad.json is damaged",
        ("text", "--inputs", "-1"): "--inputs must not be negative, got -1",
        ("text", "--seconds", "-1"): "--seconds must not be negative, got -1",
        ("text", "--keep", "-1"): "--keep must not be negative, got -1",
        (sys.executable, "--seeds", "none"): "there are no seeds in none; check the path",
        (sys.executable, "--dict", "none", "--seeds", "text"): "cannot read the dictionary none",
        ("text.c",): "text.c is no 64-bit program or shared library (ELF); build it: aloex fuzz "
        "build --harness text.c",
        ("text", "--seeds", "text"): "text is no 64-bit program or shared library",
    }
    assert_mistakes_are_one_line(("fuzz", "run"), cases, tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        *([name, "--help"] for name in ("build", "run", "replay", "learn", "coverage")),
        ["run", "nothing"],
        ["run", "nothing", "--leave-out", "magic"],
        ["replay", "nothing", "text"],
        ["coverage", "nothing", "text"],
        ["learn", "nothing", "--out", "x.safetensors"],
    ],
    ids=" ".join,
)
def test_help_and_early_mistakes_load_nothing_heavy(words, tmp_path):
    (tmp_path / "text").write_text("x")
    program = (
        "import sys\nfrom aloex.cli import main\n"
        f"sys.argv = ['aloex', 'fuzz', *{words!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print('status', end.code)\n"
        f"print('loaded', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = python(program, cwd=tmp_path)
    status, loaded = done.stdout.splitlines()[-2:]
    assert status == ("status 0" if "--help" in words else "status 2"), done.stderr
    assert loaded == "loaded []"


@pytest.mark.parametrize(
    ("name", "words"), [("none", "there is no model"), ("text", "is not a saf")]
)
def test_a_model_that_cannot_be_read_is_told_without_jax(tmp_path, name, words):
    (tmp_path / "text").write_text("x")
    program = (
        "import sys\nfrom aloex.cli import main\n"
        f"sys.argv = ['aloex', 'fuzz', 'run', {sys.executable!r}, '--model', {name!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, 'jax' in sys.modules)\n"
    )
    done = python(program, cwd=tmp_path)
    assert done.stdout == "2 False\n" and words in done.stderr
