"""The fuzzing study: trials that can be repeated, rows that add up, tests of rank by hand."""

import re
import shutil
from dataclasses import replace

import jax
import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.model import KINDS, ModelSettings, build_model
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.target import TargetRecipe, build_target
from aloex.apps.fuzz.target.build import AFL
from aloex.base.errors import InputError
from fuzz_targets import HERE, ROOT
from studies import results
from studies.fuzz import compare, page, study
from studies.fuzz.mutators import Uniform
from studies.fuzz.rivals import aflpp, libfuzzer

SEEDS = {"a": b"--------", "b": b"abcdefghijkl"}


@pytest.fixture(scope="module")
def target(stairs, tmp_path_factory):
    """stairs.c with two seeds."""
    folder = tmp_path_factory.mktemp("seeds")
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
    return replace(stairs, seeds=folder)


def test_rows_of_a_study(target, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "CHUNK", 300)
    out, told = tmp_path / "summary.json", []
    todo = study.lines(["uniform", "numbers"], (1, 2))
    limits = {"trials": 2, "counts": (500, 100), "tell": told.append, "workers": 2}
    study.make(target, todo, out, **limits)
    rows = results.read(out)
    assert len(told) == 2 * 4 and len(rows) == 2 * 2 * 2 * 2 * 2

    with Executor(target, workers=1) as alone:
        alone.run(Uniform(seed=1, edits=(2,)).mutate(list(SEEDS.values()), 0, 500).inputs)
        edges, features = alone.edges, alone.features
        alone.run(list(SEEDS.values()))
    key = {"method": "uniform", "edits": 2, "inputs": 500, "trial": 1}
    mine = [row for row in rows if key.items() <= row.items()]
    assert [row["edges"] for row in mine] == [edges, alone.edges]
    assert [row["features"] for row in mine] == [features, alone.features]
    assert [row["with_seeds"] for row in mine] == [False, True]

    study.make(target, todo, out, **limits)
    assert len(told) == 8  # all was there


def test_lines_of_a_model(target, tmp_path):
    """Five modes; that a trial's laws were computed before changes nothing."""
    model = BytePredictor(ModelSettings(hidden=4, embed_dim=2), key=jax.random.key(0))
    model.save(tmp_path / "m.safetensors", held_out=-2.0)
    lines = lambda *modes: study.model_lines(tmp_path / "m.safetensors", (2,), modes)
    found = lines()
    assert [line[:3] for line in found] == [
        *(("masked", m, 2) for m in ("mixed", "place", "context")),
        *(("masked", "best", 0), ("masked", "paper", 100)),
    ]
    assert [line.mode for line in lines("best", "place")] == ["best", "place"]
    with pytest.raises(InputError, match="no mode 'worst'; choose one of mixed, place, context"):
        lines("worst")
    assert set(study.LEARNED) == set(KINDS)
    bench = study.Bench(target, workers=1)
    edges = lambda line, trial: [row["edges"] for row in bench.run(line, trial, (100, 200))]
    first = edges(found[0], 1)
    assert edges(found[0], 0) != first and edges(found[0], 1) == first


@pytest.mark.parametrize("method", KINDS)
def test_a_model_that_nobody_knows_how_good_it_is(method, tmp_path):
    path, settings = tmp_path / "m.safetensors", ModelSettings(hidden=8, embed_dim=2, method=method)
    model = build_model(settings, key=jax.random.key(0))
    modes = lambda: {line.mode for line in study.model_lines(path)}
    model.save(path)
    assert {line.method for line in study.model_lines(path)} == {method}
    assert "best" not in modes()
    model.save(path, held_out=-2.0)
    assert "best" in modes()


def test_the_union_of_libfuzzer_and_a_model(target, tmp_path):
    """Half of the inputs each, what they cover joined; the time to learn is told."""
    model = BytePredictor(ModelSettings(hidden=4, embed_dim=2), key=jax.random.key(0))
    model.save(tmp_path / "m.safetensors", held_out=-2.0, seconds=9.0)
    union, best = study.model_lines(tmp_path / "m.safetensors", modes=["union", "best"])
    assert union[:3] == ("libfuzzer+masked", "union", 0)
    (row,) = study.Bench(target, workers=1).run(union, 1, (301,))
    assert row["training_seconds"] == 9.0 and row["held_out"] == -2.0
    assert row["inputs"] == 301 and row["with_seeds"]
    with Executor(target, workers=1) as executor:
        executor.run(list(SEEDS.values()))
        executor.run(libfuzzer(target, 150, seed=2))
        executor.run(best.make(1, 0).mutate(list(SEEDS.values()), 0, 151).inputs)
        assert row["edges"] == executor.edges


def test_seconds_with_those_to_learn():
    row = lambda method, **more: {
        **{"target": "t", "method": method, "mode": "m", "edits": 0, "inputs": 9},
        **{"with_seeds": True, "seconds": 2.0, "edges": 5, **more},
    }
    rows = [row("uniform"), row("aloe", training_seconds=8.0), row("cd"), row("libfuzzer+cd")]
    rows += [row("uniform", seconds=4.0), row("uniform", with_seeds=False, seconds=90.0)]
    found = {key[0]: value for key, value in page._seconds(rows, "t", 9).items()}
    assert found == {"uniform": 3.0, "aloe": 10.0}
    assert len(page.figure(rows).axes) == 2


def test_models_are_told_once_and_feedback_is_set_apart():
    row = lambda method, mode, **more: {"target": "t", "method": method, "mode": mode, **more}
    told = {"held_out": -1.5, "training_seconds": 7.0}
    rows = [row("uniform", "plain"), row("aloe", "best", **told), row("aloe", "adaptive", **told)]
    rows += [row("libfuzzer+aloe", "union", **told), row("aflpp", "feedback"), row("cd", "best")]
    assert page._models(rows).splitlines()[2:] == ["| t | aloe | -1.50 | 7 |"]
    kept = [r["method"] for r in compare.without_feedback(rows)]
    assert kept == ["uniform", "aloe", "cd"]


def committed():
    """The rows of before the engine, and those of it."""
    return [results.read(ROOT / f"results/fuzz/{name}.json") for name in ("summary", "equal")]


def test_the_page_in_the_docs_shows_the_committed_rows():
    rows, now = committed()
    assert (ROOT / "docs/fuzz_study.md").read_text() == page.render(rows, now)


def test_the_engine_beside_what_was_there_before_it():
    """What the text says, by hand."""
    _, _, *lines = page.beside_before(*committed()).splitlines()
    found = {}
    for line in lines:
        inputs, *cells = line.strip("| ").split(" | ")
        for target, cell in zip(("libpng", "mpeg2dec", "openjpeg"), cells, strict=True):
            if match := re.fullmatch(r"(\d\.\d\d) \(p (.*)\)", cell):
                found[target, inputs] = float(match[1]), float(match[2])
    ahead = {key for key, (ratio, p) in found.items() if p < 0.05 and ratio > 1}
    behind = {key for key, (ratio, p) in found.items() if p < 0.05 and ratio < 1}
    assert ahead == {(target, "10,000 inputs") for target in ("libpng", "mpeg2dec")}
    assert behind == {("openjpeg", "10,000 inputs")} and len(found) == 7


def test_two_trials_on_openjpeg_come_through_a_door():
    """None is between these and the others."""
    rows, now = committed()
    before, ours = (
        compare.edges_of(some, "openjpeg", 10_000)[*line, 0]
        for some, line in ((rows, page.BEFORE), (now, page.OURS))
    )
    *shut, first, _ = sorted(before)
    assert len(before) == len(ours) == 10
    assert 0.18 < 1 - max(*shut, *ours) / first < 0.25


def test_ours_beside_what_was_there_before_by_hand():
    row = lambda inputs, edges, method="aloex", mode="feedback", target="t": {
        **{"target": target, "method": method, "mode": mode, "edits": 0, "inputs": inputs},
        **{"edges": edges, "with_seeds": True},
    }
    before = [row(10, edges, "no-model", "adaptive") for edges in (3, 4, 5)]
    now = [row(10, edges) for edges in (6, 7, 8)] + [row(99, 8), row(10, 9, target="u")]
    assert page.beside_before(before, now).splitlines()[2:] == ["| 10 inputs | 1.75 (p 0.1) |"]
    assert page.beside_before(before, [row(99, 8)]) == ""


def test_a_method_beside_all_others():
    """Each other at its best line, p of the method's one mode; a target without it is left out."""
    row = lambda method, mode, edges, target="t": {
        **{"target": target, "method": method, "mode": mode, "edits": 0, "inputs": 9},
        **{"with_seeds": True, "edges": edges},
    }
    rows = [row("aloe", "best", n) for n in (4, 5, 6)] + [row("aloe", "mixed", 99)]
    rows += [row("cd", "best", n) for n in (1, 2, 3)] + [row("cd", "mixed", 1)]
    rows += [row("uniform", "plain", 7), row("cd", "best", 5, target="u")]
    assert compare.against(rows, 9, "aloe", "best").splitlines() == [
        *("| 9 inputs | t |", "| --- | --- |", "| aloe | 5.0 (n 3) |"),
        *("| uniform | 7.0 (n 1, p 0.5) |", "| cd | 2.0 (n 3, p 0.2) |"),
    ]  # of 0.5 and 0.1, the smaller is doubled
    assert compare.against(rows, 10, "aloe", "best") == ""


def test_the_share_that_passes_the_first_check(target):
    """stairs.c turns away what is shorter than 8 bytes, which random bytes of 8 are not."""
    bench = study.Bench(target, workers=1)
    bench.before_check[:] = False
    with Executor(target, workers=1) as executor:
        executor.run([b"short"])
        bench.before_check |= executor.seen > 0
    assert bench.passing([b"", b"1234567", b"12345678", b"-" * 20]) == 0.5


def test_libfuzzer_as_a_rival(target):
    """It keeps its seeds and adds to them; it goes on after a crash."""
    kept = libfuzzer(target, 200, seed=1)  # one in 60 crashes
    assert set(SEEDS.values()) <= set(kept)
    with Executor(target, workers=1) as executor:
        executor.run(list(SEEDS.values()))
        before = executor.edges
        executor.run(kept)
        assert executor.edges > before
    with pytest.raises(InputError, match="has no libFuzzer binary"):
        libfuzzer(replace(target, fuzzer=None), 10, seed=1)


def test_aflpp_as_a_rival(target, tmp_path):
    with pytest.raises(
        InputError, match=r"not built for AFL\+\+; build it: aloex fuzz build .* --afl"
    ):
        aflpp(target, 10, seed=1)
    if shutil.which(AFL) is None:
        pytest.skip("AFL++ is missing: apt-get install afl++")
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"])
    built = replace(build_target(recipe, tmp_path, afl=True), seeds=target.seeds)
    kept = aflpp(built, 2000, seed=1)
    assert set(SEEDS.values()) <= set(kept) and len(kept) > len(SEEDS)


def test_bad_arguments(target, tmp_path):
    with pytest.raises(InputError, match="no method 'afl'; choose one of uniform"):
        study.lines(["afl"])
    with pytest.raises(InputError, match="numbers of inputs must be positive"):
        study.make(target, [], tmp_path / "s", trials=1, counts=(0,))
    with pytest.raises(InputError, match="at least one trial, got 0"):
        study.make(target, [], tmp_path / "s", trials=0)
    with pytest.raises(InputError, match="has no seeds"):
        study.Bench(replace(target, seeds=None))


def test_ranks_by_hand():
    """All of the first are larger; half of the pairs; U's law for 3 and 3 has 20 orders."""
    assert compare.versus([4, 5, 6], [1, 2, 3]) == pytest.approx((2 / 20, 1.0))
    assert compare.versus([1, 2, 3], [4, 5, 6]).a12 == 0.0
    assert compare.versus([1, 3], [1, 3]).a12 == 0.5


def test_each_method_at_its_best_number_of_edits(tmp_path):
    row = lambda method, edits, trial, edges: {
        **{"target": "t", "method": method, "mode": "plain", "edits": edits, "inputs": 10},
        **{"trial": trial, "with_seeds": True, "edges": edges},
    }
    numbers = {("a", 1): (5, 7), ("a", 3): (8, 10), ("b", 1): (1, 3), ("b", 3): (2, 2)}
    rows = [
        row(*key, trial, edges) for key, pair in numbers.items() for trial, edges in enumerate(pair)
    ]
    found = compare.edges_of(rows, "t", 10)
    assert {k: np.mean(v) for k, v in found.items()}["a", "plain", 3] == 9
    assert compare.best_edits(found) == {
        ("a", "plain"): ("a", "plain", 3),
        ("b", "plain"): ("b", "plain", 1),
    }
    results.save(tmp_path / "s.json", rows, study.KEYS)
    table = compare.table(results.read(tmp_path / "s.json"), 10)
    assert "| a, plain | 3 | 9.0 ± 1.0 | 2 |  |  |" in table
    assert "| b, plain | 1 | 2.0 ± 1.0 | 2 | 0.33 | 0.00 |" in table
