"""The study: every method can take a step, runs are kept and reused, and scores are right."""

import json
import math
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from aloex.apps.synthetic import evaluate, methods
from aloex.apps.synthetic.data import DATA_SETS, pack, unpack
from aloex.apps.synthetic.density import FLOOR
from aloex.apps.synthetic.train import Problem, metrics, train
from aloex.apps.synthetic.trained import About, Trained, load
from aloex.base.errors import CheckpointError, InputError
from aloex.learning import Model, build_networks
from studies import results
from studies.synthetic import gradient_variance, page, table

TINY = {
    "num_steps": 2,
    "f_hidden": (4,),
    "q0_hidden": (4,),
    "q_hidden": (4,),
    "q0_head": 4,
    "batch_size": 8,
    "num_chains": 16,
}
ABOUT = About("paper", "checkerboard", 0, 1.5, 1, "cpu")


def constant_energy(value=0.0):
    """A model whose f is the same everywhere: p_f is uniform."""
    settings = methods.choose("pcd", preset="quick", **TINY)
    f, _ = methods.build_networks(settings, jax.random.key(0))
    f = jax.tree.map(lambda a: 0 * a if eqx.is_array(a) else a, f)
    f = eqx.tree_at(lambda f: f.rest.layers[-1].bias, f, jnp.array([value]))
    return Trained(settings, ABOUT, f, None)


@pytest.mark.parametrize("preset", ["paper", "quick"])
@pytest.mark.parametrize("recipe", ["paper", "best"])
@pytest.mark.parametrize("method", methods.METHODS)
def test_every_method_takes_a_step(method, recipe, preset):
    """Shapes only: nothing is compiled."""
    settings = methods.choose(method, recipe, preset)
    learner = methods.build_learner(settings)
    state = eqx.filter_eval_shape(methods.init, settings, jax.random.key(0))
    x = jax.ShapeDtypeStruct((settings.config.batch_size * settings.config.num_data, 32), jnp.int32)
    after, _ = eqx.filter_eval_shape(learner.step, jax.random.key(0), state, x)
    f, q = methods.learned(after)
    assert (f is None) == (method in ("autoregressive", "vae"))
    assert (q is None) == (method in ("pcd", "cd"))
    like = eqx.filter_eval_shape(methods.build_networks, settings, jax.random.key(0))
    assert jax.tree.structure((f, q)) == jax.tree.structure(like)


def test_recipes_and_presets():
    paper = methods.choose("aloe")
    assert (paper.num_steps, paper.config.batch_size) == (100_100, 128)
    assert paper.config.decay_steps is None and not paper.config.repeats
    best = methods.choose("aloe", "best", num_steps=48)
    assert best.config.persistence > 1 and best.config.decay_steps == best.num_rounds == 6
    with pytest.raises(InputError, match="multiple of num_f_steps=8, got 50"):
        methods.choose("aloe", "best", num_steps=50)
    assert methods.choose("aloe-rnn").config.q0_hidden == (256,)
    assert methods.choose("aloe-fac-noedit").config.max_edits == 0
    assert methods.choose("pcd").config.num_sweeps == 10
    for wrong in (("gan",), ("aloe", "good"), ("aloe", "best", "huge")):
        with pytest.raises(InputError, match=wrong[-1]):
            methods.choose(*wrong)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two problems, and its models."""
    folder = tmp_path_factory.mktemp("run")
    settings = methods.choose("pcd", preset="quick", **TINY)
    problems = [Problem("moons", 0), Problem("checkerboard", 1)]
    return folder, settings, problems, train(folder, settings, problems, recipe="paper")


def test_a_run_leaves_its_models(run):
    folder, settings, problems, paths = run
    assert [path.name for path in paths] == ["moons-0.safetensors", "checkerboard-1.safetensors"]
    models = [load(path) for path in paths]
    assert [(m.about.data, m.about.seed) for m in models] == [tuple(p) for p in problems]
    assert all(m.settings == settings and m.about.group_size == 2 for m in models)
    weights = [np.asarray(m.f.first.weight) for m in models]
    assert not np.array_equal(*weights)
    assert len(metrics(folder)[-1]["f_loss"]) == 2
    before = paths[0].stat().st_mtime_ns
    assert train(folder, settings, problems) == paths  # done already
    assert paths[0].stat().st_mtime_ns == before


def test_what_cannot_be_trained_or_read(run, tmp_path):
    folder, settings, problems, paths = run
    with pytest.raises(InputError, match="nothing to train"):
        train(folder, settings, [])
    with pytest.raises(InputError, match="named twice"):
        train(folder, settings, [problems[0]] * 2)
    with pytest.raises(CheckpointError, match="problems"):  # another run's folder
        train(folder, settings, [Problem("circles", 0)])
    other = Model(settings.config, *build_networks(settings.config, jax.random.key(0)))
    other.save(tmp_path / "other.safetensors")
    with pytest.raises(CheckpointError, match="not a model that this version of Aloex can read"):
        load(tmp_path / "other.safetensors")
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(paths[0].read_bytes()[:-5])
    with pytest.raises(CheckpointError, match="cut short"):
        load(cut)


def test_a_constant_energy_has_the_nll_of_the_uniform_law():
    """log Z - f is 32 log 2, whatever f's constant; AIS finds the same from both sides."""
    gap, details = evaluate.nll(constant_energy(3.0))
    exact = 32 * math.log(2) - FLOOR["checkerboard"]
    assert abs(float(gap.mean) - exact) < 5 * float(gap.standard_error) + 1e-4
    assert float(gap.standard_error) < 0.01
    log_z = 32 * math.log(2) + 3
    for side in ("lower", "upper"):
        error = 5 * float(details[f"ais_{side}_se"]) + 1e-3
        assert abs(float(details[f"ais_{side}"]) - log_z) < error


def test_resampled_proposals_follow_p_f():
    """Half of the proposals are data, but under a constant energy none but uniform draws count."""
    log_z, draws = evaluate.log_z_by_importance(constant_energy().f, "checkerboard")
    assert abs(float(log_z.value) - 32 * math.log(2)) < 5 * float(log_z.standard_error)
    x = np.asarray(draws(jax.random.key(0), 4000))
    z = (x.mean(axis=0) - 0.5) / (0.5 / np.sqrt(len(x)))
    assert np.abs(z).max() < 4.7  # alpha = 1e-4 for 32 means at once
    data = np.asarray(unpack(evaluate.fresh_data("checkerboard").x[:4000])).mean(axis=0)
    assert np.abs(data - 0.5).max() > 0.1


def test_a_row_has_the_columns_of_the_table():
    row = evaluate.evaluate(constant_energy(), num_repeats=2, n=200)
    named = ("method", "recipe", "data", "seed", "nll_minus_floor", "nll_se", "mmd_exp")
    named += ("mmd_exp_se", "mmd_linear", "mmd_linear_se", "steps", "train_seconds", "device")
    assert row.keys() >= set(named)
    assert row["mmd_exp"] > 5 * row["mmd_exp_se"] > 0  # uniform bits are no checkerboard
    perfect = evaluate.data_row("checkerboard", num_repeats=5, n=500)
    assert abs(perfect["mmd_exp"]) < row["mmd_exp"] / 5
    json.dumps([row, perfect])


def test_packing_is_undone():
    x = np.random.default_rng(0).integers(2, size=(50, 32))
    np.testing.assert_array_equal(unpack(pack(jnp.asarray(x))), x)


def test_a_model_is_evaluated_once(run, tmp_path, monkeypatch):
    calls = []

    def fake(trained, exact_log_z):
        assert exact_log_z == (1.5 if trained.about.data == "moons" else None)
        calls.append(trained.about.data)
        keys = {"method": "pcd", "recipe": "paper", "seed": trained.about.seed}
        return {**keys, "data": trained.about.data, "nll_minus_floor": 0.1}

    monkeypatch.setattr(evaluate, "evaluate", fake)
    _, settings, problems, _ = run
    line = table.Entry("pcd", "paper", settings)
    (tmp_path / "pcd-paper").mkdir()
    (tmp_path / "pcd-paper" / "moons-0.log_z.json").write_text('{"log_z": 1.5}')
    for _ in range(2):
        table.make([line], problems, runs=tmp_path, summary=tmp_path / "summary.json")
    assert calls == ["moons", "checkerboard"]
    assert len(results.read(tmp_path / "summary.json")) == 2


def test_every_ablation_differs_from_the_best_in_one_thing():
    best, *less = table.ablation("paper", num_steps=8)
    assert best.recipe == "best"
    for line in less:
        assert line.settings != best.settings
        methods.build_learner(line.settings)
    assert len({line.recipe for line in less}) == len(less) == len(table.WITHOUT)


def test_the_grids_hold_the_papers():
    lines = table.tuning([("pcd", "paper"), ("ade", "paper")], "quick")
    assert [line.method for line in lines] == ["pcd"] * 3 + ["ade"] * 9
    assert lines[0].recipe == "paper, restart=0.05" and lines[0].settings.restart == 0.05
    every = table.tuning(table.GRIDS, "paper")
    assert len({(line.recipe, line.settings) for line in every}) == len(every)
    for line in every:
        methods.build_learner(line.settings)


@pytest.mark.parametrize("method", gradient_variance.METHODS)
def test_gradient_variance_is_that_of_its_gradients(method):
    settings = methods.choose(method, preset="quick", **{**TINY, "max_edits": 0})
    learner = methods.build_learner(settings)
    state = methods.init(settings, jax.random.key(0))
    keys = jax.random.split(jax.random.key(0), gradient_variance.NUM_BATCHES)

    @eqx.filter_jit
    def gradient(key):
        grads = gradient_variance._gradient(learner, state, jax.random.split(key, 8))
        return ravel_pytree(eqx.filter(grads, eqx.is_inexact_array))[0]

    grads = np.stack([gradient(key) for key in keys])
    noise = gradient_variance.variance(learner, state, 8)
    np.testing.assert_allclose(noise.gradient_variance, grads.var(axis=0, ddof=1).sum(), rtol=1e-3)
    np.testing.assert_allclose(noise.gradient_norm, np.linalg.norm(grads.mean(axis=0)), rtol=1e-3)
    assert noise.gradient_variance > 0


def rows(method, values, recipe="paper", column="nll_minus_floor"):
    return [
        {
            "method": method,
            "recipe": recipe,
            "data": name,
            "seed": seed,
            column: value,
            "steps": 10,
            "train_seconds": 9.0,
            "compile_seconds": 2.0,
            "group_size": 3,
            "log_z_by": "importance sampling" if method == "pcd" else "enumeration",
            "importance_se": 0.00021,
            "device": "cpu",
            "command": "python -m studies.synthetic table",
        }
        for name in DATA_SETS
        for seed, value in enumerate(values)
    ]


def test_what_diverged_is_said_not_averaged():
    shown = page.by_data(rows("ade", [0.1, 3e4, 0.2]), "nll_minus_floor", 1e3, ".1f", limit=1e4)
    assert shown.count("diverged (1 of 3)") == 7 and "±" not in shown


def test_the_noise_is_shown_where_both_methods_were_measured(tmp_path):
    results.save(tmp_path / "summary.json", rows("aloe", [0.001]), table.KEYS)
    noise = [
        {"method": method, "seed": seed, "step": step, "nll_minus_floor": 0.5, "nll_se": 0.0,
         "gradient_variance": float(step + seed)}
        for method, steps in (("ade", (10, 20)), ("aloe", (10,)))
        for step in steps
        for seed in (0, 2)
    ]  # fmt: skip
    results.save(tmp_path / "gradient_variance.json", noise, ("method", "seed", "step"))
    text = page.render(tmp_path)
    assert "| 10 | 11.0 ± 1.0 | 11.0 ± 1.0 | 500 ± 0 | 500 ± 0 |" in text
    assert "| 20 |" not in text


def test_the_page_is_made_of_the_results(tmp_path):
    both = rows("aloe", [0.001, 0.002, 0.003]) + rows("pcd", [0.01], "best")
    results.save(tmp_path / "summary.json", both, table.KEYS)
    grid = [row for row in rows("ade", [0.5], "paper, x=1") if row["data"] in ("moons", "circles")]
    results.save(tmp_path / "tuning.json", grid, table.KEYS)
    text = page.render(tmp_path)
    assert "| aloe, paper | 10 | 3 | 7 | 2 | cpu | exact |" in text
    assert "| 3 | 7 | 2 | cpu | estimated, error up to 0.0002 |" in text
    assert "|  | circles | moons | seconds |" in text and "| ade, paper, x=1 | 500.0 |" in text
    assert "| aloe | 2.0 ± 0.6 |" in text and "| pcd, best | 10.0 |" in text
    assert "```sh\npython -m studies.synthetic table\n```" in text and "(30.37)" in text
    assert "## What was tuned" in text and "## What each ingredient is worth" not in text


def test_the_page_in_the_docs_shows_the_committed_results():
    root = Path(__file__).parents[2]
    assert (root / "docs/synthetic.md").read_text() == page.render(root / "results/synthetic")
