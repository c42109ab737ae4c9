"""Other libraries, for those who have installed them: NumPyro, BlackJAX, THRML.

They are no dependency. Where each has an equivalent, at the versions named in `INSTALL`:

- NumPyro: a Gibbs sweep over discrete sites in random order (`DiscreteGibbs`), and `MixedHMC`. That
  one needs a continuous site beside the discrete ones: it gets an idle one. NUTS and HMC alone move
  no discrete site. Nothing like gradients of discrete energies, tempering or log Z.
- BlackJAX: no kernel for discrete states. Its Metropolis-Hastings takes any proposal, so a change
  of one random site is what there is; and its adaptive tempered SMC moves particles by that, and
  has log Z.
- THRML: block Gibbs for pairwise energies, colour by colour; Ising and Potts here. No log Z, no
  tempering, no energy that is a function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from aloex.base.errors import InputError
from aloex.energies import Ising, Potts, SparseCouplings
from aloex.importance_weights import systematic
from aloex.spaces import Bits
from studies.samplers.problems import Problem
from studies.samplers.rivals.base import Budget, Chains, Draws, burnt_in

INSTALL = {"numpyro": "numpyro==0.22.0", "blackjax": "blackjax==1.7.1", "thrml": "thrml==0.1.4"}


def load(package: str) -> Any:
    """The package, or what to install."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{package} is not installed: pip install '{INSTALL[package]}', in an environment of "
            "its own if need be"
        ) from error


@dataclass(frozen=True)
class NumPyro:
    """Chains of NumPyro; the budget counts steps of warm-up, and its seconds do not count.

    A step of `gibbs` visits all sites, and so does one of `mixed-hmc`.
    """

    kernel: Literal["gibbs", "mixed-hmc"] = "gibbs"
    num_chains: int = 64

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> "NumPyroChains":
        """Warmed-up chains."""
        numpyro = load("numpyro")
        infer, laws, space = numpyro.infer, numpyro.distributions, problem.space

        def model() -> None:
            logits = jnp.zeros((space.dim, space.num_values))
            is_bits = isinstance(space, Bits)
            law = (
                laws.Bernoulli(logits=logits[:, 0]) if is_bits else laws.Categorical(logits=logits)
            )
            numpyro.factor("f", problem.f(numpyro.sample("x", law)))  # the law is uniform
            if self.kernel == "mixed-hmc":
                numpyro.sample("idle", laws.Normal(0.0, 1.0))

        if self.kernel == "gibbs":
            kernel = infer.DiscreteGibbs(model, modified=True)
        else:
            inner = infer.HMC(model, trajectory_length=1.0)
            kernel = infer.MixedHMC(inner, num_discrete_updates=space.dim, modified=True)
        mcmc = infer.MCMC(
            kernel,
            num_warmup=budget.num_steps,
            num_samples=1,
            num_chains=self.num_chains,
            chain_method=jax.vmap,
            progress_bar=False,
        )
        mcmc.warmup(key)
        return NumPyroChains(mcmc, self.num_chains)


@dataclass(frozen=True)
class NumPyroChains:
    """They go on from where the warm-up ended."""

    mcmc: Any
    num_chains: int
    log_z: None = None

    def sample(self, key: Key[Array, ""], n: int) -> Draws:
        """n draws, one of every chain after each step."""
        self.mcmc.num_samples = -(-n // self.num_chains)
        self.mcmc.run(key)
        by_chain = self.mcmc.get_samples(group_by_chain=True)["x"]  # [chain, round, dim]
        x = jnp.swapaxes(by_chain, 0, 1).reshape(-1, by_chain.shape[-1])
        return Draws(x[:n].astype(jnp.int32))


@dataclass(frozen=True)
class BlackJAX:
    """BlackJAX's Metropolis-Hastings with changes of one site; dim of them are a step.

    The budget counts steps of burn-in.
    """

    num_chains: int = 64

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> Chains:
        """Burnt-in chains."""
        rmh = load("blackjax").rmh(problem.f, change_one_site(problem))

        def step(key: Array, x: Array) -> Array:
            move = lambda state, key: (rmh.step(key, state)[0], None)
            state, _ = jax.lax.scan(move, rmh.init(x), jax.random.split(key, problem.dim))
            return state.position

        return burnt_in(key, problem, step, budget, self.num_chains)


@dataclass(frozen=True)
class BlackJAXSMC:
    """BlackJAX's adaptive tempered SMC; the budget counts steps of dim changes per temperature.

    Attributes:
        num_particles: how many.
        target_ess: the effective part of them from which the next temperature follows.
    """

    num_particles: int = 4096
    target_ess: float = 0.9

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> "Particles":
        """One run to the last temperature."""
        blackjax, space = load("blackjax"), problem.space
        kernel, propose = blackjax.rmh.build_kernel(), change_one_site(problem)
        key, key_start = jax.random.split(key)
        x = jax.vmap(space.sample)(jax.random.split(key_start, self.num_particles))
        smc = blackjax.adaptive_tempered_smc(
            lambda x: 0.0 * problem.f(x),  # all states are alike
            problem.f,
            lambda key, state, log_p: kernel(key, state, log_p, propose),
            blackjax.rmh.init,
            {},
            blackjax.smc.resampling.systematic,
            self.target_ess,
            num_mcmc_steps=budget.num_steps * problem.dim,
        )
        state, step = smc.init(x.astype(jnp.int32)), eqx.filter_jit(smc.step)
        log_z = float(space.dim * np.log(space.num_values))
        while float(state.tempering_param) < 1:
            key, key_step = jax.random.split(key)
            state, info = step(key_step, state)
            log_z += float(info.log_likelihood_increment)
        return Particles(state.particles, jnp.log(state.weights), log_z)


class Particles(eqx.Module):
    """The end of a run of SMC. More draws than particles repeat them."""

    x: Int[Array, "particles dim"]
    log_shares: Array
    log_z: float

    def sample(self, key: Key[Array, ""], n: int) -> Draws:
        """n draws by systematic resampling, in random order."""
        key_offset, key_order = jax.random.split(key)
        rows = systematic(jax.random.uniform(key_offset), self.log_shares, n)
        return Draws(self.x[jax.random.permutation(key_order, rows)])


def change_one_site(problem: Problem) -> Callable[[Array, Array], Array]:
    """The symmetric proposal: a random site gets another value."""
    space = problem.space

    def propose(key: Array, x: Array) -> Array:
        key_site, key_shift = jax.random.split(key)
        site = jax.random.randint(key_site, (), 0, space.dim)
        shift = jax.random.randint(key_shift, (), 1, space.num_values)
        return x.at[site].set((x[site] + shift) % space.num_values)

    return propose


@dataclass(frozen=True)
class THRML:
    """THRML's block Gibbs on lattices, a block for each colour; the budget counts sweeps."""

    num_chains: int = 64

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> "THRMLChains":
        """Burnt-in chains; of `Ising` and `Potts` with sparse couplings."""
        thrml, f = load("thrml"), problem.f
        if not isinstance(f, Ising | Potts) or not isinstance(f.couplings, SparseCouplings):
            raise InputError(f"THRML needs Ising or Potts on a lattice, got {problem.name}")
        assert problem.colours is not None
        models, is_ising = thrml.models, isinstance(f, Ising)
        nodes = [(thrml.SpinNode if is_ising else thrml.CategoricalNode)() for _ in f.field]
        blocks = [thrml.Block([nodes[i] for i in colour]) for colour in problem.colours]
        ends = [thrml.Block([nodes[i] for i in side]) for side in np.asarray(f.couplings.edges).T]
        if is_ising:
            edges = list(zip(ends[0].nodes, ends[1].nodes, strict=True))
            ebm = models.IsingEBM(nodes, edges, f.field, f.couplings.weights, jnp.array(1.0))
            program = models.IsingSamplingProgram(ebm, blocks, [])
        else:
            num_values = f.field.shape[1]
            pairs = f.couplings.weights[:, None, None] * jnp.eye(num_values)
            factors = [
                models.CategoricalEBMFactor([thrml.Block(nodes)], f.field),
                models.CategoricalEBMFactor(ends, pairs),
            ]
            spec = thrml.BlockGibbsSpec(
                blocks, [], {thrml.CategoricalNode: jax.ShapeDtypeStruct((), jnp.uint8)}
            )
            gibbs = models.CategoricalGibbsConditional(num_values)
            program = thrml.FactorSamplingProgram(spec, [gibbs for _ in blocks], factors, [])
        key_start, key_steps = jax.random.split(key)
        x = jax.vmap(problem.space.sample)(jax.random.split(key_start, self.num_chains))
        x = x.astype(bool if is_ising else jnp.uint8)
        colours = tuple(jnp.array(colour) for colour in problem.colours)
        chains = THRMLChains(thrml, program, blocks, thrml.Block(nodes), colours, x)
        burnt_in = chains.states(key_steps, budget.num_steps, 1)[:, -1]
        return eqx.tree_at(lambda chains: chains.x, chains, burnt_in)


class THRMLChains(eqx.Module):
    """They begin where x is."""

    thrml: Any = eqx.field(static=True)
    program: Any
    blocks: Any = eqx.field(static=True)
    block_of_all: Any = eqx.field(static=True)
    colours: tuple[Array, ...]
    x: Array
    log_z: None = None

    def states(self, key: Array, num_before: int, num_after: int) -> Array:
        """States [chains, num_after, dim], each a sweep after the one before."""
        schedule = self.thrml.SamplingSchedule(num_before, num_after, 1)

        @eqx.filter_jit
        def run(program: Any, keys: Array, x: Array) -> Array:
            one = lambda key, x: self.thrml.sample_states(
                key, program, schedule, [x[c] for c in self.colours], [], [self.block_of_all]
            )[0]
            return jax.vmap(one)(keys, x)

        return run(self.program, jax.random.split(key, len(self.x)), self.x)

    def sample(self, key: Key[Array, ""], n: int) -> Draws:
        """n draws, one of every chain after each sweep."""
        x = self.states(key, 1, -(-n // len(self.x)))
        return Draws(jnp.swapaxes(x, 0, 1).reshape(-1, x.shape[-1])[:n].astype(jnp.int32))
