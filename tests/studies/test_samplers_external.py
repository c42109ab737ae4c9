"""Adapters to other libraries: draws against enumeration, where those are installed."""

import jax
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from stats import assert_draws_match
from studies.samplers.problems.bernoulli import bernoulli
from studies.samplers.problems.lattices import glass, potts
from studies.samplers.rivals import Budget
from studies.samplers.rivals.external import (
    INSTALL,
    THRML,
    BlackJAX,
    BlackJAXSMC,
    NumPyro,
    load,
)

CHAINS = 4000  # one draw of each, after enough steps from uniform states: independent
RIVALS = {
    "numpyro-gibbs": ("numpyro", NumPyro("gibbs", num_chains=CHAINS)),
    "numpyro-mixed-hmc": ("numpyro", NumPyro("mixed-hmc", num_chains=CHAINS)),
    "blackjax": ("blackjax", BlackJAX(num_chains=CHAINS)),
    "thrml": ("thrml", THRML(num_chains=CHAINS)),
}


def counts(space, x):
    return np.bincount(np.asarray(jax.vmap(space.index)(x)), minlength=space.size)


@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize("kind", ["bits", "values"])
def test_draws_of_chains(name, kind):
    package, rival = RIVALS[name]
    pytest.importorskip(package)
    found = glass(2, 2, coupling=0.5) if kind == "bits" else potts(1, 3, 3, coupling=0.7, field=0.5)
    fitted = rival.fit(jax.random.key(0), found, Budget(40))
    x = fitted.sample(jax.random.key(1), CHAINS).x
    assert_draws_match(counts(found.space, x), np.exp(exact.log_p(found.f, found.space)))
    assert fitted.sample(jax.random.key(2), CHAINS + 10).x.shape == (CHAINS + 10, found.dim)


def test_smc_of_blackjax():
    """log Z within its error over ten runs, and draws with about the right marginals."""
    pytest.importorskip("blackjax")
    found = glass(2, 2, coupling=0.5)
    runs = [BlackJAXSMC(1000).fit(jax.random.key(i), found, Budget(3)) for i in range(8)]
    log_z = np.array([run.log_z for run in runs])
    assert abs(log_z.mean() - found.log_z) < 5 * log_z.std(ddof=1) / np.sqrt(8) + 1e-3
    ones = np.mean([run.sample(jax.random.key(9), 1500).x.mean(axis=0) for run in runs], axis=0)
    np.testing.assert_allclose(ones, found.marginals[:, 1], atol=0.04)  # seen: 0.01


@pytest.mark.parametrize("package", INSTALL)
def test_what_is_not_installed_is_named(package, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr("studies.samplers.rivals.external.import_module", missing)
    with pytest.raises(InputError, match=f"pip install '{package}=="):
        load(package)


def test_thrml_needs_a_lattice():
    pytest.importorskip("thrml")
    with pytest.raises(InputError, match="Ising or Potts on a lattice, got bernoulli-3"):
        THRML().fit(jax.random.key(0), bernoulli(3), Budget(1))
