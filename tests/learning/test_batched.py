"""Several problems at once are the same problems one by one."""

import jax
import jax.numpy as jnp
import numpy as np

from aloex.learning import Batched, fit
from aloex.learning.batched import stack, unstack
from toy import Toy

SHARES = np.array([0.2, 0.5, 0.9])


def run(problems, **settings):
    """The states after a run of the toy on streams of bits that are 1 with these shares."""

    def stream(key, n):
        draw = lambda i: jax.random.bernoulli(jax.random.fold_in(key, i), SHARES[i], (n, 4))
        return jnp.stack([draw(i) for i in problems]).astype(jnp.int32)

    many = Batched(Toy(), np.array(problems))
    state = stack([Toy().init() for _ in problems])
    settings = {"batch_size": 8, "log_every": 5, "progress": False, **settings}
    return unstack(fit(many, state, stream, num_steps=20, **settings))


def test_together_is_as_alone():
    """A problem's draws depend on its own number alone, so its state does too, up to rounding."""
    together = run([0, 1, 2])
    assert len(together) == 3
    for i in range(3):
        (alone,) = run([i])
        np.testing.assert_allclose(together[i].logits, alone.logits, rtol=1e-6)
        assert int(alone.step) == 20
    assert not np.allclose(together[0].logits, together[1].logits)


def test_a_stream_is_fresh_at_every_step_and_resumes(tmp_path):
    rows = []
    (whole,) = run([1], on_log=rows.append)
    assert len(rows[0]["loss"]) == 1 and rows[0]["loss"] != rows[1]["loss"]
    folder = tmp_path / "run"
    many, stream = Batched(Toy(), np.array([1])), lambda key, n: _half(key, n)
    begin = stack([Toy().init()])
    settings = {"batch_size": 8, "log_every": 5, "progress": False, "folder": folder}
    fit(many, begin, stream, num_steps=10, **settings)
    resumed = fit(many, begin, stream, num_steps=20, resume=True, **settings)
    np.testing.assert_array_equal(unstack(resumed)[0].logits, whole.logits)


def _half(key, n):
    """The stream of problem 1."""
    return jax.random.bernoulli(jax.random.fold_in(key, 1), 0.5, (1, n, 4)).astype(jnp.int32)


def test_unstack_undoes_stack():
    trees = [{"a": jnp.full(2, i), "name": "f"} for i in range(3)]
    for tree, again in zip(trees, unstack(stack(trees)), strict=True):
        np.testing.assert_array_equal(tree["a"], again["a"])
        assert again["name"] == "f"
