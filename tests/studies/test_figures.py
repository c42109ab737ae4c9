"""The figures: files that show something, and word of what is left out."""

from typing import Any

import jax
import jax.numpy as jnp
import matplotlib.image
import numpy as np
import pytest

from aloex.apps.synthetic import draw, evaluate
from aloex.apps.synthetic.data import DataSet
from aloex.apps.synthetic.methods import build_networks, choose
from aloex.apps.synthetic.trained import About, Trained
from aloex.trajectory import Trajectory
from stats import compiled
from studies.synthetic import figures

TINY = {
    "f_hidden": (4,),
    "q0_hidden": (4,),
    "q0_head": 4,
    "q_hidden": (4,),
    "max_edits": 3,
}
SEARCHES: Any = compiled(draw.searches)  # pyright cannot see through two compilations
DRAWN: Any = compiled(draw.drawn)
ROWS = [
    {"method": m, "step": s, "nll_minus_floor": 1 / s, "nll_se": 0.01, "gradient_variance": s + 1.0}
    for m in ("aloe", "ade")
    for s in (10, 20)
]


def untrained(method, data="checkerboard", recipe="paper", seed=0):
    settings = choose(method, preset="quick", **TINY)
    about = About(recipe, data, seed, train_seconds=0.0, group_size=1, device="cpu")
    return Trained(settings, about, *build_networks(settings, jax.random.key(seed)))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few draws and coarse pictures."""
    monkeypatch.setattr(draw, "searches", lambda q, key, n: SEARCHES(q, key, 50))
    monkeypatch.setattr(draw, "drawn", lambda sampler, key, n: DRAWN(sampler, key, 200))
    coarse = draw.pixels(16, 1)
    monkeypatch.setattr(draw, "pixels", lambda: coarse)
    few = evaluate.proposals("checkerboard", 2**10)
    monkeypatch.setattr(evaluate, "proposals", lambda name: few)


def test_every_figure_shows_something(tmp_path, capsys):
    names = ["aloe", "aloe-fac-edit", "aloe-rnn", "pcd", "ade", "ade-rnn"]
    models = [untrained(method) for method in names]
    paths = figures.write_all(models, tmp_path, gradient_rows=ROWS)
    assert capsys.readouterr().out == ""
    stems = {"data", *figures.FIGURES, "gradient_variance"}
    assert {path.name for path in paths} == {f"{s}.{end}" for s in stems for end in ("png", "svg")}
    for path in paths:
        assert path.stat().st_size < 2**20
        if path.suffix == ".png":
            image = matplotlib.image.imread(path)[..., :3]
            assert image.std() > 0.02, f"{path.name} is blank"
        else:
            assert path.read_text().count("<path") > 5


def test_what_is_missing_is_named(tmp_path, capsys):
    models = [untrained("ade"), untrained("aloe-fac-edit", data="moons")]
    paths = figures.write_all(models, tmp_path)
    assert {path.stem for path in paths} == {"data", "bits"}
    left_out = capsys.readouterr().out.splitlines()
    assert "left out: vis, for want of models of aloe" in left_out
    assert "left out: baselines, for want of models of pcd, aloe" in left_out
    assert "left out: ade_samplers, for want of models of ade-rnn on checkerboard" in left_out
    assert len(left_out) == 6


def test_a_figure_needs_a_data_set_that_its_methods_share(tmp_path, capsys):
    models = [untrained("ade"), untrained("aloe"), untrained("pcd", data="moons")]
    paths = figures.write_all(models, tmp_path)
    assert {path.stem for path in paths} == {"data", "vis"}
    words = "baselines, for want of a data set that pcd, ade, aloe have in common"
    assert words in capsys.readouterr().out


def test_the_best_recipe_and_the_lowest_seed_are_chosen():
    of = lambda recipe, seed, data: untrained("cd", data, recipe, seed)
    models = [of("custom", 0, "moons"), of("paper", 0, "moons"), of("paper", 1, "2spirals")]
    models += [of("best", 3, "moons"), of("best", 2, "moons"), of("paper", 0, "2spirals")]
    chosen = figures.choose([*models, untrained("pcd")], "cd")
    found = {name: (m.about.recipe, m.about.seed) for name, m in chosen.items()}
    assert found == {"2spirals": ("paper", 0), "moons": ("best", 2)}


def test_pixels_lie_where_the_picture_shows_them():
    """A density that is 1 in the upper right quarter is bright there, and only there."""
    at = draw.pixels()
    image = at.mean(np.asarray((at.xy > 0).all(axis=1)))
    expected = np.zeros((16, 16))
    expected[8:, 8:] = 1
    np.testing.assert_array_equal(image, expected)
    assert np.abs(at.xy).max() <= draw.LIMIT


def test_the_learned_density_of_a_flat_energy_is_flat():
    """f = const has the same density 1 / (width of the square)^2 everywhere, by hand."""
    trained = untrained("cd")
    flat = jax.tree.map(lambda a: 0 * a if isinstance(a, jax.Array) else a, trained.f)
    square = 2 * 2**15 / DataSet("checkerboard").int_scale
    density = draw.learned_density(flat, "checkerboard")
    # log Z is estimated from 2^10 weights, whose mean has a relative error of some 2%.
    np.testing.assert_allclose(density, 1 / square**2, rtol=0.15)
    assert np.ptp(density) < 1e-9


def test_telling_searches_stay_in_the_picture():
    data = DataSet("checkerboard")
    still = np.array([[0.5, 0.5]] * 3)
    wide = np.array([[0.5, 0.5], [3.0, 0.5], [3.0, -3.0]])
    beyond = np.array([[0.5, 0.5], [5.0, 0.5], [0.5, 0.5]])
    states = data.encode(jnp.asarray(np.stack([still, beyond, wide])))
    found = Trajectory(states, jnp.array([2, 2, 2]))
    chosen = draw.telling(found, data, 1)
    np.testing.assert_array_equal(chosen.x[0], states[2])


def test_longest_search_that_was_not_cut_off():
    states = jnp.zeros((4, 4, 32), int).at[2].set(1)
    chosen = draw.longest(Trajectory(states, jnp.array([0, 3, 2, 1])))
    assert chosen.num_edits == 2
    assert np.all(chosen.last == 1)


def test_continued_edits_change_one_bit_each():
    q = untrained("aloe-fac-edit").q
    start = DataSet("moons").sample(jax.random.key(0), 1)[0]
    states = np.asarray(figures.continued(q, jax.random.key(1), start, 5))
    np.testing.assert_array_equal(states[0], start)
    assert np.all(np.abs(np.diff(states, axis=0)).sum(axis=1) == 1)


def test_a_figure_is_the_same_each_time(tmp_path):
    models = [untrained("aloe-fac-edit")]
    for name in ("a", "b"):
        figures.write_all(models, tmp_path / name)
    files = [(tmp_path / name / "bits.svg").read_bytes() for name in ("a", "b")]
    assert files[0] == files[1]
