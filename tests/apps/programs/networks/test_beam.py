"""Beam search, sampling and evaluation, against lists of all programs of one expression."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stats
from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.programs import codes, grammar
from aloex.apps.programs.networks.search import beam
from aloex.base.errors import InputError
from studies.synth import evaluate
from studies.synth.frozen import frozen

NUM_TASKS = 2


@pytest.fixture(scope="module")
def texts():
    return evaluate.encode([task.examples for task in frozen("validation")[:NUM_TASKS]])


@pytest.fixture(autouse=True)
def one_expression(monkeypatch):
    """Programs of one expression are the whole language."""
    monkeypatch.setattr(beam, "MAX_EXPRESSIONS", 1)


@pytest.fixture(scope="module")
def model():
    """A q0 far from uniform."""
    return stats.randomised(q0.Seq2Seq, hidden=8, num_layers=1, scale=0.7)


@stats.compiled
def log_prob_of_all(model, seen):
    """Of the first task: log q0 of every program, by following its tokens."""
    memory = model.encode(seen.inputs, seen.outputs, seen.shown)
    first = jax.tree.map(lambda a: a[0], (memory, seen))
    length = jnp.asarray(codes.EXPR_LENGTH).astype(jnp.int32)

    def one(tokens, length):
        def step(carry, i):
            carried, partial, total = carry
            carried, log_probs = model.step(first[0], carried, partial)
            token = jnp.where(i < length, tokens[jnp.minimum(i, 10)], jnp.where(i == length, 1, 0))
            partial = grammar.advance(partial, token, first[1])
            return (carried, partial, total + log_probs[token]), None

        begin = model.start(), grammar.empty(4, 1), jnp.zeros(())
        (_, partial, total), _ = jax.lax.scan(step, begin, jnp.arange(12))
        return total, partial.codes[0]

    return jax.lax.map(
        lambda row: one(*row),
        (jnp.asarray(codes.EXPR_TOKENS[1:]).astype(jnp.int32), length[1:]),
        batch_size=20_000,
    )


@pytest.fixture(scope="module")
def listed(model, texts):
    log_prob, numbers = log_prob_of_all(model, texts.seen(4))
    return np.asarray(log_prob, np.float64), np.asarray(numbers)


def test_probabilities_of_all_programs_add_up_to_1(listed):
    log_prob, numbers = listed
    np.testing.assert_array_equal(numbers, np.arange(1, codes.NUM_EXPRS))
    assert abs(np.exp(log_prob).sum() - 1) < 1e-4


def test_a_wide_beam_finds_the_best_programs(listed, model, texts):
    found = beam.beam_search(model, texts.seen(4), width=200)
    log_prob, numbers = listed
    best = np.argsort(-log_prob)[:10]
    np.testing.assert_array_equal(found.codes[0, :10, 0], numbers[best])
    np.testing.assert_allclose(found.log_prob[0, :10], log_prob[best], rtol=1e-4)


def test_draws_follow_q0(listed, model, texts):
    num_draws = 20_000
    seen = texts.seen(4)
    task = jax.tree.map(lambda a: jnp.broadcast_to(a[0], (num_draws, *a.shape[1:])), seen)
    memory = model.encode(seen.inputs, seen.outputs, seen.shown)
    many = jnp.broadcast_to(memory[0], (num_draws, *memory.shape[1:]))
    drawn = beam.sample(model, many, task, jax.random.split(jax.random.key(0), num_draws))
    counts = np.bincount(np.asarray(drawn)[:, 0] - 1, minlength=codes.NUM_EXPRS - 1)
    stats.assert_draws_match(counts, np.exp(listed[0]))


def test_pruned_beams_fit_the_public_pairs(listed, model):
    """The best that fits, in the order of probability; a task of one constant has one."""
    rows = [("a,b", ","), ("ab,c", ","), ("x,yz", ","), (",ab", ",")]
    texts = evaluate.encode([rows] * NUM_TASKS)
    found = beam.beam_search(model, texts.seen(4), width=100, prune=True)
    there = np.isfinite(found.log_prob)
    assert there.any()
    passed = texts.passed(np.asarray(found.codes)).all(axis=2)
    np.testing.assert_array_equal(passed & there, there)
    assert (np.diff(np.asarray(found.log_prob)[0][there[0]]) <= 0).all()


def test_candidates_are_counted_in_order(texts):
    """Programs that fail a public pair take no place among the first k."""

    class Fake(evaluate.Texts):
        def passed(self, codes):
            """A program 0 fails, 1 fits the public pairs, 2 all."""
            return np.concatenate([np.repeat(codes > 0, 4, 2), np.repeat(codes > 1, 6, 2)], axis=2)

    found = beam.Found(jnp.array([[[0], [1], [2], [0]]]), jnp.zeros((1, 4)))
    judged = evaluate.judge(Fake(*texts), found, 4)
    assert [bool(judged.top(k)[0]) for k in (1, 2, 3)] == [False, True, True]


def test_examples_that_models_cannot_read_are_refused():
    for pair in (("ä", "b"), ("a" * 21, "b"), ("a", ""), ("a", "b" * 51)):
        with pytest.raises(InputError, match=r"models"):
            evaluate.encode([[pair]])
