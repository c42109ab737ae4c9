"""The mutator that learns: its bandits, where it starts, and campaigns that go on as if whole."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta
from typer.testing import CliRunner

from aloex.apps.fuzz.campaign import Campaign
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus, Outcomes, corpus_of, hash_of
from aloex.apps.fuzz.model import ModelSettings
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.model.learn import quality
from aloex.apps.fuzz.model.relearn import train_further
from aloex.apps.fuzz.mutate import adaptive
from aloex.apps.fuzz.mutate.adaptive import Adaptive, Bandit, pack, rarity, unpack
from aloex.apps.fuzz.mutate.mutators import AdaptiveMutator, Uniform, other_byte
from aloex.apps.fuzz.mutate.operators import OPERATORS, nothing
from aloex.apps.fuzz.mutate.with_model.sampler import ModelSampler
from aloex.base.errors import InputError
from aloex.cli.main import app
from stats import assert_draws_match, randomised
from studies.fuzz import study

SEEDS = [b"--------", b"abcdefghijkl", b"short", b""]
EDITS = (1, 2, 4)


def model() -> ModelSampler:
    net = randomised(BytePredictor, ModelSettings(hidden=8, embed_dim=2), seed=0, scale=0.5)
    return ModelSampler(net, (0.0, 1.0), (1.0,), keep=False)


def rows(mutants) -> list:
    return [
        (mutants.input(i), int(mutants.origin[i]), mutants.about(i))
        for i in range(len(mutants.origin))
    ]


def state(mutator: Adaptive) -> list:
    """All that it knows."""
    bandits = [(b.won.tolist(), b.tried.tolist()) for b in mutator.bandits]
    return [bandits, mutator._hits.tolist(), [edges.tolist() for edges in mutator._edges]]


def test_rarity_by_hand():
    edges = [np.array(e, int) for e in ([0, 1], [1, 3], [])]
    np.testing.assert_allclose(rarity(edges, np.array([1, 2, 9, 4])), [1.5**2, 0.75**2, 0])


def test_numbers_as_text():
    numbers = np.array([0, 7, 2**32 - 1])
    np.testing.assert_array_equal(unpack(pack(numbers)), numbers)
    assert len(unpack(pack(np.zeros(0)))) == 0


def test_an_arm_is_drawn_as_likely_as_it_is_to_be_best():
    """Null hypothesis: the better of two Beta draws, but for a tenth, which explores."""
    bandit = Bandit(2)
    bandit.won[:], bandit.tried[:] = (2, 0), (3, 1)
    first, second = beta(1 + 2, 1 + 1), beta(1 + 0, 1 + 1)
    ahead = quad(lambda x: first.pdf(x) * second.cdf(x), 0, 1)[0]
    share = 0.9 * ahead + 0.1 / 2
    rng = np.random.default_rng(0)
    drawn = [bandit.choose(rng) for _ in range(20_000)]
    assert_draws_match(np.bincount(drawn, minlength=2), np.array([share, 1 - share]))


def test_a_planted_arm_is_found():
    """One arm of five wins three times as often."""
    bandit, rng = Bandit(5), np.random.default_rng(1)
    for _ in range(3000):
        arm = bandit.choose(rng)
        bandit.tried[arm] += 1
        bandit.won[arm] += rng.random() < (0.15 if arm == 3 else 0.05)
    assert bandit.tried[3] > 3000 / 2  # seen: over 2300


def test_starts_are_drawn_by_their_rarity():
    """Null hypothesis: p(x) at the top of adaptive.py; what is too short is never drawn."""
    mutator = Adaptive(edits=(1,), keep=5)
    edges = [pack(np.array(e)) for e in ([0, 1], [1, 2], [2], [])]
    mutator.learn({"hits": pack(np.array([1, 4, 2])), "edges": edges})
    counts = np.bincount(mutator.mutate(SEEDS, 0, 5000).origin, minlength=4)
    probs = np.array([1.25**2, 0.75**2, 0, 0])
    assert_draws_match(counts, probs / probs.sum())


def test_starts_are_uniform_if_no_seed_has_an_edge():
    mutator = Adaptive(edits=(1,), keep=5)
    mutator.learn({"hits": pack(np.zeros(0)), "edges": [pack(np.zeros(0))] * len(SEEDS)})
    counts = np.bincount(mutator.mutate(SEEDS, 0, 1000).origin, minlength=4)
    assert_draws_match(counts, np.array([0.5, 0.5, 0, 0]))


def test_inputs_that_fail_make_no_edge_less_rare():
    """Both inputs have edges 0 and 2; the second crashed."""
    status = np.array([ExitStatus.OK, ExitStatus.CRASH], np.uint8)
    count, first, features = np.full(2, 2), np.array([0, 2, 4]), np.array([0, 16, 0, 16], np.uint32)
    edges = count.astype(np.uint32)
    is_new = np.array([True, True, False, False])
    outcomes = Outcomes(status, edges, count, count, first, features, is_new, [])
    assert unpack(Adaptive().observe(outcomes, [0], None)["hits"]).tolist() == [1, 0, 1]


def test_a_mutant_is_a_function_of_what_is_known_and_its_number():
    make = lambda: Adaptive(model(), seed=3, edits=EDITS)
    whole = make().mutate(SEEDS, 0, 300)
    mutator = make()
    parts = [mutator.mutate(SEEDS, a, b - a) for a, b in ((0, 1), (1, 120), (120, 120), (120, 300))]
    assert [row for part in parts for row in rows(part)] == rows(whole)
    assert rows(Adaptive(model(), seed=4, edits=EDITS).mutate(SEEDS, 0, 300)) != rows(whole)
    assert whole.arms is not None
    sizes = [len(names) for names in mutator.arms.values()]
    assert sizes == [2 + 2, 3, len(OPERATORS) + 1]
    assert [set(column) for column in whole.arms.T.tolist()] == [set(range(n)) for n in sizes]
    for data, origin, about in rows(whole):
        assert len(about["edits"]) == EDITS[about["arms"][1]]
        assert about["arms"][2] != len(OPERATORS) or len(data) == len(SEEDS[origin])
        if about["arms"][2] == OPERATORS.index(nothing):
            expected = bytearray(SEEDS[origin])
            for position, value in about["edits"]:
                expected[position] = value
            assert data == expected


def test_what_is_to_be_kept_is_kept_and_lengths_are_bounded():
    mutator = Adaptive(keep=3, max_len=20, repair=lambda x: x + b"!")
    for data, origin, _ in rows(mutator.mutate(SEEDS, 0, 500)):
        assert data[:3] == SEEDS[origin][:3] and 3 < len(data) <= 21 and data[-1:] == b"!"
    with pytest.raises(InputError, match="longer than the 12 bytes to keep; none of the 4"):
        Adaptive(keep=12).mutate(SEEDS, 0, 1)
    with pytest.raises(InputError, match="must not be negative"):
        Adaptive(seed=-1)
    with pytest.raises(InputError, match="edits must be"):
        Adaptive(edits=())
    with pytest.raises(InputError, match="must be at least 0"):
        Adaptive(keep=-1)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda f: f.__name__)
def test_operators(operator):
    """What each may do to the length and to the bytes, on inputs of all sizes from 2."""
    rng, name = np.random.default_rng(0), operator.__name__
    for _ in range(2000):
        own, its = rng.integers(2, 200, 2)
        x, other = (
            bytes(rng.integers(0, 100, own).tolist()),
            bytes(rng.integers(100, 200, its).tolist()),
        )
        result = operator(x, other, rng)
        if name in ("nothing", "overwrite", "splice_overwrite"):
            assert len(result) == len(x)
        if name in ("insert", "duplicate", "splice_insert"):
            assert len(x) < len(result) <= len(x) + 128
        if name == "delete":
            assert len(x) - 128 <= len(result) < len(x) and len(result) > 0
        if name == "crossover":
            cut = sum(byte < 100 for byte in result)
            assert result == x[:cut] + other[cut:] and len(result) == len(other)
        if name in ("splice_insert", "splice_overwrite"):
            assert any(byte >= 100 for byte in result)
        if name in ("delete", "duplicate", "overwrite", "nothing"):
            assert set(result) <= set(x)


def test_notes_add_up(stairs):
    """A batch in two parts teaches what it teaches as one; the counts are those of its mutants."""
    mutator = Adaptive(edits=EDITS, seed=1)
    assert isinstance(mutator, AdaptiveMutator) and not isinstance(Uniform(), AdaptiveMutator)

    def state_after(*bounds) -> list:
        mutator.forget()
        with Executor(stairs, workers=1) as executor:
            seeds = executor.run(SEEDS, full=True)
            batches = [mutator.mutate(SEEDS, a, b - a) for a, b in pairwise(bounds)]
            mutator.learn(mutator.observe(seeds, [0, 1, 2, 3], None))
            for mutants in batches:
                outcomes = executor.run(mutants.inputs, full=True)
                added = np.flatnonzero(outcomes.new_features).tolist()
                note = mutator.observe(outcomes, added, mutants)
                mutator.learn(json.loads(json.dumps(note)))
            return state(mutator)

    assert state_after(0, 200) == state_after(0, 70, 200)
    assert [b.tried.sum() for b in mutator.bandits] == [200] * 3
    with Executor(stairs, workers=1) as executor:
        executor.run(SEEDS)
        mutator.forget()
        outcomes = executor.run(mutator.mutate(SEEDS, 0, 200).inputs)
    state_after(0, 200)
    assert [b.won.sum() for b in mutator.bandits] == [np.sum(outcomes.new_edges > 0)] * 3


def open_in(out: Path, target, **changed) -> Campaign:
    mutator = Adaptive(edits=EDITS, seed=1, max_len=100)
    how = {"settings": {}, "batch": 100, "workers": 2, **changed}
    return Campaign(target, mutator, SEEDS, out, **how)


def found_in(out: Path) -> list:
    told = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()[1:]]
    return [x for row in told for x in row["found"]] + [
        (x["number"], x["bug"]) for row in told for x in row["failed"]
    ]


@pytest.fixture(scope="module")
def whole(stairs, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("adaptive")
    with open_in(out, stairs) as campaign:
        assert campaign.run(num_inputs=1050)
    return out


def test_a_campaign_in_parts_is_as_one(stairs, whole, tmp_path):
    """Stopped within a batch, asked twice, other workers; then cut anywhere, as if killed."""
    for num_inputs in (0, 30, 250, 1050):
        with open_in(tmp_path / "parts", stairs, workers=1) as campaign:
            assert campaign.run(num_inputs=max(num_inputs - 10, 0))
            assert campaign.run(num_inputs=num_inputs)
    assert sorted(map(str, found_in(tmp_path / "parts"))) == sorted(map(str, found_in(whole)))
    content, rng = (whole / "journal.jsonl").read_bytes(), np.random.default_rng(0)
    for i, cut in enumerate(rng.integers(len(content), size=3).tolist()):
        out = tmp_path / str(i)
        shutil.copytree(whole, out)
        (out / "journal.jsonl").write_bytes(content[:cut])
        with open_in(out, stairs) as campaign:
            assert campaign.run(num_inputs=1050)
        assert found_in(out) == found_in(whole)


def test_a_model_learned_again_is_learned_again_the_same(stairs, tmp_path, monkeypatch):
    """Whole, in parts, and cut as if killed; what it is learned from are seeds and new edges."""
    monkeypatch.setattr(adaptive, "RELEARN_AFTER", (100, 300))
    asked = []

    def relearn(law, inputs):
        asked.append(inputs)
        return jax.tree.map(lambda leaf: leaf * len(b"".join(inputs)) / 100, law)

    def go(out: Path, *stops: int, **changed) -> list:
        asked.clear()
        mutator = Adaptive(model(), relearn=relearn, edits=EDITS, seed=1, max_len=100)
        for stop in stops:
            how = {"settings": {}, "batch": 100, "workers": 1, **changed}
            with Campaign(stairs, mutator, SEEDS, out, **how) as campaign:
                assert campaign.run(num_inputs=stop)
        return found_in(out)

    whole = go(tmp_path / "whole", 450)
    assert len(asked) == 2 and len(asked[0]) < len(asked[1])
    assert set(SEEDS) >= set(asked[0][:2])
    news = [x["input"] for x in whole if isinstance(x, dict) and x["new_edges"]]
    named = [hash_of(x) for x in asked[1]]
    assert set(named) - set(map(hash_of, SEEDS)) <= set(news)
    parts = go(tmp_path / "parts", 30, 130, 310, 450)
    assert sorted(map(str, parts)) == sorted(map(str, whole))
    content = (tmp_path / "whole/journal.jsonl").read_bytes()
    (tmp_path / "whole/journal.jsonl").write_bytes(content[: int(0.9 * len(content))])
    assert go(tmp_path / "whole", 450) == whole
    plain = Adaptive(model(), edits=EDITS, seed=1, max_len=100)
    with Campaign(stairs, plain, SEEDS, tmp_path / "plain", settings={}, batch=100) as campaign:
        campaign.run(num_inputs=450)
    assert found_in(tmp_path / "plain") != whole
    with pytest.raises(InputError, match="trained further after 100 mutants, so a batch must end"):
        go(tmp_path / "other", 450, batch=70)


def test_learning_again_leaves_the_first_model_and_helps():
    net = randomised(BytePredictor, ModelSettings(hidden=8, embed_dim=2), seed=0, scale=0.5)
    inputs = [b"aaaaaaaa", b"", b"aaaa"]
    before = [np.array(leaf) for leaf in jax.tree.leaves(net)]
    once, again = (train_further(net, inputs, num_steps=50) for _ in range(2))
    for a, b, c in zip(before, *map(jax.tree.leaves, (net, once)), strict=True):
        np.testing.assert_array_equal(a, b)
        assert c.shape == b.shape
    jax.tree.map(np.testing.assert_array_equal, once, again)
    corpus = corpus_of(inputs)
    assert len(corpus) == 2 and corpus[1] == b"aaaa"
    asked = lambda law: quality(law, corpus, num_bytes=64)[1.0]
    assert asked(once) > asked(net)


def test_mutants_start_from_what_had_new_edges(stairs, whole, tmp_path):
    mutants = [x for x in found_in(whole) if isinstance(x, dict) and x["number"] >= 0]
    had_new_edges = {x["input"] for x in mutants if x["new_edges"]}
    seeds = {x["from"] for x in mutants} - {x["input"] for x in mutants}
    assert {x["from"] for x in mutants} <= had_new_edges | seeds
    assert any(x["from"] in had_new_edges for x in mutants)
    with open_in(tmp_path, stairs, grow=False) as campaign:
        campaign.run(num_inputs=300)
    parents = {x["from"] for x in found_in(tmp_path) if isinstance(x, dict) and x["number"] >= 0}
    assert parents and parents <= seeds | {x["input"] for x in found_in(whole)[:4]}


def test_a_sampler_that_never_wins_is_left(stairs, tmp_path, monkeypatch):
    """One that changes nothing against one that does."""
    samplers = {"same": lambda edits: edits.current, "other": other_byte}
    monkeypatch.setattr(adaptive, "WITHOUT_MODEL", samplers)
    monkeypatch.setattr(adaptive, "OPERATORS", (nothing,))
    monkeypatch.setattr(adaptive, "change_numbers", lambda *_: [])
    with open_in(tmp_path, stairs) as campaign:
        campaign.run(num_inputs=1001)
        assert isinstance(campaign.mutator, Adaptive)
        tried = campaign.mutator.bandits[0].tried
    assert tried.sum() == 1000 and tried[1] > 2 * tried[0]  # seen: 3.6 times


def test_lines_of_the_study(stairs, tmp_path):
    """Their rows are those of a campaign; a trial can be repeated."""
    (tmp_path / "seeds").mkdir()
    for i, x in enumerate(SEEDS):
        (tmp_path / "seeds" / str(i)).write_bytes(x)
    target = replace(stairs, seeds=tmp_path / "seeds")
    randomised(BytePredictor, ModelSettings(hidden=8, embed_dim=2), seed=0, scale=0.5).save(
        tmp_path / "m.safetensors"
    )
    of_model = study.model_lines(tmp_path / "m.safetensors", target.max_len, modes=["adaptive"])
    lines = [study.no_model_line(target.max_len), *of_model]
    assert [line[:3] for line in lines] == [("no-model", "adaptive", 0), ("masked", "adaptive", 0)]
    bench = study.Bench(target, workers=1)
    for line in lines:
        first, again = ([r["edges"] for r in bench.run(line, 1, (150, 400))] for _ in range(2))
        assert first == again and line.make is not None
        mutator, out = line.make(1, 0), tmp_path / line.method
        with Campaign(target, mutator, SEEDS, out, settings={}, batch=100) as campaign:
            campaign.run(num_inputs=400)
            assert first == [campaign.record.edges_after(n) for n in (150, 400)]


def test_from_the_command_line(stairs, tmp_path):
    (tmp_path / "seed").write_bytes(SEEDS[1])
    words = ["fuzz", "run", stairs.library, "--mutator", "adaptive", "--seeds", tmp_path / "seed"]
    words += ["--out", tmp_path / "out", "--inputs"]
    for inputs in (250, 300):
        done = CliRunner().invoke(app, [*map(str, words), str(inputs)])
        assert done.exit_code == 0, done.output
        assert f"inputs: {inputs} mutants of 1 seeds" in done.output
    settings = json.loads((tmp_path / "out/journal.jsonl").read_text().splitlines()[0])["settings"]
    assert settings["batch"] == 100 and settings["arms"]["sampler"] == ["uniform", "other-seed"]
