"""The study of couplings: its energies, its samples, its fits and its rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import Ising
from aloex.learning.updates import mle_loss
from aloex.spaces import Bits
from stats import assert_mean_matches
from studies import results
from studies.samplers.__main__ import app
from studies.samplers.couplings import learners, problem, pseudo, study

SIDE, SIGMA = 3, -0.2


@pytest.fixture(scope="module")
def spins():
    """Samples of the smallest torus."""
    return problem.samples(SIDE, SIGMA, 0)


def test_each_pair_counts_twice():
    """f(x) = s' J s, as the papers have it."""
    states = Bits(SIDE**2).enumerate()
    s = 2 * np.asarray(states) - 1
    with exact.float64():
        values = jax.vmap(problem.energy(SIDE, SIGMA))(states)
    couplings = problem.true_couplings(SIDE, SIGMA)
    np.testing.assert_allclose(values, np.einsum("ni,ij,nj->n", s, couplings, s), atol=1e-12)
    assert (couplings != 0).sum() == 4 * SIDE**2 and not couplings.diagonal().any()


def test_samples_are_of_the_model(spins):
    """Their energy has the mean that enumeration gives; the lattice is frustrated."""
    f = problem.energy(SIDE, SIGMA)
    values = np.asarray(jax.vmap(f)(Bits(SIDE**2).enumerate()), float)
    probs = np.exp(values - values.max())
    expected = values @ probs / probs.sum()
    assert spins.shape == (problem.NUM_SAMPLES, SIDE**2) and set(np.unique(spins)) == {-1.0, 1.0}
    assert_mean_matches(jax.vmap(f)(jnp.asarray((spins + 1) / 2)), expected)


def test_scores_by_hand():
    """Of J = 0 the error is sigma, in 4 of the D^2 entries of a row."""
    for side, sigma in ((10, 0.1), (10, 0.5), (9, -0.1)):
        zero = problem.score(np.zeros((side**2, side**2)), side, sigma)
        assert zero == pytest.approx(-np.log(abs(sigma) * 2 / side))
    assert problem.score(problem.true_couplings(3, 0.1) + 0.01, 3, 0.1) == pytest.approx(
        -np.log(0.01)
    )


def test_the_slope_of_the_pseudo_likelihood(spins):
    """That of differentiation; at 0 it is that of the likelihood, the mean of s_i s_j."""
    some, rng = spins[:50], np.random.default_rng(0)
    half = np.triu(rng.normal(size=(9, 9)), 1)

    def value(half):
        inside = jnp.asarray(some) @ (half + half.T)
        return jax.nn.log_sigmoid(2 * some * inside).sum() / (2 * len(some))

    with exact.float64():
        wanted, slope = jax.value_and_grad(value)(jnp.asarray(half))
    assert pseudo.value(some, half + half.T) == pytest.approx(float(wanted))
    found = pseudo.slope(some, half + half.T)
    np.testing.assert_allclose(np.triu(found, 1), np.triu(slope, 1), atol=1e-12)
    np.testing.assert_allclose(found, found.T)
    moments = some.T @ some / len(some)
    np.testing.assert_allclose(pseudo.slope(some, 0 * half), moments - np.diag(np.diag(moments)))


@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_a_fit_is_at_the_maximum(spins, l1):
    """The conditions of Karush, Kuhn and Tucker, which are enough as L is concave."""
    found = pseudo.fit(spins, l1)
    couplings, slope = found.couplings, pseudo.slope(spins, found.couplings)
    assert found.converged and (couplings == couplings.T).all()
    chosen = couplings != 0
    assert not chosen.diagonal().any() and (l1 == 0) == (chosen.sum() == 72)
    bound = 2 * pseudo.TOLERANCE
    np.testing.assert_allclose(slope[chosen], l1 * np.sign(couplings[chosen]), atol=bound)
    assert np.abs(slope[~chosen]).max() <= l1 + bound


def test_a_refit_has_no_penalty_on_the_pairs_of_the_fit(spins):
    chosen = pseudo.fit(spins, 0.1).couplings != 0
    again = pseudo.refit(spins, 0.1).couplings
    assert 0 < chosen.sum() < 72 and ((again != 0) == chosen).all()
    assert np.abs(pseudo.slope(spins, again)[chosen]).max() < 2 * pseudo.TOLERANCE


def test_the_penalty_is_chosen_on_samples_held_out(spins):
    cut = len(spins) // 4
    by_hand = {
        l1: pseudo.value(spins[:cut], pseudo.fit(spins[cut:], l1).couplings)
        for l1 in pseudo.PENALTIES
    }
    choice = pseudo.choose(spins)
    assert choice.held_out == pytest.approx(max(by_hand.values()), abs=1e-5)
    assert by_hand[choice.l1] == pytest.approx(choice.held_out, abs=1e-5)


def test_the_penalty_of_learners_is_that_of_the_fits():
    """The slope of the loss + l1 sum_{i < j} |C_ij| by each entry, of a symmetric matrix."""
    rng = np.random.default_rng(1)
    half, l1 = np.triu(rng.normal(size=(4, 4)), 1), 0.3
    x, x_neg = (jnp.asarray(rng.integers(0, 2, (5, 4))) for _ in range(2))
    with exact.float64():
        f = Ising(half + half.T, np.zeros(4))
        loss = lambda f: mle_loss(f, x, x_neg)[0]
        absolute = lambda f: l1 * jnp.abs(jnp.triu(f.couplings + f.couplings.T, 1) / 2).sum()
        wanted = jax.grad(lambda f: loss(f) + absolute(f), allow_int=True)(f)
        found = learners.with_penalty(jax.grad(loss, allow_int=True)(f), f, l1)
    np.testing.assert_allclose(found.couplings, wanted.couplings, atol=1e-12)
    assert not found.field.any()


@pytest.mark.parametrize("name", learners.KERNELS)
def test_every_kernel_has_the_evaluations_of_a_sweep(name):
    space = Bits(25)
    kernel = learners.KERNELS[name](space)
    num, evaluations = learners.steps_of_a_sweep(kernel, problem.energy(5, 0.1), space)
    assert num >= 1 and 16 <= evaluations <= 32


def test_rows_are_made_once(tmp_path, capfd):
    out = tmp_path / "rows.json"
    words = ["couplings", "--side", "3", "--sigma", "-0.2", "--seeds", "0", "--steps", "600"]
    words += ["--l1", "0.02", "--out", str(out)]
    for method in ("zero", "known-pairs", "pseudo-likelihood", "refit", "pcd-gibbs", "aloe-start"):
        words += ["--method", method]
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        app([*words, "--within", "0"], standalone_mode=False)
        assert "left: 6 jobs" in capfd.readouterr().out and not out.exists()
        app(words, standalone_mode=False)
        told = capfd.readouterr().err
        app(words, standalone_mode=False)
    finally:
        jax.config.update("jax_disable_most_optimizations", False)
    assert len(told.splitlines()) == 6 and capfd.readouterr().err == ""
    rows = {row["method"]: row for row in results.read(out)}
    assert rows["zero"]["pairs"] == 0 and rows["known-pairs"]["pairs"] == 18
    assert rows["refit"]["l1"] == "chosen" and rows["refit"]["l1_value"] in pseudo.PENALTIES
    for method in ("pcd-gibbs", "aloe-start"):
        row = rows[method]
        assert row["evaluations"] == 9 * 600 and len(row["curve"]) == learners.NUM_RECORDS
        assert row["curve"][-1] == [row["seconds"], row["score"]]
    # Neither is far from what the penalised pseudo-likelihood finds in the same samples.
    exact_fit = rows["pseudo-likelihood"]["score"]
    assert abs(rows["pcd-gibbs"]["score"] - exact_fit) < 1.0 < exact_fit - rows["zero"]["score"]


def test_what_the_command_refuses(tmp_path):
    arguments = {"num_steps": 10, "out": tmp_path / "rows.json"}
    with pytest.raises(InputError, match=r"must be one of.*'pcd-gibs'"):
        study.make(["pcd-gibs"], [(3, 0.1)], [0], ["0"], **arguments)
    for wrong in ("-1", "best"):
        with pytest.raises(InputError, match="a penalty must be a number of 0 or more"):
            study.make(["zero"], [(3, 0.1)], [0], [wrong], **arguments)
