"""How each fuzzer is started for some seconds on one core, as its documentation recommends.

libFuzzer has its defaults, the target's bound on the length, a second for an input, and the
target's dictionary. Where it ends at a crash it forks, so that it goes on. AFL++ runs in persistent
mode, with the build that logs compares and the dictionary, and chooses its time limit itself. Aloex
is started by the command that users have; words after a colon are options for it: "aloex:--repair
png". "{target}" in them stands for the target's name: "aloex:--model models/{target}.safetensors".
"""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aloex.apps.fuzz.target import Target
from aloex.base.errors import InputError, require

CRASHING = ("mpeg2dec", "openjpeg")  # libFuzzer must fork to go on
AFL_SETTINGS = {
    **{"AFL_NO_UI": "1", "AFL_NO_AFFINITY": "1", "AFL_SKIP_CPUFREQ": "1"},
    **{"AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_AUTORESUME": "1"},
}


class Start(NamedTuple):
    """A fuzzer ready to be started in a folder of its own; patterns are below this folder."""

    command: list[str]
    corpus: tuple[str, ...]  # patterns of the inputs that it keeps
    failing: tuple[str, ...]  # patterns of the inputs that failed
    settings: dict[str, str]  # environment variables
    executions: Callable[[str, Path], int]  # from what it said, and its folder
    crashes: Callable[[str, Path], int]


class Binaries(NamedTuple):
    """The files of a target that fuzzers run; those that are not there are None."""

    libfuzzer: Path | None
    afl: Path | None
    cmplog: Path | None
    dictionary: Path | None

    @classmethod
    def of(cls, target: Target) -> "Binaries":
        """Those of a built target."""
        names = ("fuzzer", "afl", "afl_cmplog", "dictionary")
        paths: list[Path | None] = [getattr(target, name, None) for name in names]
        return cls(*(path.absolute() if path else None for path in paths))


def start(
    fuzzer: str,
    target: Target,
    folder: Path,
    *,
    seconds: float,
    seed: int,
    again: int = 0,
    binaries: Binaries | None = None,
    forks: bool | None = None,
) -> Start:
    """How a fuzzer is started.

    Args:
        fuzzer: its name, for Aloex with options after a colon.
        target: what it fuzzes.
        folder: where it works.
        seconds: how long it will run.
        seed: of its randomness.
        again: how often it has been started already, with what it has found there.
        binaries: what the rivals run, if not the target's own.
        forks: whether libFuzzer forks; by default where the target is known to crash.
    """
    name, _, options = fuzzer.partition(":")
    require(name in STARTS, f"no fuzzer {name!r}; choose one of {', '.join(STARTS)}")
    require(target.seeds is not None, f"{target.name} has no seeds; the study needs some")
    require(not options or name == "aloex", f"only aloex takes options here, got {fuzzer!r}")
    if name == "aloex":
        return _aloex(target, folder, seconds, seed, shlex.split(options))
    found = binaries or Binaries.of(target)
    if name == "aflpp":
        return _aflpp(target, folder, seed, found)
    forks = target.name in CRASHING if forks is None else forks
    return _libfuzzer(target, folder, seed + 1000 * again, found, forks)


def what_is_missing(target: Target) -> list[str]:
    """Lines on what the rivals could use and the target does not have."""
    found = Binaries.of(target)
    lines = {
        "AFL++ runs without compare logging: it has no afl-cmplog": found.cmplog,
        "libFuzzer and AFL++ run without a dictionary: it has none": found.dictionary,
    }
    return [f"{target.name}: {line}" for line, path in lines.items() if path is None]


def _libfuzzer(target: Target, folder: Path, seed: int, found: Binaries, forks: bool) -> Start:
    if found.libfuzzer is None:
        raise InputError(f"{target.name} has no libFuzzer binary; build it again")
    (folder / "corpus").mkdir(exist_ok=True)
    (folder / "artifacts").mkdir(exist_ok=True)
    go_on = ("-fork=1", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1")
    command = [
        *(str(found.libfuzzer), f"-seed={seed}", f"-max_len={target.max_len}", "-timeout=1"),
        *(f"-artifact_prefix={folder}/artifacts/", "-print_final_stats=1"),
        *([f"-dict={found.dictionary}"] if found.dictionary else []),
        *(go_on if forks else ()),
        # Its own handlers may lock up; those of AddressSanitizer come first where it is linked.
        *("-handle_segv=0", "-handle_abrt=0"),
        *(f"{folder}/corpus", f"{_seeds(target)}"),
    ]
    # A forked job's corpus is joined to the main one at its end, and would be lost with it.
    corpus = ("corpus/*", "libFuzzerTemp*/C*/*")
    settings = {"TMPDIR": str(folder)}
    return Start(command, corpus, ("artifacts/*",), settings, _units, _endings)


def _aflpp(target: Target, folder: Path, seed: int, found: Binaries) -> Start:
    if found.afl is None:
        name = target.library.parent.name
        raise InputError(f"{name} is not built for AFL++; build it: aloex fuzz build {name} --afl")
    command = [
        *("afl-fuzz", "-i", str(_seeds(target)), "-o", f"{folder}/out", "-s", str(seed)),
        *("-G", str(target.max_len), "-m", "none"),  # it finds out the time limit itself
        *(("-c", str(found.cmplog)) if found.cmplog else ()),
        *(("-x", str(found.dictionary)) if found.dictionary else ()),
        *("--", str(found.afl)),
    ]
    queue, crashes = ("out/default/queue/id*",), ("out/default/crashes/id*",)
    return Start(command, queue, crashes, AFL_SETTINGS, _afl_executions, _afl_crashes)


def _aloex(target: Target, folder: Path, seconds: float, seed: int, options: list[str]) -> Start:
    command = [
        *(sys.executable, "-m", "aloex", "fuzz", "run", str(target.library.parent.absolute())),
        *("--seconds", f"{seconds:g}", "--workers", "1", "--seed", str(seed)),
        *("--out", f"{folder}/out"),
        *(option.replace("{target}", target.name) for option in options),
    ]
    failing = ("out/crashes/*[!n]",)  # without the descriptions
    return Start(command, ("out/corpus/*",), failing, {}, _aloex_executions, _aloex_crashes)


def _seeds(target: Target) -> Path:
    assert target.seeds is not None
    return target.seeds.absolute()


def _units(said: str, _: Path) -> int:
    """The last number of executions that libFuzzer told."""
    told = r"^#(\d+)[\t:]|^stat::number_of_executed_units:\s*(\d+)|^Done (\d+) runs"
    found = re.findall(told, said, re.MULTILINE)
    return max((int(a or b or c) for a, b, c in found), default=0)


def _endings(said: str, _: Path) -> int:
    """Crashes of libFuzzer's jobs, as it counts them; without jobs, whether it crashed."""
    told = re.findall(r"oom/timeout/crash: \d+/\d+/(\d+)", said)
    return int(told[-1]) if told else int("ERROR:" in said)


def _afl_executions(said: str, folder: Path) -> int:
    """From AFL++'s statistics, which it writes as it ends."""
    stats = folder / "out/default/fuzzer_stats"
    text = stats.read_text() if stats.exists() else ""
    found = re.search(r"^execs_done\s*: (\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


def _afl_crashes(said: str, folder: Path) -> int:
    return len(list((folder / "out/default/crashes").glob("id*")))


def _aloex_executions(said: str, folder: Path) -> int:
    """From its journal: it may still be at work on its report when its time is over."""
    journal = folder / "out/journal.jsonl"
    text = journal.read_text() if journal.exists() else ""
    return max((int(stop) for stop in re.findall(r'^{"stop":(\d+)', text, re.MULTILINE)), default=0)


def _aloex_crashes(said: str, folder: Path) -> int:
    return len(list((folder / "out/crashes").glob("*[!n]")))


STARTS = ("aloex", "libfuzzer", "aflpp")
