"""Behaviours of programs against enumeration, and the order in which programs are tried."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from aloex.apps.programs.language import run
from aloex.apps.programs.space.behaviours import behaviours
from aloex.apps.programs.space.k_best import best
from aloex.apps.programs.space.rank import for_inputs, imagined, unseen
from aloex.apps.programs.space.sample import Sampler
from aloex.apps.programs.space.score import Flat, Prior, Simple
from aloex.apps.programs.space.version_space import VersionSpace
from aloex.apps.programs.tasks.tasks import Task
from studies.synth import study
from studies.synth.frozen import frozen

CASES = [
    ([("ab-3", "ab")], ["c-d", "xyz-12", "b--a"]),
    ([("a-b", "b-"), ("xy-z", "z-")], ["c-d", "c d-1-e"]),
    ([("x1,y2", "y2"), ("zz3,w", "w")], ["a b,c", "q7,3,4"]),
]


def enumerated(space, score, inputs):
    """The weight of each behaviour, by running all programs."""
    weights = defaultdict(float)
    for value, program in best(space, space.count(), score):
        texts = tuple(run(program, text) for text in inputs)
        if None not in texts:
            weights[texts] += math.exp(value)
    return weights


@pytest.mark.parametrize("examples, inputs", CASES)
@pytest.mark.parametrize("score", [Flat(), Simple(crossed=-2.0, whole=1.5), Prior(["a-b1", "c-2"])])
def test_behaviours_are_what_enumeration_finds(examples, inputs, score):
    space = VersionSpace(examples)
    wanted = enumerated(space, score, inputs)
    found = behaviours(space, score, inputs, max_kept=10_000)
    assert len(wanted) > 1
    weights = {tuple(run(p, text) for text in inputs): weight for weight, p in found}
    assert len(weights) == len(found), "two behaviours are the same"
    total = sum(wanted.values())
    assert np.all(np.diff([weight for weight, _ in found]) <= 0)
    for texts, weight in wanted.items():
        # What is negligible on the way may be dropped.
        assert abs(weights.get(texts, 0.0) - weight) <= 1e-4 * total
        assert texts not in weights or weights[texts] <= weight * (1 + 1e-9)
    for _, program in found:
        assert all(run(program, x) == y for x, y in examples)


def test_few_are_kept_the_best_first():
    space = VersionSpace([("Ab 12", "12,A"), ("Cde 7", "7,C")])
    inputs = ["F 345", "gh I 5"]
    every = behaviours(space, Simple(), inputs, max_kept=1000)
    few = behaviours(space, Simple(), inputs, max_kept=10)
    assert len(few) == 10 < len(every) and math.isclose(
        few[0].weight, every[0].weight, rel_tol=0.05
    )


def test_no_program_applies():
    space = VersionSpace([("a-b-c", "c")])
    assert behaviours(space, Flat(), ["", "x"]) == []
    assert behaviours(VersionSpace([("a", "b")]), Flat(), ["a"]) == []
    shares = for_inputs(space, Simple(), ["", "x"])
    assert shares[0][0] == 0.0 and run(shares[0][1], "a-b-c") == "c"


def test_outputs_that_are_too_long_are_left_out():
    space = VersionSpace([("ab", "ab")])
    lengths = {len(run(p, "abcdefgh") or "") for _, p in for_inputs(space, Flat(), ["abcdefgh"])}
    assert max(lengths) > 4
    cut = for_inputs(space, Flat(), ["abcdefgh"], max_length=4)
    assert cut and all(len(run(p, "abcdefgh") or "") <= 4 for _, p in cut)


def test_programs_for_inputs_all_behave_differently():
    task = frozen("validation")[4]
    inputs = [x for x, _ in task.private]
    found = for_inputs(VersionSpace(task.public), Simple(), inputs)
    assert len({tuple(run(p, x) for x in inputs) for _, p in found}) == len(found) > 1
    assert 0 < sum(share for share, _ in found) <= 1 + 1e-9


def test_made_up_inputs_have_the_parts_of_the_given():
    inputs = ["a1-b,", "(cc-d"]
    sets = imagined(inputs, np.random.default_rng(0))
    assert len({*map(tuple, sets)}) == len(sets) > 1
    for made in (text for each in sets for text in each):
        assert 0 < len(made) <= 5 and set(made) <= set("a1-b,(cc-d")


def test_programs_for_unseen_inputs_fit_the_examples():
    task = frozen("validation")[4]
    programs = unseen(VersionSpace(task.public), Simple())
    assert len(set(programs)) == len(programs) == 10
    assert programs == unseen(VersionSpace(task.public), Simple())  # no randomness is left
    assert all(run(p, x) == y for p in programs for x, y in task.public)


def test_evaluation_is_what_the_definition_says(monkeypatch):
    monkeypatch.setattr(study, "NUM_VOTES", 5)
    tasks = frozen("validation")[:6]
    for model, ranker in study.MODELS.items():
        row, right = study.evaluate(tasks, model, 2), []
        for task in tasks:
            space, inputs = VersionSpace(task.examples[:2]), [x for x, _ in task.examples[2:]]
            score = ranker.score(space, inputs)
            fits = lambda p, task=task: all(run(p, x) == y for x, y in task.examples)
            found = [fits(program) for _, program in ranker.order(space, score, inputs)]
            drawn = Sampler(space, score).draw(np.random.default_rng(0), 5)
            votes = [Counter(run(p, x) for p in drawn).most_common(1)[0] for x in inputs]
            voted = [text for text, _ in votes] == [y for _, y in task.examples[2:]]
            right.append((found[0], any(found), voted, all(n == 5 for _, n in votes)))
        names = ("top1_beam1", "top10_beam10", "vote", "sure")
        assert tuple(row[name] for name in names) == tuple(np.mean(right, axis=0))
        sure = [voted for *_, voted, sure in right if sure]
        assert row["sure_right"] == (np.mean(sure) if sure else 0.0) and row["solved"] == 1.0
        assert ("expected" in row) == ("known" in model)


def test_a_task_that_no_program_fits_counts_as_wrong():
    task = Task("", (("abc", "qq"), ("abd", "rr"), ("abe", "ss")))
    row = study.evaluate([task, *frozen("validation")[:1]], "version space", 2)
    assert row["solved"] == 0.5 and row["top10_beam10"] <= 0.5
