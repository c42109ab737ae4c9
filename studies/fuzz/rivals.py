"""Other fuzzers, run for a number of inputs: they leave a corpus that we replay.

They have the target's dictionary if there is one, and AFL++ its log of compares.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.target import Target
from aloex.base.errors import AloexError, InputError
from studies.fuzz.fuzzers import Binaries

SECONDS_PER_RUN = 0.01  # on average, and a minute: after that the fuzzer is taken to be stuck
MAX_STARTS = 2000
AFL_RUNS_OF_A_SEED = 8  # to see whether it behaves the same each time


def libfuzzer(target: Target, num_inputs: int, *, seed: int) -> list[bytes]:
    """What libFuzzer keeps after so many inputs besides the seeds.

    It ends at a crash, and is started again with what it has found. How many inputs it ran until
    then is known from its last line only, so it may run somewhat more than it was asked to.
    """
    if target.fuzzer is None or target.seeds is None:
        raise InputError(f"{target.name} has no libFuzzer binary or no seeds; build it again")
    with tempfile.TemporaryDirectory(prefix="aloex-") as folder:
        corpus, left = Path(folder) / "corpus", num_inputs
        shutil.copytree(target.seeds, corpus)
        for start in range(MAX_STARTS):
            num_kept = len(list(corpus.iterdir()))
            command = [
                str(target.fuzzer.absolute()),
                str(corpus),
                f"-seed={seed + 1000 * start}",
                f"-runs={left + num_kept}",  # the corpus is run first, and counts
                f"-max_len={target.max_len}",
                f"-artifact_prefix={folder}/",
                "-timeout=1",
                "-handle_segv=0",  # its own handlers may lock up
                "-handle_abrt=0",
                *([f"-dict={target.dictionary.absolute()}"] if target.dictionary else []),
            ]
            num_run = _run(command, folder, 60 + SECONDS_PER_RUN * left)
            left -= max(1, num_run - num_kept)  # at least the one that it ended with
            if left <= 0:
                return [path.read_bytes() for path in sorted(corpus.iterdir())]
    raise AloexError(f"libFuzzer ended {MAX_STARTS} times before it had run {num_inputs} inputs")


def aflpp(target: Target, num_inputs: int, *, seed: int) -> list[bytes]:
    """What AFL++ keeps after about so many inputs besides what it does with the seeds at first."""
    found = Binaries.of(target)
    if found.afl is None or target.seeds is None:
        name = target.library.parent.name
        raise InputError(f"{name} is not built for AFL++; build it: aloex fuzz build {name} --afl")
    num_seeds = len(list(target.seeds.iterdir()))
    settings = {
        **{"AFL_NO_UI": "1", "AFL_NO_AFFINITY": "1", "AFL_SKIP_CPUFREQ": "1"},
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    }
    with tempfile.TemporaryDirectory(prefix="aloex-") as folder:
        command = [
            *("afl-fuzz", "-i", str(target.seeds.absolute()), "-o", f"{folder}/out"),
            *("-s", str(seed), "-E", str(num_inputs + AFL_RUNS_OF_A_SEED * num_seeds)),
            *("-t", "1000", "-m", "none"),
            *(("-c", str(found.cmplog)) if found.cmplog else ()),
            *(("-x", str(found.dictionary)) if found.dictionary else ()),
            *("--", str(found.afl)),
        ]
        said = _say(command, folder, 60 + SECONDS_PER_RUN * num_inputs, settings)
        queue = Path(folder) / "out/default/queue"
        kept = [path.read_bytes() for path in sorted(queue.glob("id*"))] if queue.is_dir() else []
    if not kept:
        raise AloexError(f"AFL++ found nothing to start from: {said.strip()[-300:]}")
    return kept


def _run(command: list[str], folder: str, timeout: float) -> int:
    """How many inputs libFuzzer ran."""
    said = _say(command, folder, timeout)
    numbers = re.findall(r"^#(\d+)\t|^Done (\d+) runs", said, re.MULTILINE)
    return max((int(a or b) for a, b in numbers), default=0)


def _say(command: list[str], folder: str, timeout: float, settings: dict[str, str] | None = None):
    """What a program says until it ends, or has run too long."""
    log = Path(folder) / "log"
    with log.open("w") as said, suppress(subprocess.TimeoutExpired):
        to: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
        env = os.environ | (settings or {})
        subprocess.run(command, cwd=folder, timeout=timeout, env=env, **to)
    return log.read_text(errors="replace")


RIVALS: dict[str, Callable[..., list[bytes]]] = {"libfuzzer": libfuzzer, "aflpp": aflpp}
