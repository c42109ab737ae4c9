"""The learned energy: its weights, its negatives, its training."""

import jax
import numpy as np
import pytest

from aloex.apps.programs.energy import contrast, features, learn, net
from aloex.apps.programs.energy.features import NUM_KINDS, Context, kind, kinds
from aloex.apps.programs.energy.learned import Learned
from aloex.apps.programs.language import canonical, in_words
from aloex.apps.programs.language.run import Outputs
from aloex.apps.programs.language.syntax import MAX_K, ConstPos, ConstTok, RegexTok
from aloex.apps.programs.space.k_best import best
from aloex.apps.programs.space.sample import Sampler
from aloex.apps.programs.space.version_space import PLAIN_REGEXES, VersionSpace
from aloex.apps.programs.tasks import generate
from aloex.base.errors import AloexError, CheckpointError
from aloex.base.weights import write_weights
from stats import assert_mean_matches
from studies.synth.frozen import frozen

WEIGHTS = net.init(3)
TASK = frozen("validation")[6]  # has many programs


def value(score, parts, program):
    """f(program) from counts of its parts."""
    uses, of_kind = parts(program)
    return uses @ [*score.known.values()] + of_kind @ score.of_task


@pytest.mark.parametrize("examples", [[("ab-3", "ab")], [("a-b", "b-"), ("xy-z", "z-")]])
def test_counts_of_parts_give_what_the_space_weighs(examples):
    """All programs listed: each has the energy of its parts, and together they make up log Z."""
    space = VersionSpace(examples)
    score, parts = Learned(space, ["c d-1"], WEIGHTS), contrast._Parts(space)
    listed = best(space, space.count(), score)
    assert len(listed) == space.count() > 100
    assert np.allclose([v for v, _ in listed], [value(score, parts, p) for _, p in listed])
    total = np.logaddexp.reduce([v for v, _ in listed])
    assert np.isclose(total, Sampler(space, score).log_z)


def test_the_slope_is_that_of_the_likelihood():
    """Fed many negatives, it is the gradient of -log p_f(program), found by differences."""
    space = VersionSpace(TASK.public)
    parts, program = contrast._Parts(space), canonical(TASK.program)

    def nll(weights):
        score = Learned(space, (), weights)
        return Sampler(space, score).log_z - value(score, parts, program)

    score = Learned(space, (), WEIGHTS)
    drawn = Sampler(space, score).draw(np.random.default_rng(1), 3000)
    uses, of_kind = parts(program)
    slopes = []
    for other in drawn:
        batch = contrast.Contrast(
            score.rows[None],
            (uses - parts(other)[0])[None],
            score.context.task[None],
            (of_kind - parts(other)[1])[None],
            np.zeros(1),
        )
        slopes.append(batch)
    stacked = contrast.Contrast(*(np.concatenate(each) for each in zip(*slopes, strict=True)))
    name, step = "task_1_bias", 1e-2
    each = -stacked.kinds  # the slope of -f(program) + f(other) in the last biases is that
    grads = jax.grad(learn.slope)(WEIGHTS, stacked)
    assert np.allclose(grads[name], each.mean(axis=0), atol=1e-4)
    exact = np.zeros(NUM_KINDS + 1)
    for i in range(NUM_KINDS + 1):
        moved = []
        for sign in (1, -1):
            bias = WEIGHTS[name].astype(float)
            bias[i] += sign * step
            moved.append(nll({**WEIGHTS, name: bias}))
        exact[i] = (moved[0] - moved[1]) / (2 * step)
    varied = each.std(axis=0) > 0
    assert varied.any()
    assert np.allclose(each[:, ~varied].mean(axis=0), exact[~varied], atol=1e-3)
    # Differences of step h are off by h^2 / 6 times a third derivative, here below 1e-4.
    assert_mean_matches(each[:, varied] - exact[varied], np.zeros(int(varied.sum())))


def test_features_by_hand():
    """Of two inputs the first has one number and the second two; both have two spaces."""
    context = Context(VersionSpace([("ab 12 c", "12"), ("x 3 4", "3")]))
    log_prob, count, slack = context.generator_log_prob, features.COUNT, features.SLACK
    expected = {
        ConstPos(-2): {features.TYPE: 1, features.GAP + MAX_K - 2: 1},
        RegexTok("Digits", -1, "End"): {
            features.TYPE + 1: 1, features.REGEX + PLAIN_REGEXES.index("Digits"): 1,
            count: 1, count + MAX_K: 1, count + MAX_K + 1: 1,
            slack: 1, features.MEAN_SLACK: 0.5 / 4,
            features.GENERATOR_LOG_PROB: log_prob[RegexTok],
        },
        ConstTok(" ", 1, "Start"): {
            features.TYPE + 2: 1, count: 1, slack + 1: 1, features.MEAN_SLACK: 1 / 4,
            features.GENERATOR_LOG_PROB: log_prob[ConstTok],
        },
    }  # fmt: skip
    rows = np.zeros((3, features.NUM_POSITION), np.float32)
    for row, values in zip(rows, expected.values(), strict=True):
        row[list(values)] = list(values.values())
    of_task = [*log_prob.values(), (10 - 2) / 10, 2 / 4, 6 / 20]
    np.testing.assert_allclose(context.task[:-1], of_task, rtol=1e-6)
    rows[:, -features.NUM_GLOBAL :] = context.task
    np.testing.assert_allclose(context.positions(list(expected)), rows, rtol=1e-6)


GOLDEN = [  # examples, further inputs; what the best program does, and energies of the best three
    (
        [("Ada King", "King"), ("Al Bo", "Bo")],
        ["Mary Ann Lee"],
        "everything from the start of the last word or number on",
        [-6.961, -7.034, -7.074],
    ),
    ([("ab-12", "12"), ("7-cd", "7")], [], "the last number", [-10.613, -11.025, -11.054]),
]


@pytest.mark.parametrize("examples, inputs, words, energies", GOLDEN)
def test_rankings_of_the_trained_energy(examples, inputs, words, energies):
    space = VersionSpace(examples)
    found = best(space, 3, Learned(space, inputs))
    assert in_words(found[0][1]) == words
    np.testing.assert_allclose([value for value, _ in found], energies, atol=1e-3)


def test_before_training_each_part_costs_3():
    """So the shorter of two programs is the better one."""
    without = {name: w * ("bias" in name) for name, w in net.init(0).items()}
    space = VersionSpace(TASK.public)
    score = Learned(space, (), without)
    assert {*score.known.values(), *score.pairs(space.pairs), score.constant("@")} == {-3.0}


def test_kinds_of_pairs_and_of_programs_are_the_same():
    space = VersionSpace(TASK.examples[:2])
    gaps = space.gaps
    between = gaps[space.pairs.second] - gaps[space.pairs.first]
    crossed = (between < 0).any(axis=1) & (between > 0).any(axis=1)
    assert np.array_equal(kind(crossed, abs(between).min(axis=1)), kinds(space.pairs))
    assert kinds(space.pairs).min() >= 0 and kinds(space.pairs).max() < NUM_KINDS


def test_negatives_apply_to_the_inputs_at_hand():
    tasks = generate(30, seed=5).tasks()
    for task in tasks:
        inputs = [x for x, _ in task.examples[1:]]
        space = VersionSpace(task.examples[:1])
        sampler = Sampler(space, Learned(space, inputs, WEIGHTS))
        written = Outputs(inputs)
        for program in contrast._negatives(sampler, np.random.default_rng(0), 3, written):
            assert None not in written(program)


def test_a_run_that_was_stopped_ends_like_one_that_was_not(tmp_path):
    how = {"num_steps": 3, "batch_size": 4, "num_neg": 2, "progress": False}
    whole = learn.train(tmp_path / "whole", **how)
    assert learn.train(tmp_path / "parts", seconds=1e-9, **how) is None
    parts = learn.train(tmp_path / "parts", resume=True, jobs=2, **how)
    assert whole is not None and parts is not None
    assert whole.read_bytes() == parts.read_bytes()
    with pytest.raises(AloexError, match="exists already"):
        learn.train(tmp_path / "whole", **how)


def test_damaged_weights_are_told(tmp_path):
    path = tmp_path / "energy.safetensors"
    net.save(path, WEIGHTS)
    assert np.array_equal(net.load(path)["task_0_weight"], WEIGHTS["task_0_weight"])
    damaged = bytearray(path.read_bytes())
    damaged[-100] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(CheckpointError, match="SHA-256"):
        net.load(path)
    write_weights(path, WEIGHTS, {"format": "another"})
    with pytest.raises(CheckpointError, match="holds no energy"):
        net.load(path)
    net.save(path, {**WEIGHTS, "task_0_bias": np.zeros(3, np.float32)})
    with pytest.raises(CheckpointError, match="other weights"):
        net.load(path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(CheckpointError, match="cut short"):
        net.load(path)
    with pytest.raises(CheckpointError, match="no model file"):
        net.load(tmp_path / "absent")
