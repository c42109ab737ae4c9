"""`sample`: what is recorded, going on, Ctrl-C, and what is told when something is wrong."""

import os
import signal
import warnings

import arviz as az
import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from aloex import kernels, mcmc
from aloex.base import extras
from aloex.base.errors import InputError, Stopped
from aloex.mcmc import loop
from aloex.mcmc import run as run_module
from aloex.spaces import Bits, Sequences
from commands import python
from stats import assert_draws_match, compiled

SPACE = Bits(4)
KEY = jax.random.key(0)


class Field(eqx.Module):
    strength: jax.Array = eqx.field(default=0.5, converter=jnp.asarray)

    def __call__(self, x, z=None):
        return self.strength * x.sum()


GIBBS = mcmc.gibbs(Field(), SPACE)
ONES = {"ones": jnp.sum, "first": lambda x: x[0] == 1}
QUIET = {"progress": False, "num_warmup": 20}


@pytest.fixture(scope="module")
def draws():
    return mcmc.sample(KEY, GIBBS, 300, functions=ONES, thin=2, **QUIET)


def test_what_is_recorded_belongs_to_the_draws(draws):
    assert draws.x.shape == (4, 300, 4) and draws.energy.shape == (4, 300)
    np.testing.assert_allclose(draws.energy, 0.5 * draws.x.sum(axis=-1))
    np.testing.assert_array_equal(draws.functions["ones"], draws.x.sum(axis=-1))
    np.testing.assert_array_equal(draws.functions["first"], draws.x[..., 0] == 1)
    assert draws.acceptance is None and draws.swap_acceptance is None
    assert draws.num_evaluations == 4 * 300 * 2 * 4  # chains, draws, steps of each, sites
    np.testing.assert_array_equal(draws.last.x, draws.x[:, -1])
    assert repr(draws) == "Draws(4 chains of 300 draws, x of shape (4,))"
    assert draws.seconds.compiling > draws.seconds.sampling > 0


def test_hops_are_those_of_a_step(draws):
    """Thinned by 2, a draw tells the mean of two steps: chains of single steps bear it out."""
    single = mcmc.sample(KEY, GIBBS, 600, functions=ONES, **QUIET)
    np.testing.assert_array_equal(single.x[:, 1::2], draws.x)
    hops = np.abs(np.diff(single.x, axis=1)).sum(axis=-1)  # from the first draw on
    np.testing.assert_array_equal(single.hops[:, 1:], hops)
    np.testing.assert_allclose(draws.hops, single.hops.reshape(4, 300, 2).mean(axis=-1))


def test_pauses_change_no_bit(draws, monkeypatch):
    """However long the program runs at a time, and however few draws its buffer holds."""
    for seconds in (0.0, 1e-4):
        monkeypatch.setattr(run_module, "SECONDS", seconds)
        again = mcmc.sample(KEY, GIBBS, 300, functions=ONES, thin=2, **QUIET)
        np.testing.assert_array_equal(again.x, draws.x)


def test_chains_of_a_key_are_alike_however_many_draws(draws):
    fewer = mcmc.sample(KEY, GIBBS, 7, functions=ONES, thin=2, **QUIET)
    np.testing.assert_array_equal(fewer.x, draws.x[:, :7])
    other = mcmc.sample(jax.random.key(1), GIBBS, 7, functions=ONES, thin=2, **QUIET)
    assert (other.x != fewer.x).any()


def test_uniform_first_states_are_those_of_the_space():
    """No steps are taken before the first of many chains is looked at: one that hardly moves."""
    stays = mcmc.dmala(Field(), SPACE, step_size=1e-3)
    draws = mcmc.sample(KEY, stays, 1, num_chains=3000, num_warmup=0, progress=False)
    counts = np.bincount(np.asarray(jax.vmap(SPACE.index)(draws.x[:, 0])), minlength=16)
    assert_draws_match(counts, np.full(16, 1 / 16))
    assert draws.hops.max() == 0


def test_going_on_from_the_last_states():
    stays = mcmc.dmala(Field(), SPACE, step_size=1e-3)
    settings = {"num_warmup": 0, "progress": False}
    first = mcmc.sample(KEY, stays, 3, num_chains=6, **settings)
    for initial in (first.last, first.x[:, -1], first.x[:, -1].tolist()):
        more = mcmc.sample(KEY, first.algorithm, 3, initial=initial, **settings)
        np.testing.assert_array_equal(more.x, np.tile(first.x[:, -1:], (1, 3, 1)))
    # With another energy, what belongs to f is computed anew.
    other = eqx.tree_at(lambda a: a.f.strength, first.algorithm, jnp.array(-2.0))
    more = mcmc.sample(KEY, other, 3, initial=first.last, **settings)
    np.testing.assert_allclose(more.energy, -2 * more.x.sum(axis=-1))


def test_replicas_go_on_from_where_they_are():
    tempering = mcmc.parallel_tempering(Field(), SPACE, [0.0, 1.0])
    settings = {"num_warmup": 0, "progress": False}
    first = mcmc.sample(KEY, tempering, 2, **settings)
    task, starts = first.algorithm.kernel, first.last
    again = jax.vmap(lambda s: task.restart(KEY, s, Field()))(starts)
    assert eqx.tree_equal(again, starts)
    more = mcmc.sample(KEY, tempering, 2, initial=starts, **settings)
    assert (more.last.num_round_trips >= starts.num_round_trips).all()


def test_keep_takes_the_place_of_x():
    keep = lambda x: {"pair": x[:2], "sum": x.sum()}
    draws = mcmc.sample(KEY, GIBBS, 5, keep=keep, num_chains=3, **QUIET)
    assert draws.x["pair"].shape == (3, 5, 2) and draws.x["sum"].shape == (3, 5)
    np.testing.assert_allclose(draws.energy, 0.5 * draws.x["sum"])
    assert repr(draws) == "Draws(3 chains of 5 draws, 2 arrays kept)"
    nothing = mcmc.sample(KEY, GIBBS, 5, keep=lambda x: (), **QUIET)
    assert nothing.x == () and nothing.energy.shape == (4, 5)


def test_sequences_keep_their_length():
    words = Sequences(4, 3)
    draws = mcmc.sample(KEY, mcmc.gibbs(Field(), words), 20, num_chains=30, **QUIET)
    lengths = (draws.x != words.pad).sum(axis=-1)
    assert (lengths == lengths[:, :1]).all() and len(set(lengths[:, 0].tolist())) > 2
    assert (draws.hops[lengths[:, 0] > 1] > 0).any()


class Silent(eqx.Module):
    """A kernel of one's own that tells nothing, and whose state is nothing but x."""

    def init(self, key, x, f, z=None):
        return State(x)

    def step(self, key, state, f):
        return State(jax.random.bernoulli(key, 0.5, state.x.shape).astype(state.x.dtype)), None

    def transition_matrix(self, space, f, z=None):
        return jnp.full((space.size, space.size), 1 / space.size)


class State(eqx.Module):
    x: jax.Array


def test_kernels_of_one_s_own_need_tell_nothing():
    algorithm = mcmc.algorithm(Silent(), Field(), space=SPACE)
    draws = mcmc.sample(KEY, algorithm, 50, **QUIET)
    np.testing.assert_allclose(draws.energy, 0.5 * draws.x.sum(axis=-1))
    assert draws.num_evaluations is None and draws.acceptance is None and draws.hops.mean() > 1
    assert np.isnan(draws.summary().rows[0].ess_per_evaluation)
    with pytest.raises(InputError, match="the space of Silent is not known"):
        mcmc.algorithm(Silent(), Field())


def test_what_kernels_tell_of_their_acceptance():
    walk, gibbs = kernels.RandomWalk(SPACE), kernels.Gibbs(SPACE)
    ladder = [0.0, 1.0]

    @compiled
    def told(kernel):
        state = kernel.init(KEY, jnp.ones(4, jnp.int32), Field(strength=3.0))
        info = kernel.step(KEY, state, Field(strength=3.0))[1]
        return loop.acceptance(info), info

    for kernel in (kernels.Compose((gibbs, gibbs)), kernels.ParallelTempering(gibbs, ladder)):
        assert told(kernel)[0] is None
    mean, info = told(kernels.Compose((gibbs, walk, walk)))
    assert mean == (info.kernels[1].acceptance + info.kernels[2].acceptance) / 2
    coldest, info = told(kernels.ParallelTempering(walk, ladder, num_steps=3))
    hot, cold = info.kernel.acceptance
    assert coldest == cold.mean() < hot.mean() == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_samples": 0}, "num_samples must be at least 1, got 0"),
        ({"num_samples": 2.5}, "num_samples must be a whole number, got 2.5"),
        ({"num_warmup": -1}, "num_warmup must be at least 0, got -1"),
        ({"thin": 0}, "thin must be at least 1, got 0"),
        ({"num_chains": 0}, "num_chains must be at least 1, got 0"),
        ({"initial": [[0, 1, 2, 0]]}, r"initial must lie in 0..1 \(bits\), got 2 at row 0, site 2"),
        ({"initial": [0, 1, 1, 0]}, "initial"),
        ({"initial": [[0, 1, 1, 0]], "num_chains": 2}, "initial has 1 states.*num_chains is 2"),
        ({"functions": {"twice": lambda x: x * 2}}, r"got shape \(4,\) from 'twice'; keep="),
        ({"algorithm": kernels.Gibbs(SPACE)}, r"mcmc.algorithm\(kernel, f\) for a kernel"),
    ],
)
def test_bad_arguments(settings, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    settings = {"algorithm": GIBBS, "num_samples": 3, **QUIET, **settings}
    with pytest.raises(InputError, match=message):
        mcmc.sample(KEY, **settings)


def test_starts_that_are_impossible_are_told_with_their_chain():
    f = lambda x: jnp.where(x[0] == 1, -jnp.inf, 0.0)
    first = [[0, 0, 0, 0], [1, 0, 0, 0]]
    with pytest.raises(InputError, match=r"chain 1, x = \[1 0 0 0\]: .* is -inf.*Gibbs and Rand"):
        mcmc.sample(KEY, mcmc.gwg(f, SPACE), 3, initial=first, **QUIET)
    draws = mcmc.sample(KEY, mcmc.gibbs(f, SPACE), 3, initial=first, **QUIET)  # finds its way
    assert np.isfinite(draws.energy).all()


def test_nan_in_a_hot_replica_is_found():
    """It is never swapped, so the coldest would not show it."""
    f = lambda x: jnp.where(x.sum() == 4, jnp.nan, -30.0 * x.sum())
    algorithm = mcmc.parallel_tempering(f, SPACE, [0.001, 1.0])
    settings = {"initial": np.zeros((3, 4), int), "num_warmup": 0, "progress": False}
    with pytest.raises(InputError, match=r"NaN in chain \d at draw \d+, at x = \[1 1 1 1\]"):
        mcmc.sample(KEY, algorithm, 2000, **settings)


def interrupted_at(monkeypatch, call, number=signal.SIGINT):
    """A signal comes while the program runs for the call-th time."""
    advance, calls = run_module.Run._advance, 0

    def counted(self, *args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), number)
        return advance(self, *args, **kwargs)

    monkeypatch.setattr(run_module, "SECONDS", 0.0)  # a draw at a time
    monkeypatch.setattr(run_module.Run, "_advance", counted)


def test_ctrl_c_returns_the_draws_so_far(draws, monkeypatch, capsys):
    interrupted_at(monkeypatch, 1 + 20 + 5)  # compiling, 20 steps of warm-up
    with pytest.warns(UserWarning, match="stopped after 5 of 300 draws of each chain"):
        some = mcmc.sample(KEY, GIBBS, 300, functions=ONES, thin=2, **QUIET)
    np.testing.assert_array_equal(some.x, draws.x[:, :5])
    assert "stopping after the steps that run now" in capsys.readouterr().err


@pytest.mark.parametrize(("call", "number"), [(3, signal.SIGINT), (30, signal.SIGTERM)])
def test_what_stops_without_draws(call, number, monkeypatch):
    interrupted_at(monkeypatch, call, number)
    with pytest.raises(Stopped, match=r"stopped after \d+ of 300 draws") as stopped:
        mcmc.sample(KEY, GIBBS, 300, functions=ONES, thin=2, **QUIET)
    assert stopped.value.number == number and stopped.value.state.x.shape == (4, 4)


def test_the_summary_is_a_table(draws):
    summary = draws.summary()
    assert [row.name for row in summary.rows] == ["f(x)", "ones", "first"]
    f, ones, _ = summary.rows
    assert f.mean == draws.energy.mean() and ones.mean == draws.functions["ones"].mean()
    assert abs(f.mean - 4 * 0.5 / (1 + np.exp(-0.5))) < 5 * f.mcse
    assert f.ess_per_evaluation == f.ess_bulk / draws.num_evaluations
    assert f.ess_per_second == f.ess_bulk / draws.seconds.sampling
    assert summary.warnings == [] and summary.acceptance is None
    np.testing.assert_allclose(summary.hops, draws.hops.mean(axis=1))
    lines = str(summary).splitlines()
    assert " ".join(lines[0].split()) == "mean mcse ess bulk ess tail r-hat ess/s ess/eval"
    assert lines[2].startswith("ones") and lines[-1].startswith("sites changed in a step")
    assert len({len(line) for line in lines[:4]}) == 1


def test_the_summary_warns_of_chains_that_do_not_meet():
    modes = lambda x: 40.0 * jnp.abs(x.sum() - 2.0)
    first = [[0, 0, 0, 0], [1, 1, 1, 1]]
    functions = {"ones": jnp.sum, "none": lambda x: 0 * x[0]}
    draws = mcmc.sample(
        KEY, mcmc.random_walk(modes, SPACE), 30, initial=first, functions=functions, **QUIET
    )
    f, ones, none = draws.summary().rows
    assert f.note == "constant: all draws are 80" and np.isnan([f.r_hat, f.ess_bulk, f.mcse]).all()
    assert ones.r_hat > 2 and none.note == "constant: all draws are 0"
    said = str(draws.summary())
    assert "warning: no R-hat and no effective sample size of f(x): constant: all draws are" in said
    assert "warning: R-hat of ones is" in said and "fewer than 400: run longer" in said


def test_arviz_reads_the_draws(draws):
    tuned = mcmc.sample(KEY, mcmc.dmala(Field(), SPACE), 100, functions=ONES, **QUIET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = tuned.to_arviz()
        plain = draws.to_arviz()
        table = az.summary(data, var_names=["ones"])
    assert data.posterior["x"].shape == (4, 100, 4)
    np.testing.assert_array_equal(data.posterior["ones"], tuned.functions["ones"])
    assert set(data.sample_stats) == {"lp", "hops", "acceptance_rate"}
    np.testing.assert_array_equal(data.sample_stats["lp"], tuned.energy)
    row = tuned.summary().rows[1]
    assert table.loc["ones", "ess_bulk"] == round(row.ess_bulk)
    assert set(plain.sample_stats) == {"lp", "hops"}


def test_arviz_is_asked_for_where_it_is_not_there(draws, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(extras.MissingExtraError, match=r"pip install 'aloex\[arviz\]'"):
        draws.to_arviz()


def test_arviz_is_not_loaded_before():
    code = "import sys, aloex; aloex.mcmc.sample; print('arviz' in sys.modules)"
    assert python(code).stdout.strip() == "False"
