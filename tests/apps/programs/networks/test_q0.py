"""The two q0: probabilities, one token at a time or all at once, training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.programs.codes import MASKS
from aloex.apps.programs.networks.programs.grammar import PublicPairs, advance, empty
from aloex.apps.programs.networks.programs.host import find_gaps
from aloex.apps.programs.networks.train import feed, train
from aloex.apps.programs.networks.train.feed import Batcher
from aloex.base.errors import CheckpointError, InputError
from aloex.runs.run_folder import RunFolder
from stats import compiled, randomised

SETTINGS = {name: {"kind": "q0", "model": name, "size": "tiny"} for name in q0.KINDS}


@pytest.mark.parametrize("name", q0.KINDS)
def test_steps_give_what_scoring_gives(name):
    """Also: the mask leaves only what the grammar allows, and that adds up to 1."""
    model = randomised(lambda key: q0.build(SETTINGS[name]), scale=0.2)
    part = Batcher(32, seed=9, canonical=model.mode == "clean", fewer=0.5).check()(0)[0]
    part = jax.tree.map(jnp.asarray, part)
    log_probs = compiled(lambda m, part: m.log_probs(part))(model, part)
    allowed = MASKS[model.mode][part.programs.states] > 0
    np.testing.assert_array_equal(np.isfinite(log_probs), allowed)
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=-1), 1, rtol=1e-5)

    gaps = np.zeros((*part.inputs.shape[:2], 369), np.int8)
    find_gaps(np.asarray(part.inputs), gaps)
    seen = PublicPairs(part.inputs, part.outputs, part.shown, jnp.asarray(gaps))

    @compiled
    def follow(model, seen, tokens):
        memory = model.encode(seen.inputs, seen.outputs, seen.shown)

        def one(memory, seen, tokens):
            def step(carry, token):
                carried, partial = carry
                carried, log_probs = model.step(memory, carried, partial)
                return (carried, advance(partial, token, seen)), log_probs

            begin = model.start(), empty(4, 10)
            (_, partial), log_probs = jax.lax.scan(step, begin, tokens)
            return log_probs, partial

        return jax.vmap(one)(memory, seen, tokens)

    stepwise, partial = follow(model, seen, part.programs.tokens.astype(jnp.int32))
    live = np.asarray(part.programs.tokens) > 0
    np.testing.assert_allclose(
        np.asarray(stepwise)[live], np.asarray(log_probs)[live], rtol=1e-4, atol=1e-4
    )
    assert partial.done.all() and partial.fits.all()


def test_a_resumed_run_ends_like_one_that_went_on(tmp_path, monkeypatch):
    monkeypatch.setattr(feed, "BUCKETS", (feed.LengthBucket(1.0, 88, 50),))  # less to compile
    settings = {"model": "paper", "size": "tiny", "num_steps": 4, "batch_size": 32}
    loop = {"checkpoint_every": 2, "log_every": 2, "num_threads": 2, "progress": False}
    train.train_q0(tmp_path / "whole", **settings, **loop)
    train.train_q0(tmp_path / "cut", **settings, seconds=0.0, **loop)
    assert 0 < RunFolder(tmp_path / "cut").checkpoints.latest() < 4
    assert (tmp_path / "cut/model.safetensors").exists()
    train.train_q0(tmp_path / "cut", **settings, resume=True, **loop)
    file = "checkpoints/000000004/part-0.safetensors"
    whole, cut = ((tmp_path / run / file).read_bytes() for run in ("whole", "cut"))
    assert whole == cut
    (whole, found), (cut, _) = (q0.load(tmp_path / run) for run in ("whole", "cut"))
    assert eqx.tree_equal(whole, cut)
    assert found["train_examples"] == 4 * 32
    with pytest.raises(CheckpointError, match="batch_size"):
        settings |= {"batch_size": 64, "resume": True}
        train.train_q0(tmp_path / "cut", **settings, **loop)
    (tmp_path / "cut" / file).write_bytes(b"no")
    with pytest.raises(CheckpointError, match="damaged"):
        train.train_q0(tmp_path / "cut", **(settings | {"batch_size": 32}), **loop)


def test_unknown_models_are_refused():
    with pytest.raises(InputError, match="paper, best"):
        q0.build({"kind": "q0", "model": "worst", "size": "tiny"})
