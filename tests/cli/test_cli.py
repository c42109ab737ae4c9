"""The command line as a stranger meets it: it works, and a mistake is one clear line."""

import inspect
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from aloex.cli.core import learn
from aloex.cli.main import app
from aloex.cli.tables import read_table
from aloex.learning import Config
from commands import aloex, assert_mistakes_are_one_line, python

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
    assert "--resume" in again.stderr and "--fresh" in again.stderr


def here(*words):
    """`aloex` in this process, so that little is compiled twice."""
    app([str(word) for word in words], standalone_mode=False)


def steps_in(run):
    return [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_resuming_keeps_the_length_and_fresh_starts_anew(bits, tmp_path, capsys):
    run = tmp_path / "run"
    learn = ("learn", bits, "--out", run, *TINY, "--f-hidden", 8, "--q-hidden", "8")
    here(*learn, "--resume", "--steps", 6)  # nothing to resume: it starts
    assert steps_in(run)[-1] == 6
    here(*learn, "--resume")
    assert steps_in(run)[-1] == 6
    assert json.loads((run / "config.json").read_text())["num_steps"] == 6
    here(*learn, "--resume", "--steps", 8)
    assert steps_in(run)[-1] == 8
    here(*learn, "--fresh", "--steps", 3, "--log-every", 1)
    assert steps_in(run) == [1, 2, 3]


def test_a_model_or_a_checkpoint_is_sampled_and_scored(bits, tmp_path, capsys):
    run = tmp_path / "run"
    learn = ("learn", bits, "--out", run, *TINY, "--f-hidden", "8", "--q-hidden", "8,8")
    here(*learn, "--steps", 5, "--num-trajectories", 2, "--learning-rate-f", 0.01)
    config = json.loads((run / "config.json").read_text())
    assert (config["f_hidden"], config["q_hidden"], config["num_trajectories"]) == ([8], [8, 8], 2)
    assert config["learning_rate_f"] == 0.01
    found = {}
    for name in ("model", "checkpoint"):
        here("sample", run, "--out", tmp_path / f"{name}.npy", "-n", 5)
        here("score", run, bits, "--out", tmp_path / f"{name}.csv")
        told = capsys.readouterr()
        assert ("using its checkpoint of step 5" in told.err) == (name == "checkpoint")
        assert "50 energies, mean " in told.out
        energies = np.loadtxt(tmp_path / f"{name}.csv")
        found[name] = np.load(tmp_path / f"{name}.npy"), energies
        (run / "model.safetensors").unlink(missing_ok=True)
    assert all(np.array_equal(*pair) for pair in zip(*found.values(), strict=True))
    assert energies.shape == (50,) and len(set(energies.tolist())) > 1


def test_defaults_are_those_of_the_library():
    shown = {name: p.default for name, p in inspect.signature(learn).parameters.items()}
    config = Config(dim=4)
    for name in ("q0", "batch_size", "num_trajectories", "optimizer_f"):
        assert shown[name] == getattr(config, name)
    for name in ("learning_rate_f", "learning_rate_q", "decay_steps"):
        assert shown[name] == getattr(config, name)
    for name in ("f_hidden", "q0_hidden", "q_hidden"):
        assert shown[name] == ",".join(map(str, getattr(config, name)))


def test_choices_are_listed_with_a_line_each():
    shown = aloex("learn", "--help").stdout
    assert "factorized: sites drawn independently" in shown and "muon: Muon, which" in shown


@pytest.mark.parametrize(
    ("option", "value"),
    [("--batch-size", -4), ("--log-every", 0), ("--num-trajectories", 0), ("--seed", 2**32)],
)
def test_numbers_out_of_range_are_refused(bits, tmp_path, option, value):
    done = aloex("learn", bits, "--out", tmp_path / "run", option, value)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"Invalid value for '{option}'" in done.stderr


def test_tables_as_spreadsheets_write_them(tmp_path):
    """A byte order mark, quotes, Windows line ends, a comment, a name in capitals."""
    path = tmp_path / "ÜBER.CSV"
    path.write_bytes(b'\xef\xbb\xbf"0",1\r\n# so far\r\n"1","12"\r\n')
    found = read_table(path)
    assert found.tolist() == [[0, 1], [1, 12]] and found.dtype == np.int64


def test_more_mistakes_are_one_line(bits, tmp_path):
    (tmp_path / "inf.csv").write_text("0,1\n1,inf\n")
    (tmp_path / "big.csv").write_text("1e300,1\n")
    (tmp_path / "blank.csv").write_text("\n# nothing\n")
    (tmp_path / "head.csv").write_text("a,b\n0,1\n")
    (tmp_path / "latin.csv").write_bytes(b"\xe9,1\n")
    np.savez(tmp_path / "zip", x=np.zeros((2, 2), int))
    (tmp_path / "zip.npz").rename(tmp_path / "zip.npy")
    (tmp_path / "file").write_text("")
    (tmp_path / "full.csv").symlink_to("/dev/full")
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / "config.json").write_text("[]")
    learn = ("learn", "bits.npy", "--out", "run", *TINY, "--steps", "2")
    small = ("--f-hidden", "8", "--q-hidden", "8")
    cases = {
        ("learn", "inf.csv", "--out", "run"): "inf.csv has inf in row 2, column 2; every cell",
        ("learn", "big.csv", "--out", "run"): "has 1e+300 in row 1, column 1; every cell must be",
        ("learn", "zip.npy", "--out", "run"): "is an archive of arrays (.npz); save one array",
        ("learn", "blank.csv", "--out", "run"): "blank.csv is empty",
        ("learn", "head.csv", "--out", "run"): "commas between them, in every row as many, and no",
        ("learn", "latin.csv", "--out", "run"): "is not UTF-8 text (byte 0)",
        (*learn, "--coordinator", "nonsense"): "coordinator must be host:port, such as",
        (*learn, "--coordinator", "a:99999"): "coordinator must be host:port, such as",
        (*learn, "--num-processes", "2"): "go with a coordinator",
        (*learn, "--process-id", "0"): "go with a coordinator",
        (*learn, "--coordinator", "a:1", "--num-processes", "2", "--process-id", "2"): "below num_",
        (*learn, "--resume", "--fresh"): "contradict each other",
        (*learn, "--f-hidden", "wide"): "--f-hidden must be numbers",
        (*learn, "--learning-rate-f", "-1"): "learning_rate_f must be positive, got -1",
        (*learn[:3], "file/run", *learn[4:]): "cannot make the folder file/run: Not a directory",
        (*learn[:3], "list", *learn[4:], "--resume"): "config.json is damaged: it must hold a JSON",
        (*learn[:3], "/proc/run", *learn[4:]): "cannot make the folder /proc/run",
        (*learn[:3], "list", *learn[4:], "--fresh", "--z", "none.csv"): "there is no file none.csv",
        ("score", "none", "bits.npy", "--out", "x.csv"): "there is no model file none",
        ("score", "list", "bits.npy", "--out", "x.txt"): "--out must end in .npy or .csv",
        ("sample", "list", "--out", "x.csv"): "config.json is damaged: it must hold a JSON",
    }
    assert_mistakes_are_one_line((), cases, tmp_path)
    here(*learn[:1], bits, "--out", tmp_path / "run", *learn[4:], *small)
    cases = {("sample", "run", "--out", "full.csv"): "full.csv: No space left on device; free some"}
    cases |= {(*learn, *small): "exists already"}
    assert_mistakes_are_one_line((), cases, tmp_path)


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
    (tmp_path / "empty").mkdir()
    for model, words in (
        (tmp_path, "safetensors"),
        (tmp_path / "none", "no model file"),
        (tmp_path / "empty", "neither model.safetensors nor a run"),
    ):
        done = aloex("sample", model, "--out", tmp_path / "x.npy")
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_the_work(bits, tmp_path, number, status):
    """In the middle: the exit status of the signal, a checkpoint, and --resume goes on."""
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
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == status
    assert "--resume" in errors and errors.count("stopping after the steps") == 1
    assert "Traceback" not in errors
    step = max(int(path.name) for path in (run / "checkpoints").iterdir() if path.name.isdigit())
    done = aloex(*arguments, "--steps", step + 1, "--resume")
    assert done.returncode == 0, done.stderr
    assert (run / "model.safetensors").exists()


def test_ctrl_c_while_nothing_is_trained_is_told(tmp_path):
    """Such as while a model is loaded."""
    program = (
        "import os, signal, sys\nfrom aloex.cli import core, main\n"
        "core._load = lambda path: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['aloex', 'sample', 'none', '--out', 'x.csv']\nmain()\n"
    )
    done = python(program, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
