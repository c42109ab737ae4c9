"""Energies of bytes: blocks, distributions by enumeration, and the methods that learn them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.fuzz.inputs import read_corpus
from aloex.apps.fuzz.model.block_energy import ByteEnergy, SlotGibbs, SlotState
from aloex.apps.fuzz.model.blocks import (
    COND_DIM,
    HERE,
    NUM_SLOTS,
    UNUSED,
    Blocks,
    Condition,
    unpacked,
)
from aloex.apps.fuzz.model.byte_lstm import SEEN, ByteLSTM
from aloex.apps.fuzz.model.byte_model import ModelSettings
from aloex.apps.fuzz.model.contexts import (
    AROUND,
    MASKED,
    REACH,
    WINDOW,
    Examples,
    position_features,
)
from aloex.apps.fuzz.model.learn import TRAINING, learn_model, quality
from aloex.apps.fuzz.model.load import build_model, load_model
from aloex.base.errors import InputError
from aloex.kernels import run
from stats import assert_draws_match, compiled, randomised

SIZES = ModelSettings(hidden=8, embed_dim=2)
SLOTS = (HERE, 30, UNUSED, 40)  # two bytes before, and nine after the byte itself
OFFSET_AND_AFTER = (jnp.asarray(300), jnp.asarray(5))


def tiny(method="aloe") -> ByteEnergy:
    return randomised(ByteEnergy, dataclasses.replace(SIZES, method=method), seed=0, scale=0.5)


def some_context() -> jax.Array:
    return jnp.asarray(np.random.default_rng(0).integers(0, 257, WINDOW), jnp.int32)


def condition(slots=SLOTS) -> jax.Array:
    slots = jnp.array(slots)
    return Condition(
        some_context().at[slots].set(MASKED), slots, position_features(*OFFSET_AND_AFTER)
    ).packed()


def test_blocks_are_bytes_of_the_corpus(corpus):
    """Null hypothesis, for slots that are unused: their values are uniform."""
    blocks = Blocks(Examples(read_corpus(corpus)))
    x, z = jax.jit(lambda key: blocks(key, 4096))(jax.random.key(0))
    found, (x, z) = jax.vmap(unpacked)(z), (np.asarray(x), np.asarray(z))
    slots, around = np.asarray(found.slots), np.asarray(found.context)
    assert z.shape[1] == COND_DIM and np.abs(z).max() <= 1
    np.testing.assert_array_equal(jax.vmap(lambda c: c.packed())(found), z)
    assert (slots[:, 0] == HERE).all() and (slots <= UNUSED).all()
    sizes = (slots != UNUSED).sum(axis=1)
    assert set(sizes) == set(range(1, NUM_SLOTS + 1))
    for j in range(1, NUM_SLOTS):
        there = slots[:, j] < WINDOW
        offset = np.array((*AROUND, 0, 0))[slots[:, j]]
        np.testing.assert_array_equal(x[there, j], (x[there, 0] + offset[there]) % 8)
        assert (around[there, slots[there, j]] == MASKED).all()
    nowhere = x[:, 1:][slots[:, 1:] == UNUSED]
    assert_draws_match(np.bincount(nowhere, minlength=256), np.full(256, 1 / 256))


def test_conditional_laws_by_enumeration():
    """Of two slots, from the energy of all 256^2 pairs of values."""
    f, z = tiny().f, condition()
    values = jnp.arange(256)
    grid = jnp.stack(jnp.meshgrid(values, values, indexing="ij"), -1).reshape(-1, 2)
    states = jnp.full((256**2, NUM_SLOTS), 7).at[:, jnp.array([0, 3])].set(grid)
    joint = np.asarray(jax.jit(jax.vmap(f, (0, None)))(states, z), np.float64).reshape(256, 256)
    assert np.abs(joint - joint[:1] - joint[:, :1] + joint[0, 0]).max() > 0.1  # they interact
    for v in (0, 200):
        for i, energies in ((0, joint[:, v]), (3, joint[v])):
            x = jnp.array([v, 7, 9, v])
            found = f.at_slot(SlotState(x, *f.terms(z)), i)
            other = f.at_slot(SlotState(x.at[1].set(7), *f.terms(z)), i)
            np.testing.assert_allclose(found - found[0], energies - energies[0], atol=1e-3)
            np.testing.assert_array_equal(found, other)
    nowhere = SlotState(x, *f.terms(z))
    np.testing.assert_array_equal(f.at_slot(nowhere, 2), 0)


def test_the_law_of_a_byte_is_that_of_a_block_of_one():
    model, x = tiny(), some_context()
    z = Condition(
        x, jnp.array([HERE, *[UNUSED] * (NUM_SLOTS - 1)]), position_features(*OFFSET_AND_AFTER)
    ).packed()
    states = jnp.zeros((256, NUM_SLOTS), jnp.int32).at[:, 0].set(jnp.arange(256))
    energies = jax.vmap(model.f, (0, None))(states, z)
    np.testing.assert_allclose(
        compiled(model)(x, *OFFSET_AND_AFTER), jax.nn.log_softmax(energies), atol=1e-4
    )


def test_draws_of_the_kernel():
    """Null hypothesis: the last slot follows its law given the others, which did so before."""
    f, z = tiny().f, condition((HERE, UNUSED, UNUSED, UNUSED))
    step = jax.jit(jax.vmap(lambda key: run(SlotGibbs(), key, jnp.zeros(4, jnp.int32), f, z)))
    drawn = np.asarray(step(jax.random.split(jax.random.key(1), 20_000)))
    probs = jax.nn.softmax(f.terms(z)[0][0])
    assert_draws_match(np.bincount(drawn[:, 0], minlength=256), np.asarray(probs, np.float64))
    assert_draws_match(np.bincount(drawn[:, 1], minlength=256), np.full(256, 1 / 256))


def test_an_lstm_as_predictor_and_as_energy():
    """The energy is log p of the byte and of what follows, one symbol after the other."""
    lstm = lambda method: randomised(
        ByteLSTM, dataclasses.replace(SIZES, method=method), seed=1, scale=0.5
    )
    x = some_context().at[REACH + 1].set(MASKED)
    before, both = (compiled(lstm(m)) for m in ("learn-and-fuzz", "rnn-ebm"))
    assert abs(float(jnp.sum(jnp.exp(both(x, *OFFSET_AND_AFTER)))) - 1) < 1e-5
    later = x.at[REACH].add(1)
    np.testing.assert_array_equal(before(x, *OFFSET_AND_AFTER), before(later, *OFFSET_AND_AFTER))
    assert np.abs(both(x, *OFFSET_AND_AFTER) - both(later, *OFFSET_AND_AFTER)).max() > 1e-4
    model = lstm("learn-and-fuzz")

    @jax.jit
    def total(value):
        """log p of the whole window, up to where the energy looks."""
        window = jnp.concatenate([x[:REACH], value[None], x[REACH : REACH + SEEN]])
        step = model.reads(model.where(position_features(*OFFSET_AND_AFTER)))
        return jax.lax.scan(step, model.start(), window)[0][1]

    found, values = both(x, *OFFSET_AND_AFTER), jnp.array([3, 70, 255])
    expected = jnp.stack([total(value) for value in values])
    np.testing.assert_allclose(found[values] - found[3], expected - expected[0], atol=1e-3)


@pytest.mark.parametrize("method", TRAINING)
def test_a_file_of_each_kind(method, tmp_path):
    path, settings = tmp_path / "m.safetensors", dataclasses.replace(SIZES, method=method)
    build_model(settings, key=jax.random.key(0)).save(path)
    back = load_model(path)
    assert back.settings == settings
    assert back(some_context(), *OFFSET_AND_AFTER).shape == (256,)


@pytest.mark.parametrize(("method", "steps"), [("aloe", 300), ("learn-and-fuzz", 200)])
def test_a_short_run(corpus, method, steps):
    """From -5.5 to about -log 8 = -2.08 by the position, and beyond it by the context."""
    learn_from, rest = read_corpus(corpus).split(0.2)
    how = {"hidden": 32, "hidden_q": 8, "max_edits": 1, "num_trajectories": 2, "batch_size": 16}
    how |= {"num_steps": steps, "learning_rate": 1e-2, "num_kernel_steps": 4, "progress": False}
    found = quality(learn_model(learn_from, method=method, **how), rest, num_bytes=1024)
    assert -3 < found[0.0] < -1.9
    assert found[1.0] > -0.5


def test_mistakes_are_told(corpus):
    with pytest.raises(InputError, match="method must be one of masked, aloe"):
        learn_model(read_corpus(corpus), method="gan")
