"""Several lanes on one machine, started and stopped together."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from aloex.base.compiled import FOLDER
from aloex.base.files import write_file

GRACE = 120.0  # seconds that a lane has to finish its step and save


def drive(folder: Path, arguments: list[str], *, num_lanes: int, minutes: float) -> None:
    """Run the lanes until they have nothing left to do or the time is up.

    A SIGTERM stops them early; either way runs are saved first and can be gone on with.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "driver.pid", f"{os.getpid()}\n")
    signal.signal(signal.SIGTERM, _stop)
    deadline = time.monotonic() + 60 * minutes
    environment = {
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # the lanes share the accelerator's memory
        FOLDER: str((folder / "compiled").absolute()),
        "PYTHONUNBUFFERED": "1",
        **os.environ,
    }
    lanes = [_start(folder, i, arguments, environment) for i in range(num_lanes)]
    try:
        while any(lane.poll() is None for lane in lanes) and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        for lane in lanes:
            lane.terminate()
        for lane in lanes:
            _wait(lane)
    print(f"the lanes have ended with {[lane.returncode for lane in lanes]}", flush=True)


def _start(
    folder: Path, number: int, arguments: list[str], environment: dict[str, str]
) -> "subprocess.Popen[Any]":
    command = [sys.executable, "-m", "studies.synthetic", "jobs", "--lanes", "1", *arguments]
    with (folder / f"lane-{number}.log").open("a") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def _stop(*_: Any) -> None:
    raise SystemExit(0)  # by way of `finally`


def _wait(lane: "subprocess.Popen[Any]") -> None:
    try:
        lane.wait(GRACE)
    except subprocess.TimeoutExpired:
        lane.kill()
        lane.wait()
