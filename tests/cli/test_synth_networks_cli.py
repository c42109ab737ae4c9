"""`aloex synth train q0`, `train editor`, `eval` and `table --network`, with tiny networks."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from aloex.apps.fill.networks import q0
from aloex.apps.fill.networks.editor_file import build_editor
from aloex.apps.fill.networks.train import feed, train
from aloex.cli.main import app
from commands import assert_mistakes_are_one_line
from studies.results import read
from studies.synth.network import load_network

TINY = ("--size", "tiny", "--batch", "32", "--threads", "1")


@pytest.fixture(scope="module")
def quick():
    """Networks are compiled in haste, and for tasks of one length."""
    jax.config.update("jax_disable_most_optimizations", True)
    classes, feed.CLASSES = feed.CLASSES, (feed.Class(1.0, 88, 50),)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    feed.CLASSES = classes


def new():
    return q0.build({"kind": "q0", "model": "paper", "size": "tiny"}, seed=100)


def aloex(*words):
    """In this process, so that little is compiled twice."""
    app(["synth", *map(str, words)], standalone_mode=False)


def test_networks_are_trained_and_rated(quick, tmp_path, capsys):
    """A q0, the same trained on, an editor for that; a row of both, and what eval prints."""
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
    options = ("--public", "4", "-n", "2", "--out", tmp_path / "rows")
    aloex("table", "--network", f"ALOE={tuned}+{editor}", "--until-fit", *options)
    (row,) = read(tmp_path / "rows/summary.json")
    aloex(*train_q0, "--out", again, "--start", tuned)
    examples = [load_network(run).about["train_examples"] for run in (first, tuned, again)]
    assert examples == [15 * 32, 30 * 32, 45 * 32]
    assert (row["model"], row["train_examples"], row["n_tasks"]) == ("ALOE", 32 * 32, 2)
    assert row["gpu_seconds"] > load_network(tuned).about["gpu_seconds"] > 0
    assert 0 <= row["top1_beam1"] <= 1 and row["top1_beam10"] <= row["top10_beam10"] <= 1
    assert len(row["num_edits"]) == 11 and sum(row["num_edits"]) <= 2 and row["until_fit"]
    (told,) = read(tmp_path / "rows/repairs.json")
    assert told["model"] == "ALOE" and len(told["repairs"]) <= 2
    capsys.readouterr()
    aloex("eval", tuned, "--editor", editor, "--tasks", "2", "--until-fit")
    found = json.loads(capsys.readouterr().out)
    assert found.pop("repairs") == told["repairs"]
    assert found == {name: row[name] for name in found}
    aloex("eval", tuned, "--tasks", "2", "--wider", "11")
    found = json.loads(capsys.readouterr().out)
    assert found["top1_beam11"] in (0.0, 0.5, 1.0) and "num_edits" not in found


def filled(build, settings, value):
    """A network with all weights the same, which is made in no time."""
    like = eqx.filter_eval_shape(build, settings)
    is_shape = lambda a: isinstance(a, jax.ShapeDtypeStruct)
    return jax.tree.map(lambda a: jnp.full(a.shape, value, a.dtype) if is_shape(a) else a, like)


def test_mistakes_are_one_line(tmp_path):
    paper, best = ({"kind": "q0", "model": model, "size": "tiny"} for model in q0.KINDS)
    files = {"paper": (paper, 0.0), "other": (paper, 1.0), "best": (best, 0.0)}
    for name, (settings, value) in files.items():
        q0.save(tmp_path / name, filled(q0.build, settings, value), settings)
    (tmp_path / "cut").write_bytes((tmp_path / "paper").read_bytes()[:-100])
    settings = {**paper, "kind": "editor", "q0_size": "tiny"}
    q0.save(tmp_path / "run/model.safetensors", filled(build_editor, settings, 0.0), settings)
    config = json.dumps({"q0": q0.fingerprint(tmp_path / "paper")})
    (tmp_path / "run/config.json").write_text(config)
    train_q0, train_editor = (("train", kind, "--out", "new", *TINY) for kind in ("q0", "editor"))
    train_q0 += ("--model", "paper")
    cases = {
        ("eval", "none"): "there is no model file none",
        ("eval", "."): "there is no model file model.safetensors",
        ("eval", "cut"): "cut short",
        ("eval", "run"): "this is no q0, but 'editor'",
        ("eval", "paper", "--editor", "paper"): "this is no editor, but 'q0'",
        ("eval", "paper", "--editor", "none"): "there is no model file none",
        ("eval", "best", "--editor", "run"): "run is the editor of another q0",
        ("eval", "other", "--editor", "run"): "run is the editor of another q0",
        ("eval", "paper", "--public", "5"): "--public must be 1 to 4, got 5",
        ("eval", "paper", "--tasks", "0"): "--tasks must be positive, got 0",
        ("eval", "paper", "--set", "train"): "the frozen sets are",
        ("eval", "paper", "--until-fit"): "--until-fit is for an editor",
        ("eval", "paper", "--wider", "5"): "wider beams than 10 are asked for, got (5,)",
        ("eval", "paper", "--wider", "wide"): "--wider must be numbers such as",
        ("table", "--network", "paper"): "--network is NAME=Q0 or NAME=Q0+EDITOR",
        ("table", "--network", "x=none"): "there is no model file none",
        (*train_q0, "--model", "worst"): "a q0 is one of paper, best, got 'worst'",
        (*train_q0, "--size", "huge"): "the size is one of full, tiny, got 'huge'",
        (*train_q0, "--batch", "4"): "a batch has 32 tasks or more, got 4",
        (*train_q0, "--steps", "0"): "the number of steps must be positive, got 0",
        (*train_q0, "--seed", "1"): "seed 1 is that of a frozen set",
        (*train_q0, "--fewer", "2"): "fewer is a share, from 0 to 1, got 2.0",
        (*train_q0, "--start", "best"): "best holds",
        (*train_editor, "--q0", "none"): "there is no model file none",
        (*train_editor, "--q0", "paper", "--trajectories", "0"): "trajectories: 1 or more, got 0",
        (*train_editor, "--q0", "paper", "--seed", "2"): "seed 2 is that of a frozen set",
    }
    assert_mistakes_are_one_line(("synth",), cases, tmp_path)
    assert not (tmp_path / "new").exists()
