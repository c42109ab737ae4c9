"""`aloex programs`: tasks are made; q0, editor and energy are trained, with tiny networks."""

import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from aloex.apps.programs.energy import train_energy
from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.editor_file import build_editor, load_editor
from aloex.apps.programs.networks.train import feed, train, train_editor
from aloex.apps.programs.tasks import generate, load
from aloex.cli import programs
from aloex.cli.main import app
from commands import aloex as aloex_process
from commands import assert_mistakes_are_one_line
from studies.synth.network import load_network

TINY = ("--size", "tiny", "--batch", "32", "--threads", "1")


@pytest.fixture(scope="module")
def quick():
    """Networks are compiled in haste, and for tasks of one length."""
    jax.config.update("jax_disable_most_optimizations", True)
    buckets, feed.BUCKETS = feed.BUCKETS, (feed.LengthBucket(1.0, 88, 50),)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    feed.BUCKETS = buckets


def new():
    return q0.build({"kind": "q0", "model": "paper", "size": "tiny"}, seed=100)


def aloex(*words):
    """In this process, so that little is compiled twice."""
    app(["programs", *map(str, words)], standalone_mode=False)


def test_tasks_are_made(tmp_path):
    done = aloex_process("programs", "tasks", "-n", "3", "--out", "some.tsv.xz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "some.tsv.xz") == list(generate(3, seed=100).tasks())
    taken = aloex_process("programs", "tasks", "--seed", "1", "--out", "x", cwd=tmp_path)
    assert taken.returncode == 2 and "frozen set" in taken.stderr


def test_numbers_that_are_too_large_are_refused(tmp_path):
    tasks = ("programs", "tasks", "--out", "x.tsv.xz")
    for option in (("--first", 2**63), ("--seed", 2**32), ("-n", 0)):
        done = aloex_process(*tasks, *option, cwd=tmp_path)
        assert done.returncode == 2 and "Invalid value for" in done.stderr, option


def test_training_stops_in_time_and_says_how_to_go_on(tmp_path):
    command = ("programs", "train", "energy", "--out", "run", "--batch", "2")
    stopped = aloex_process(*command, "--seconds", "1e-9", cwd=tmp_path)
    assert stopped.returncode == 0 and "go on with --resume" in stopped.stderr, stopped.stderr
    cases = {
        ("--out", "run"): "exists already",
        ("--out", "run", "--resume"): "has batch_size=2, but now batch_size=64",
        ("--out", "new", "--jobs", "0"): "--jobs must be at least 1",
    }
    assert_mistakes_are_one_line(("programs", "train", "energy"), cases, tmp_path)


def test_networks_are_trained(quick, tmp_path, capsys):
    """A q0, the same trained on twice, and an editor; what their files tell of the training."""
    names = ("first", "tuned", "again", "editor")
    first, tuned, again, editor = (tmp_path / name for name in names)
    train_q0 = ("train", "q0", "--model", "paper", *TINY, "--steps", 15, "--learning-rate", 0.02)
    aloex(*train_q0, "--out", first)
    aloex(*train_q0, "--out", tuned, "--start", first, "--seed", 101)
    batch = feed.Batcher(128, seed=999, canonical=False).check()(0)
    losses = [eqx.filter_jit(train.q0_loss)(net, batch)[0] for net in (new(), q0.load(tuned)[0])]
    assert losses[1] < losses[0] - 1.0, losses  # nats for a program; 32.1 and 30.2 were seen
    aloex("train", "editor", "--q0", tuned, "--out", editor, *TINY, "--steps", 2)
    assert f"model: {editor / 'model.safetensors'}" in capsys.readouterr().out
    trained, settings = load_editor(editor)
    q0.save(tmp_path / "untrained", build_editor(settings, seed=200), settings)
    untrained, _ = load_editor(tmp_path / "untrained")  # rounded as all files are
    assert not eqx.tree_equal(untrained.chooser, trained.chooser)
    aloex(
        *train_q0, "--out", again, "--start", tuned, "--learning-rate", 1e-30
    )  # changes no weight
    assert eqx.tree_equal(q0.load(again)[0], q0.load(tuned)[0])  # it began with these weights
    examples = [load_network(run).about["train_examples"] for run in (first, tuned, again)]
    assert examples == [15 * 32, 30 * 32, 45 * 32]
    alone, both = load_network(tuned).about, load_network(tuned, editor).about
    assert both["train_examples"] == 32 * 32
    assert both["gpu_seconds"] > alone["gpu_seconds"] > 0


def filled(build, settings, value):
    """A network with all weights the same, which is made in no time."""
    like = eqx.filter_eval_shape(build, settings)
    is_shape = lambda a: isinstance(a, jax.ShapeDtypeStruct)
    return jax.tree.map(lambda a: jnp.full(a.shape, value, a.dtype) if is_shape(a) else a, like)


def test_mistakes_are_one_line(tmp_path):
    paper, best = ({"kind": "q0", "model": model, "size": "tiny"} for model in q0.KINDS)
    for name, settings in {"paper": paper, "best": best}.items():
        q0.save(tmp_path / name, filled(q0.build, settings, 0.0), settings)
    train_q0, train_editor = (("train", kind, "--out", "new", *TINY) for kind in ("q0", "editor"))
    train_q0 += ("--model", "paper")
    cases = {
        (*train_q0, "--batch", "4"): "a batch has 32 tasks or more, got 4",
        (*train_q0, "--steps", "0"): "the number of steps must be positive, got 0",
        (*train_q0, "--learning-rate", "-1"): "--learning-rate must be positive, got -1.0",
        (*train_editor, "--q0", "paper", "--learning-rate", "nan"): "must be positive, got nan",
        ("tasks", "-n", "1", "--out", "/dev/full"): "cannot write /dev/full: No space left on",
        (*train_q0, "--seed", "1"): "seed 1 is that of a frozen set",
        (*train_q0, "--fewer", "2"): "fewer is a share, from 0 to 1, got 2.0",
        (*train_q0, "--start", "best"): "best holds",
        (*train_editor, "--q0", "none"): "there is no model file none",
        (*train_editor, "--q0", "paper", "--trajectories", "0"): "trajectories: 1 or more, got 0",
        (*train_editor, "--q0", "paper", "--seed", "2"): "seed 2 is that of a frozen set",
    }
    assert_mistakes_are_one_line(("programs",), cases, tmp_path)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "command, function",
    [
        (programs.train_q0, train.train_q0),
        (programs.train_editor, train_editor.train_editor),
        (programs.train_energy, train_energy),
    ],
)
def test_commands_have_the_defaults_of_their_functions(command, function):
    of_command, of_function = (inspect.signature(f).parameters for f in (command, function))
    stated = [p for p in of_function.values() if p.default is not p.empty and p.name in of_command]
    assert len(stated) >= 5
    assert {p.name: p.default for p in stated} == {
        p.name: of_command[p.name].default for p in stated
    }


@pytest.mark.parametrize(
    "option, message",
    [
        (("--model", "worst"), "'worst' is not one of 'paper', 'best'"),
        (("--size", "huge"), "'huge' is not one of 'full', 'tiny'"),
    ],
)
def test_choices_are_listed(option, message):
    with pytest.raises(Exception, match=message):
        aloex("train", "q0", "--out", "new", *option)
