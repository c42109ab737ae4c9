"""`learn_sampler` and what it returns: weighted draws, estimates, doubts, files."""

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aloex
from aloex import exact
from aloex.base.errors import CheckpointError, InputError, UntrustedEstimate
from aloex.learning import (
    Config,
    LearnedSampler,
    WeightedDraws,
    WeightedEstimate,
    build_backward,
    build_search,
)
from aloex.learning.learned_sampler import _warnings
from aloex.spaces import Bits, Categorical, Mixed, Sequences

SPACE = Bits(4)
QUICK = {"num_draws": 64, "q0_hidden": (8,), "q0_head": 8, "q_hidden": (8,), "progress": False}


def chain(x, z=None):
    """Neighbours like to be equal; z scales that."""
    s = 2.0 * x - 1
    return (0.7 if z is None else z[0]) * jnp.sum(s[:-1] * s[1:]) + 0.3 * s[0]


def assert_near(found, exact_value, num_errors=4.5):
    """|value - exact| within some standard errors, which are small enough to tell."""
    assert np.max(found.standard_error) < 0.1
    off = np.abs(np.asarray(found.value) - np.asarray(exact_value))
    assert np.all(off <= num_errors * np.asarray(found.standard_error)), f"{found}, {exact_value}"


@pytest.fixture(scope="module")
def sampler():
    return aloex.learn_sampler(chain, SPACE, num_steps=150, max_edits=2, **QUICK)


def marginals(space, f, z=None):
    probs = np.exp(np.asarray(exact.log_p(f, space, z)))
    return probs @ np.asarray(space.enumerate())


def test_estimates_are_right_within_their_errors(sampler):
    assert_near(sampler.log_z(4000), exact.log_z(chain, SPACE))
    assert_near(sampler.expect(lambda x: x, 4000), marginals(SPACE, chain))


@pytest.mark.parametrize("max_edits", [0, 2])
def test_one_sampler_for_many_conditions(max_edits):
    """Learned for couplings from -1 to 1, asked at two that no row had."""
    z = np.linspace(-1, 1, 41)
    found = aloex.learn_sampler(chain, SPACE, z=z, num_steps=300, max_edits=max_edits, **QUICK)
    for value in (-0.773, 0.319):
        condition = jnp.array([value])
        assert_near(found.log_z(4000, z=[value]), exact.log_z(chain, SPACE, condition))
    with pytest.raises(InputError, match="this sampler has a condition: z must have 1 columns"):
        found.sample(3)


@pytest.mark.parametrize(("space", "max_edits"), [(Categorical(3, 3), 0), (Mixed((2, 3, 4)), 1)])
def test_other_spaces(space, max_edits):
    f = lambda x: 0.5 * jnp.sum(x[:-1] == x[1:]) + 0.2 * x[0]
    found = aloex.learn_sampler(f, space, num_steps=100, max_edits=max_edits, **QUICK)
    draws = found.sample(500)
    inside = (draws.x < np.array(getattr(space, "values_per_site", 3))).all(axis=1)
    assert (np.isfinite(draws.log_w) == inside).all()
    assert_near(found.log_z(4000), exact.log_z(found.f, space))


def test_more_draws_keep_the_first_ones(sampler):
    few, many = sampler.sample(3, seed=1), sampler.sample(300, seed=1)
    assert few.x.tolist() == many.x[:3].tolist()
    assert few.log_w.tolist() == many.log_w[:3].tolist()
    assert few.x.tolist() != sampler.sample(3, seed=2).x.tolist() or few.x.shape == (3, 4)


def test_weights_add_up_to_one():
    draws = WeightedDraws(np.zeros((3, 1), int), np.array([0.0, np.log(2), -np.inf]), np.zeros(3))
    np.testing.assert_allclose(draws.weights, [1 / 3, 2 / 3, 0])
    np.testing.assert_allclose(draws.effective_sample_size, 9 / 5)


WARNINGS = [
    ({"effective_sample_size": 99.0}, "only 99 of 1000 draws count"),
    ({"pareto_k": 0.71}, r"Pareto k 0.71, above 0.7"),
    ({"gap": 0.101}, "known to 0.10 nats only"),
    ({"gap": float("nan")}, "known to nan nats only"),
]
FINE = WeightedEstimate("log Z", 1.0, 0.1, 100.0, 1000, 0.1, 0.7, "lower")


@pytest.mark.parametrize(("change", "words"), WARNINGS)
def test_each_warning_begins_at_its_bound(change, words):
    assert _warnings(FINE) == ()
    (warning,) = _warnings(FINE._replace(**change))
    assert re.search(words, warning)


def test_a_sampler_that_knows_nothing_says_so():
    """A fresh q for an energy with a single likely state among 2^12."""
    space, config = Bits(12), Config(dim=12, q_hidden=(4,), max_edits=2)
    f = lambda x, z=None: 3.0 * jnp.sum(x)
    keys = jax.random.split(jax.random.key(0))
    fresh = LearnedSampler(
        config, f, build_search(config, keys[0]), build_backward(config, keys[1])
    )
    with pytest.warns(UntrustedEstimate, match="log Z: only .* draws count"):
        found = fresh.log_z(1000)
    assert any("Pareto k" in warning for warning in found.warnings)
    assert "draws count" in str(found)
    assert space == fresh.space


def test_a_saved_sampler_draws_the_same(sampler, tmp_path):
    path = tmp_path / "sampler.safetensors"
    sampler.save(path)
    again = aloex.load_sampler(path, chain)
    assert again.sample(5).log_w.tolist() == sampler.sample(5).log_w.tolist()
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(CheckpointError, match=re.escape(str(path))):
        aloex.load_sampler(path, chain)


def test_a_run_is_resumed_and_ends_the_same(tmp_path):
    settings = {**QUICK, "num_steps": 20, "max_edits": 0, "checkpoint_every": 10}
    whole = aloex.learn_sampler(chain, SPACE, folder=tmp_path / "whole", **settings)

    def stop(row):
        if row["step"] == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        aloex.learn_sampler(
            chain, SPACE, folder=tmp_path / "part", log_every=5, on_log=stop, **settings
        )
    other = lambda x, z=None: chain(x) + x[1]
    with pytest.raises(CheckpointError, match="energy"):
        aloex.learn_sampler(
            other, SPACE, folder=tmp_path / "part", resume=True, log_every=5, **settings
        )
    again = aloex.learn_sampler(
        chain, SPACE, folder=tmp_path / "part", resume=True, log_every=5, **settings
    )
    assert again.sample(5).log_w.tolist() == whole.sample(5).log_w.tolist()
    found = aloex.load_sampler(tmp_path / "part" / "sampler.safetensors", chain)
    assert found.sample(5).x.tolist() == whole.sample(5).x.tolist()
    rows = [json.loads(r) for r in (tmp_path / "part" / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["step"] == 20
    assert {"log_z", "effective_fraction", "inverse_temperature"} <= rows[-1].keys()


BAD = [
    (lambda x, z=None: x.sum(), {}, "one floating-point number, got int32"),
    (lambda x, z=None: 1.0 * x, {}, r"one floating-point number, got float32 of shape \(4,\)"),
    (lambda x, z=None: jnp.nan * x.sum(), {}, "f is NaN at 64 of 64 states"),
    (lambda x, z=None: -jnp.inf + 0.0 * x.sum(), {}, "-inf at all of 64 states"),
    (chain, {"space": Sequences(4, 2)}, "learn_sampler needs Bits or Categorical"),
    (chain, {"anneal_share": 0.0}, r"anneal_share must be in \(0, 1\], got 0"),
    (chain, {"num_steps": 0}, "num_steps must be at least 1, got 0"),
    (chain, {"z": np.zeros((2, 2, 2))}, r"rows of conditions \(n, c\).* got \(2, 2, 2\)"),
    (chain, {"z": lambda key, n: jnp.zeros(n)}, r"conditions of shape \(n, c\), got \(2,\)"),
    (chain, {"z": np.zeros((4, 1)), "num_per_condition": 48}, "must divide the 64 draws"),
]


@pytest.mark.parametrize(("f", "settings", "message"), BAD)
def test_what_is_wrong_is_said_before_anything_is_learned(f, settings, message):
    settings = {**QUICK, "num_steps": 1, **settings}
    space = settings.pop("space", SPACE)
    with pytest.raises(InputError, match=message):
        aloex.learn_sampler(f, space, **settings)


def test_an_energy_that_turns_nan_at_a_draw_is_told():
    config = Config(dim=4, q_hidden=(4,), max_edits=1)
    keys = jax.random.split(jax.random.key(0))
    f = lambda x, z=None: jnp.where(x[0] == 1, jnp.nan, 0.0)
    broken = LearnedSampler(
        config, f, build_search(config, keys[0]), build_backward(config, keys[1])
    )
    with pytest.raises(InputError, match=r"f is NaN at a draw, x = \[1, "):
        broken.sample(50)
