"""What the fuzzing study's page says is in its rows, with p adjusted for the number of tests."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from studies import results
from studies.fuzz import claims, compare
from studies.fuzz.claims import ALL, CLAIMS, Claim

ROOT = Path(__file__).parents[2]


@cache
def rows():
    return results.read(ROOT / "results/fuzz/summary.json")


@cache
def edges(target, inputs):
    return compare.edges_of(rows(), target, inputs)


def mean(target, inputs, *key):
    return np.mean(edges(target, inputs)[key])


def name(test):
    one, other, *_, inputs = test.claim
    return f"{' '.join(one)} against {' '.join(other)}, {test.target}, {inputs} inputs"


@pytest.mark.parametrize("test", claims.tests(rows()), ids=name)
def test_what_the_text_claims_is_in_the_rows(test):
    """Of two lines: who is ahead (adjusted p < 0.05), and who is not told apart."""
    assert (test.p_value < claims.ALPHA) == test.claim.is_ahead
    assert test.a12 > 0.5 or not test.claim.is_ahead


def test_every_claim_was_tested():
    tested = [(test.claim, test.target) for test in claims.tests(rows())]
    assert len(tested) == sum(len(claim.targets) for claim in CLAIMS)
    assert all((claim, target) in tested for claim in CLAIMS for target in claim.targets)


def made(method, mode, values, target="t", inputs=10_000):
    return [
        {
            **{"target": target, "method": method, "mode": mode, "edits": 0, "inputs": inputs},
            **{"with_seeds": True, "edges": value, "trial": trial},
        }
        for trial, value in enumerate(values)
    ]


def test_p_values_are_adjusted_within_their_family():
    """Two tests of p = 0.1 with as many inputs, and one of another number of inputs."""
    found = [
        *made("a", "x", (4, 5, 6)), *made("b", "x", (1, 2, 3)), *made("c", "x", (1, 2, 3)),
        *made("a", "x", (4, 5, 6), inputs=9), *made("b", "x", (1, 2, 3), inputs=9),
    ]  # fmt: skip
    a, b, c = (("a", "x"), ("b", "x"), ("c", "x"))
    asked = [Claim(a, b, ("t",)), Claim(a, c, ("t", "u")), Claim(a, b, ("t",), inputs=9)]
    told = [(test.claim.inputs, test.p_value) for test in claims.tests(found, asked)]
    assert told == [(9, pytest.approx(0.1)), *[(10_000, pytest.approx(0.2))] * 2]


def test_p_values_in_the_text():
    text = (ROOT / "studies/fuzz/page.md.j2").read_text()
    asked = re.findall(r'p\["([^"]+)"\]', text)
    assert len(asked) >= 4
    for lines in asked:
        assert re.fullmatch(r"p [\d.e-]+ on \w+(, [\d.e-]+ on \w+)*", claims.PValues(rows())[lines])


def test_what_covers_most():
    """The means: of all, and of those that learn nothing from the target."""
    for target in ALL:
        best = compare.best_edits(edges(target, 10_000))
        first = next(iter(best))
        quiet = compare.best_edits(
            compare.edges_of(compare.without_feedback(rows()), target, 10_000)
        )
        if target == "openjpeg":
            assert first[1] == "best"
        else:
            assert first[1] == "adaptive"
        assert (next(iter(quiet))[1] == "best") == (target != "mpeg2dec")
        ours = mean(target, 10_000, "aloe", "best", 0)
        for line in (("uniform", "plain"), ("numbers", "plain")):
            assert (ours > mean(target, 10_000, *best[line])) == (target != "mpeg2dec")
        if target == "openjpeg":
            for line in (("rnn-ebm", "mixed"), ("cd", "mixed")):
                assert ours > mean(target, 10_000, *best[line])
    most = compare.best_edits(edges("openjpeg", 100_000))
    assert next(iter(most)) == ("aloe", "adaptive")
    of = lambda method: mean("openjpeg", 10_000, method, "adaptive", 0)
    assert of("aloe") > max(of("masked"), of("no-model"))


def test_other_fuzzers_cover_less_than_any_mutator_at_its_best():
    for target in ALL:
        best = compare.best_edits(edges(target, 10_000), lambda key: key[0])
        means = {name: mean(target, 10_000, *key) for name, key in best.items()}
        rivals = max(means.pop("libfuzzer"), means.pop("aflpp"))
        assert rivals < min(means.values())


def values(target, method, column):
    """A column of a method's rows, where they have it."""
    own = [row for row in rows() if (row["target"], row["method"]) == (target, method)]
    return [row[column] for row in own if row.get(column) is not None]


@pytest.mark.parametrize("target", ALL)
def test_no_model_takes_the_least_time_to_adapt(target):
    found = [row for row in rows() if (row["target"], row["inputs"]) == (target, 10_000)]
    spent = lambda method: np.mean(
        [
            row["seconds"] + (row.get("training_seconds") or 0)
            for row in found
            if (row["method"], row["mode"]) == (method, "adaptive") and row["with_seeds"]
        ]
    )
    assert spent("no-model") < min(spent("masked"), spent("aloe"))


@pytest.mark.parametrize("target", ALL)
def test_masked_is_the_quickest_to_learn_and_ade_knows_little(target):
    models = ("aloe", "aloe-window", "cd", "learn-and-fuzz", "rnn-ebm")
    quickest = lambda method: min(values(target, method, "training_seconds"))
    assert quickest("masked") < min(map(quickest, (*models, "ade")))
    known = lambda method: min(values(target, method, "held_out"))
    assert max(values(target, "ade", "held_out")) < min(map(known, (*models, "masked")))


def test_no_number_of_edits_is_best_for_all_targets():
    best = {compare.best_edits(edges(target, 10_000))["uniform", "plain"][2] for target in ALL}
    assert len(best) > 1


def test_masked_does_badly_in_the_papers_way_on_libpng():
    found = edges("libpng", 10_000)
    uniform = found[compare.best_edits(found)["uniform", "plain"]]
    assert max(found["masked", "paper", 100]) < min(uniform)
    for method in ("aloe", "cd"):
        assert max(found["masked", "paper", 100]) < min(found[method, "paper", 100])


def test_single_trials_after_100_000_inputs():
    for target in ALL:
        found = edges(target, 100_000)
        least = min(found["aloe", "adaptive", 0])
        others = [x for key, x in found.items() if key[1] not in ("adaptive", "feedback")]
        assert least > max(map(max, others))
        rivals = max(max(found[name, "feedback", 0]) for name in ("libfuzzer", "aflpp"))
        for method in ("aloe", "masked", "no-model"):
            trials = found[method, "adaptive", 0]
            assert 3 <= len(trials) <= 5 and min(trials) > rivals
        if target == "openjpeg":
            trials = [found[method, "adaptive", 0] for method in ("no-model", "masked")]
            assert max(trials[0]) < least < max(trials[1])


def test_how_much_training_varies():
    """Two models of `cd` on libpng are further apart in the paper's way than `cd` from `aloe`."""
    of = lambda method: {
        row["trial"]: row["edges"]
        for row in rows()
        if (row["target"], row["method"], row["mode"]) == ("libpng", method, "paper")
        and (row["inputs"], row["with_seeds"]) == (10_000, True)
    }
    cd, aloe = of("cd"), of("aloe")
    gpu, cpu = ([cd[trial] for trial in trials] for trials in (range(5), range(5, 10)))
    apart = abs(np.mean([*cd.values()]) - np.mean([*aloe.values()]))
    assert abs(np.mean(gpu) - np.mean(cpu)) > apart
