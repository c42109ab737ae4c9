"""The command line as a stranger meets it: it works, and a mistake is one clear line."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from commands import aloex

TINY = ["--batch-size", "8", "--max-edits", "2", "--checkpoint-every", "5"]


@pytest.fixture
def bits(tmp_path):
    path = tmp_path / "bits.npy"
    np.save(path, np.random.default_rng(0).integers(2, size=(50, 4)))
    return path


def test_learn_then_sample(bits, tmp_path):
    run = tmp_path / "run"
    learned = aloex("learn", bits, "--out", run, "--steps", 6, *TINY)
    assert learned.returncode == 0, learned.stderr
    assert str(run / "model.safetensors") in learned.stdout
    drawn = aloex("sample", run, "--out", tmp_path / "x.csv", "-n", 7)
    assert drawn.returncode == 0, drawn.stderr
    x = np.loadtxt(tmp_path / "x.csv", delimiter=",", dtype=int)
    assert x.shape == (7, 4)
    assert set(np.unique(x)) <= {0, 1}
    again = aloex("learn", bits, "--out", run, "--steps", 6, *TINY)
    assert again.returncode == 2
    assert "--resume" in again.stderr


def test_mistakes_are_one_line(tmp_path):
    files = {
        "empty.csv": "",
        "words.csv": "a,b\nc,d\n",
        "ragged.csv": "0,1\n0\n",
        "fractions.csv": "0.5,1\n",
        "bits.txt": "0,1\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    np.save(tmp_path / "negative.npy", np.array([[0, -1]]))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "negative.npy").read_bytes()[:100])
    expected = {
        "missing.npy": "there is no file",
        "empty.csv": "is empty",
        "words.csv": "cannot be read as a table of numbers",
        "ragged.csv": "cannot be read as a table of numbers",
        "fractions.csv": "must hold integers",
        "bits.txt": "must be a .npy or .csv file",
        "negative.npy": "got -1 at row 0, site 1",
        "cut.npy": "cannot be read as a table of numbers",
    }
    # One process for all: the command's own `main` runs in it once per file.
    program = (
        "import sys\nfrom aloex.cli import main\n"
        "for path in sys.argv[2:]:\n"
        "    keep, sys.argv = sys.argv, ['aloex', 'learn', path, '--out', sys.argv[1]]\n"
        "    try:\n        main()\n"
        "    except SystemExit as stop:\n        print('exit', stop.code, file=sys.stderr)\n"
        "    sys.argv = keep\n"
    )
    paths = [str(tmp_path / name) for name in expected]
    command = [sys.executable, "-c", program, str(tmp_path / "run"), *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    assert len(lines) == 2 * len(expected), done.stderr
    for message, status, words in zip(lines[::2], lines[1::2], expected.values(), strict=True):
        assert message.startswith("error: ")
        assert words in message
        assert status == "exit 2"


def test_sample_names_what_is_wrong_with_the_model(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"not a model")
    for model, words in ((tmp_path, "safetensors"), (tmp_path / "none", "no model file")):
        done = aloex("sample", model, "--out", tmp_path / "x.npy")
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_interrupt_keeps_the_work(bits, tmp_path):
    """SIGINT in the middle: exit status 130, a checkpoint, and --resume goes on."""
    run = tmp_path / "run"
    main = "from aloex.cli import main; main()"
    arguments = ["learn", str(bits), "--out", str(run), *TINY]
    process = subprocess.Popen(
        [sys.executable, "-c", main, *arguments, "--steps", "100000000"],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 240
    while not (run / "metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "--resume" in errors
    assert "Traceback" not in errors
    step = max(int(path.name) for path in (run / "checkpoints").iterdir() if path.name.isdigit())
    done = aloex(*arguments, "--steps", step + 1, "--resume")
    assert done.returncode == 0, done.stderr
    assert (run / "model.safetensors").exists()
