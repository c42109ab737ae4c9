"""`python -m studies.synth`: version spaces and networks rated, with networks that are known."""

import json
import re
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from aloex.apps.programs.language import CONSTANTS
from aloex.apps.programs.language.tokens import EOS, INDEX
from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.editor_file import build_editor
from aloex.apps.programs.tasks import Task
from aloex.base.errors import AloexError
from studies.results import read
from studies.synth.__main__ import app
from studies.synth.frozen import frozen

PAPER, BEST = ({"kind": "q0", "model": model, "size": "tiny"} for model in q0.KINDS)
EDITOR = {**PAPER, "kind": "editor", "q0_size": "tiny"}


@pytest.fixture(autouse=True, scope="module")
def quick():
    """Networks are compiled in haste."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def synth(*words):
    app([*map(str, words)], standalone_mode=False)


def filled(build, settings, value=0.0):
    """A network with all weights the same, which is made in no time."""
    like = eqx.filter_eval_shape(build, settings)
    is_shape = lambda a: isinstance(a, jax.ShapeDtypeStruct)
    return jax.tree.map(lambda a: jnp.full(a.shape, value, a.dtype) if is_shape(a) else a, like)


def writing(model, **logits):
    """The network with these logits of constants, which writes programs of one constant."""
    bias = jnp.zeros_like(model.head.bias).at[jnp.array([INDEX["ConstStr"], EOS])].set(30.0)
    for char, logit in logits.items():
        bias = bias.at[INDEX[str(CONSTANTS.index(char) + 1)]].set(logit)
    return eqx.tree_at(lambda model: model.head.bias, model, bias)


@pytest.fixture
def known(tmp_path, monkeypatch):
    """A q0 that writes a dash, or else a stop, and no comma; an editor that replaces by a comma.

    And the tasks that they are rated on: the first is a comma, the second is beyond both.
    """
    start = writing(filled(q0.build, PAPER), **{"-": 20.0, ".": 10.0, ",": -100.0})
    editor = writing(filled(build_editor, EDITOR), **{",": 20.0})
    kinds = lambda editor: editor.chooser.kinds.bias
    editor = eqx.tree_at(kinds, editor, jnp.array([20.0, 0.0, 0.0]))
    q0.save(tmp_path / "q0", start, PAPER)
    q0.save(tmp_path / "editor", editor, EDITOR)
    tasks = [constant(","), frozen("validation")[1]]
    monkeypatch.setattr("studies.synth.frozen.frozen", lambda name: tasks)
    return tmp_path / "q0", tmp_path / "editor", tasks


def constant(char):
    return Task(f'ConstStr("{char}")', tuple((f"a{i}{char}b", char) for i in range(10)))


def test_networks_are_rated(known, tmp_path, capsys):
    start, editor, tasks = known
    options = ("--public", "4", "-n", "2", "--out", tmp_path / "rows")
    synth("table", "--network", f"ALOE={start}+{editor}", "--until-fit", *options)
    (row,) = read(tmp_path / "rows/summary.json")
    assert (row["model"], row["n_tasks"], row["until_fit"]) == ("ALOE", 2, True)
    assert [row[f"top{k}_beam{n}"] for k, n in ((1, 1), (1, 10), (10, 10))] == [0.5, 0.5, 0.5]
    assert row["num_edits"] == row["num_edits_right"] == [0, 1, *[0] * 9]
    assert row["repaired"] == 0.5
    (summary,) = read(tmp_path / "rows/repairs.json")
    (repair,) = summary["repairs"]
    assert (repair["task"], repair["start"]) == (0, 'ConstStr("-")')
    assert repair["edits"] == ['replace expression 1: ConstStr(",")']
    capsys.readouterr()
    synth("eval", start, "--editor", editor, "--tasks", "2", "--until-fit")
    found = json.loads(capsys.readouterr().out)
    assert found.pop("repairs") == summary["repairs"]
    assert found == {name: row[name] for name in found}
    tasks[0] = constant(".")
    synth("eval", start, "--tasks", "2", "--wider", "11")
    found = json.loads(capsys.readouterr().out)
    assert (found["top1_beam1"], found["top1_beam10"], found["top1_beam11"]) == (0.0, 0.5, 0.5)
    assert "num_edits" not in found


def test_the_example_of_the_page_runs(known, tmp_path, monkeypatch):
    start, editor, tasks = known
    runs = tmp_path / "runs"
    runs.mkdir()
    start.rename(runs / "best")
    editor.rename(runs / "best_editor")
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs/synth_models.md"
    (example,) = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    names: dict = {}
    exec(compile(example, str(page), "exec"), names)  # noqa: S102
    assert names["row"]["n_tasks"] == len(tasks)


def test_version_spaces_are_rated(tmp_path):
    """The first test tasks; each has a program that fits, and some of the first ones are right."""
    command = ("table", "-n", "3", "--public", "4", "--out", tmp_path / "here", "--jobs", "2")
    synth(*command, "--model", "version space + energy, inputs known")
    (row,) = read(tmp_path / "here/summary.json")
    assert row["n_tasks"] == 3 and row["solved"] == 1.0
    assert 0 < row["top1_beam1"] <= row["top10_beam10"]


def test_mistakes_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"paper": (PAPER, 0.0), "other": (PAPER, 1.0), "best": (BEST, 0.0)}
    for name, (settings, value) in files.items():
        q0.save(tmp_path / name, filled(q0.build, settings, value), settings)
    (tmp_path / "cut").write_bytes((tmp_path / "paper").read_bytes()[:-100])
    q0.save(tmp_path / "run/model.safetensors", filled(build_editor, EDITOR), EDITOR)
    config = json.dumps({"q0": q0.fingerprint(tmp_path / "paper")})
    (tmp_path / "run/config.json").write_text(config)
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
        ("table", "--model", "none"): "there is no model 'none'",
        ("table", "--public", "5"): "--public must be 1 to 4",
        ("table", "--set", "train"): "the frozen sets are",
    }
    for words, message in cases.items():
        with pytest.raises(AloexError) as error:
            synth(*words)
        assert message in str(error.value)
