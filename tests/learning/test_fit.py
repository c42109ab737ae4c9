"""The loop: resuming bit for bit, stopping, dying, and saying what is wrong."""

import functools
import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from rich.console import Console

import toy
from aloex.base import progress
from aloex.base.errors import CheckpointError, InputError, NonFiniteLossError
from aloex.learning import HostBatches, RunFolder, Stopped, fit
from aloex.learning.data.tables import check_data
from toy import SETTINGS, Toy, X, metrics, same, train

PROGRAM = [sys.executable, str(Path(toy.__file__))]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The state and the folder of a run of 60 steps that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    return train(folder, 60), folder


@pytest.mark.parametrize("stop_at", [7, 10, 45])
def test_resumed_run_equals_the_whole_one(whole, tmp_path, stop_at):
    train(tmp_path / "run", stop_at)
    resumed = train(tmp_path / "run", 60, resume=True)
    assert same(resumed, whole[0])
    theirs, ours = metrics(whole[1]), metrics(tmp_path / "run")
    assert ours[-1] == theirs[-1]
    if stop_at % SETTINGS["log_every"] == 0:
        assert ours == theirs
    assert int(resumed.step) == 60


def test_chunks_do_not_change_a_bit(whole):
    assert same(whole[0], train(None, 60, log_every=1, checkpoint_every=10**6))
    assert same(whole[0], train(None, 60, log_every=1000, checkpoint_every=7))
    assert not same(whole[0], train(None, 60, seed=1))


def test_the_state_given_is_not_used_up():
    learner, rows = Toy(), []
    state = learner.init()
    trained = fit(learner, state, X, num_steps=5, **SETTINGS, progress=False, on_log=rows.append)
    assert np.array_equal(state.logits, np.zeros(4)) and not np.array_equal(trained.logits, [0] * 4)
    assert [row["step"] for row in rows] == [5]


def test_rows_are_means_over_their_steps():
    every, means = [], []
    train(None, 20, log_every=1, on_log=every.append)
    train(None, 20, log_every=8, on_log=means.append)
    assert [row["step"] for row in means] == [8, 10, 16, 20]  # logs and checkpoints
    np.testing.assert_allclose(
        means[2]["loss"], np.mean([row["loss"] for row in every[10:16]]), rtol=1e-6
    )


def test_training_longer_is_a_fair_wish(whole, tmp_path):
    train(tmp_path / "run", 30)
    assert same(train(tmp_path / "run", 60, resume=True), whole[0])
    assert metrics(tmp_path / "run") == metrics(whole[1])
    assert same(train(tmp_path / "run", 60, resume=True), whole[0])  # nothing left to do
    with pytest.raises(InputError, match=r"at step 60 already.*num_steps=30"):
        train(tmp_path / "run", 30, resume=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_stop_cleanly(number, tmp_path):
    folder = tmp_path / "run"
    with subprocess.Popen(
        [*PROGRAM, str(folder), "10000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()  # training has begun
        child.send_signal(number)
        out, err = child.communicate()
    assert child.returncode == toy.STOPPED
    word, step, latest = out.splitlines()[-1].split()
    assert word == "stopped" and step == latest
    assert err.splitlines() == [
        "stopping after the steps that run now; Ctrl-C again stops without saving",
        f"stopped at step {step} of 10000000; go on with --resume (resume=True in Python) "
        f"in the folder {folder}",
    ]
    assert metrics(folder)[-1]["step"] == int(step)


def test_signal_in_this_process_stops_and_puts_the_handlers_back():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Stopped, match="stopped at step 5 of 100; there is no folder") as caught:
        train(None, 100, on_log=lambda row: signal.raise_signal(signal.SIGTERM))
    assert signal.getsignal(signal.SIGTERM) is before
    assert same(caught.value.state, train(None, 5))


def test_second_sigint_interrupts_at_once():
    def twice(row):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(None, 100, on_log=twice)


# With 60 steps and a checkpoint every 10 there are two renames to make the folder, then two for
# each checkpoint (manifest, folder), and one more to discard an old one from the fourth on.
@pytest.mark.parametrize("die_at", [3, 5, 6, 11, 12])
def test_kill_inside_a_checkpoint_loses_one_interval_at_most(whole, tmp_path, die_at):
    child = subprocess.run(
        [*PROGRAM, str(tmp_path / "run"), "60", str(die_at)], text=True, stdout=-1
    )
    assert child.returncode == -signal.SIGKILL
    said = int(child.stdout.split()[-1])
    kept = RunFolder(tmp_path / "run").checkpoints.latest() or 0
    assert said - kept <= SETTINGS["checkpoint_every"]
    assert same(train(tmp_path / "run", 60, resume=True), whole[0])
    assert metrics(tmp_path / "run") == metrics(whole[1])


def test_kill_at_any_moment(whole, tmp_path):
    with subprocess.Popen([*PROGRAM, str(tmp_path / "run"), "60"], stdout=-1, text=True) as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(4)][-1]
        child.kill()
    kept = RunFolder(tmp_path / "run").checkpoints.latest() or 0
    assert int(said) - kept <= SETTINGS["checkpoint_every"]
    assert same(train(tmp_path / "run", 60, resume=True), whole[0])
    assert metrics(tmp_path / "run") == metrics(whole[1])


def test_nan_names_step_quantity_and_last_good_checkpoint(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(
        NonFiniteLossError, match=r"loss became nan at step 33; .*000000030"
    ) as error:
        train(folder, 60, learner=Toy(nan_at=33))
    assert str(folder / "checkpoints") in str(error.value)
    assert RunFolder(folder).checkpoints.latest() == 30
    assert metrics(folder)[-1]["step"] == 30
    with pytest.raises(NonFiniteLossError, match="no checkpoint was saved"):
        train(None, 60, learner=Toy(nan_at=33))


def test_infinite_weights_are_never_saved(tmp_path):
    with pytest.raises(NonFiniteLossError, match=r"in steps 6 to 10.*no checkpoint"):
        train(tmp_path / "run", 60, learner=Toy(inf_weights_at=10))  # its loss is finite still
    assert RunFolder(tmp_path / "run").checkpoints.latest() is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_steps": -1}, "num_steps must not be negative, got -1"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"checkpoint_every": 0}, "checkpoint_every must be at least 1, got 0"),
        ({"log_every": -5}, "log_every must be at least 1, got -5"),
        ({"seed": -1}, "seed must be in"),
        ({"resume": True}, "needs the folder"),
        ({"num_steps": None}, "num_steps must be given"),
        ({"batch_size": -4}, "batch_size must be at least 1, got -4"),
        ({"x": X[:0]}, "x is empty"),
        ({"x": X[0]}, r"got shape \(4,\)"),
        ({"x": X / 2}, "integers, got float64"),
        ({"z": X[:7]}, r"\(50, 4\) and \(7, 4\)"),
        ({"z": X[:7, 0]}, r"\(50, 4\) and \(7,\)"),
        ({"z": 1.0}, r"\(50, 4\) and \(\)"),
    ],
)
def test_wrong_arguments(change, message):
    arguments = {"x": X, "num_steps": 5, "progress": False, **change}
    with pytest.raises(InputError, match=message):
        fit(Toy(), Toy().init(), **arguments)


def test_a_condition_may_be_one_number():
    x, z = check_data(X, X[:, 0])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(z, X[:, 0])


def host_batch(step):
    return np.random.default_rng(step).integers(0, 2, (8, 4))


def train_on_host(folder, num_steps, make=host_batch, **settings):
    learner = Toy()
    source = HostBatches(make, needs_state=settings.pop("needs_state", False))
    settings = {**SETTINGS, "progress": False, **settings}
    return fit(learner, learner.init(), source, num_steps=num_steps, folder=folder, **settings)


@pytest.mark.parametrize("stop_at", [7, 20])
def test_batches_of_the_host_are_resumed_bit_for_bit(tmp_path, stop_at):
    whole = train_on_host(tmp_path / "whole", 30)
    train_on_host(tmp_path / "run", stop_at)
    assert same(train_on_host(tmp_path / "run", 30, resume=True), whole)
    assert metrics(tmp_path / "run")[-1] == metrics(tmp_path / "whole")[-1]
    other = train_on_host(None, 30, make=lambda step: host_batch(step + 1))
    assert not same(other, whole)


def test_batches_of_the_host_are_made_ahead_and_in_order():
    asked, lock = [], threading.Lock()

    def make(step):
        with lock:
            asked.append(step)
        return host_batch(step)

    train_on_host(None, 10, make=make)
    assert set(range(10)) <= set(asked) and len(asked) == len(set(asked)) <= 10 + 4


def test_a_batch_may_depend_on_the_state():
    seen = []

    def make(step, state):
        seen.append((step, int(state.step)))
        return host_batch(step)

    assert same(train_on_host(None, 5, make=make, needs_state=True), train_on_host(None, 5))
    assert seen == [(i, i) for i in range(5)]


def test_an_error_in_making_a_batch_is_raised():
    def good_until_3(step):
        if step == 3:
            raise InputError("batch 3 is bad")
        return host_batch(step)

    with pytest.raises(InputError, match="batch 3 is bad"):
        train_on_host(None, 10, make=good_until_3)


def test_a_table_on_the_disk_gives_the_run_of_one_in_memory(tmp_path):
    """The same rows; another program runs the steps, so sums may be rounded otherwise."""
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    settings = {**SETTINGS, "num_steps": 30, "progress": False}
    from_disk = fit(Toy(), Toy().init(), mapped, folder=tmp_path / "run", **settings)
    in_memory = train(tmp_path / "other", 30)
    np.testing.assert_allclose(from_disk.logits, in_memory.logits, rtol=1e-5)
    told = [RunFolder(tmp_path / name).config()["data"] for name in ("run", "other")]
    assert told[0] == told[1]


def test_it_saves_and_stops_when_its_time_is_up(whole, tmp_path):
    with pytest.raises(Stopped, match="stopped at step") as caught:
        train(tmp_path / "run", 60, max_seconds=0.0)
    assert caught.value.number is None and 0 < caught.value.step < 60
    assert same(train(tmp_path / "run", 60, resume=True), whole[0])


class Slow(Toy):
    """A third of a second for each step."""

    def step_on_shard(self, keys, state, x, z=None, *, axis=None):
        state, info = super().step_on_shard(keys, state, x, z, axis=axis)
        wait = jax.pure_callback(_sleep, jax.ShapeDtypeStruct((), np.float32), info.loss)
        return state, info._replace(loss=info.loss + wait)


def _sleep(_):
    time.sleep(0.3)
    return np.float32(0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_answered_long_before_the_next_row(number, capsys):
    """A row is due after 1000 steps, five minutes; the signal ends it in a second or two."""
    began = time.monotonic()
    timer = threading.Timer(2.0, lambda: os.kill(os.getpid(), number))
    timer.start()
    with pytest.raises(Stopped) as caught:
        train(None, 1000, learner=Slow(), log_every=1000, checkpoint_every=1000)
    timer.join()
    assert time.monotonic() - began < 60 and 0 < caught.value.step < 100
    assert caught.value.number == number
    assert capsys.readouterr().err.startswith("stopping after the steps that run now; Ctrl-C again")


def test_other_data_is_another_run(tmp_path):
    train(tmp_path / "run", 10)
    with pytest.raises(CheckpointError, match="data="):
        fit(
            Toy(), Toy().init(), 1 - X, num_steps=10, folder=tmp_path / "run", resume=True,
            **SETTINGS,
        )  # fmt: skip


def test_progress_bar_on_a_terminal(monkeypatch):
    screen = io.StringIO()
    terminal = functools.partial(Console, file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "Console", lambda stderr: terminal())
    with pytest.raises(Stopped):
        train(None, 20, progress=True, on_log=lambda row: signal.raise_signal(signal.SIGTERM))
    assert " 5/20" in screen.getvalue() and "loss 0." in screen.getvalue()
    assert "stopped at step 5 of 20" in screen.getvalue()


def test_progress_is_told_on_stderr_and_can_be_silenced(capsys):
    train(None, 20, progress=True)
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("step 20 of 20, loss ")
    train(None, 20)
    assert capsys.readouterr() == ("", "")
