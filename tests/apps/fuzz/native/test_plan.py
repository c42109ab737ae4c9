"""What the engine chooses: its shares against their formulas, then draws against the shares.

What paid is squared and mixed with a uniform floor. First it is chosen whether to start from an
input with new edges or from one that is new by its hit counts alone; among these an input is worth
the more the rarer its features are, the less it was started from, and the less it costs. Counts of
the past fade. Where mutants that cost much more than others take most of the time they are cut
short.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from aloex.apps.fuzz.native import ALL_GUIDES, EDIT, Counts, Engine, Guide, TokenKind
from fuzz_engines import NUM_EDGES, POOL, an_engine, mutants, shares_of_inputs, some_counts
from stats import assert_draws_match

EXPLORE, PRIOR_TRIED, PRIOR_WON, MIN_COST = 0.15, 200, 0.2, 0.1  # of plan.c
STACKS = ["1", "2", "3", "4", "6", "8", "16"]
NEEDS = {  # operators that are off unless there is something that they need
    "follow compare": Guide.COMPARES,
    "insert from dictionary": Guide.TOKENS,
    "write from dictionary": Guide.TOKENS,
    "insert string": Guide.TOKENS,
    "write string": Guide.TOKENS,
    "insert compared": Guide.TOKENS,
    "write compared": Guide.TOKENS,
}
NO_EDITS = np.empty(0, EDIT)
NO_LIMIT = 2**64 - 1


def full_engine(pool=POOL, **options) -> Engine:
    """An engine whose operators can all be used, but for those of a model."""
    engine = an_engine(pool, **options)
    engine.set_trace(0, np.array([(5, 4, 2, 0, 25 * [7])], EDIT), 0)
    for kind in TokenKind:
        engine.add_tokens(kind, [b"token"])
    engine.plan()
    return engine


def shares_of_arms(tried, won, usable):
    rate = (PRIOR_WON + won) / (PRIOR_TRIED + tried)
    weight = np.where(usable, rate**2, 0)
    return (1 - EXPLORE) * weight / weight.sum() + EXPLORE * usable / usable.sum()


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_operators_stacks_and_origins(seed):
    rng = np.random.default_rng(seed)
    engine = full_engine(pool=[*POOL, (b"hit counts", (1,))])
    engine.learn(some_counts(rng, 100_000), None, None)
    engine.plan()
    for arms in (engine.operators(), engine.stacks(), engine.origins()):
        tried, won, share = np.array([arm[1:] for arm in arms]).T
        assert won.sum() > 0
        usable = np.array([not arm.name.endswith(("likely byte", "likely bytes")) for arm in arms])
        np.testing.assert_allclose(share, shares_of_arms(tried, won, usable), rtol=1e-9)
    assert [arm.name for arm in engine.stacks()] == STACKS


def test_before_anything_is_known_all_arms_are_alike():
    engine = full_engine()
    shares = np.array([arm.share for arm in engine.operators()])
    used = shares[shares > 0]
    np.testing.assert_allclose(used, 1 / len(used))
    np.testing.assert_allclose([arm.share for arm in engine.stacks()], 1 / len(STACKS))
    assert [arm.share for arm in engine.origins()] == [1, 0]  # there are no inputs of the other


@dataclass
class Entry:
    """An input of the pool, in Python."""

    features: np.ndarray
    origin: int  # 0 if it has new edges, else 1
    cost: int = 0
    chosen: int = 0


def random_pool(rng: np.random.Generator, num_inputs: int) -> tuple[Engine, list[Entry]]:
    engine, entries, seen = an_engine(()), [], set()
    for i in range(num_inputs):
        edges = np.sort(rng.choice(NUM_EDGES, size=rng.integers(1, 12), replace=False))
        features = (8 * edges + rng.integers(8, size=len(edges))).astype(np.uint32)
        entries.append(Entry(features, origin=int(seen >= set(edges))))
        seen |= set(edges)
        assert engine.add(bytes(i + 1), features) == i
        if i % 3:  # the others are not traced
            entries[i].cost = int(rng.integers(1, 5000))
            engine.set_trace(i, NO_EDITS, entries[i].cost)
    return engine, entries


def usual_cost(costs):
    """The power of two below the median."""
    powers = sorted(int(cost).bit_length() - 1 for cost in costs)
    return 2 ** powers[len(powers) // 2]


def expected_shares(engine, entries, hits):
    usual = usual_cost([entry.cost for entry in entries if entry.cost])
    weight = np.zeros((len(entries), 2))
    for i, entry in enumerate(entries):
        relative = entry.cost / usual if entry.cost else 1.0
        rarity = np.sum(1 / (1.0 + hits[entry.features] + entry.chosen))
        weight[i, entry.origin] = rarity**2 / (MIN_COST + relative)
    of_origins = [arm.share for arm in engine.origins()]
    return (weight / weight.sum(axis=0)) @ of_origins


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_inputs(seed):
    rng = np.random.default_rng(seed)
    engine, entries = random_pool(rng, 25)
    assert 3 < sum(entry.origin for entry in entries) < 23
    total = np.zeros(8 * NUM_EDGES)
    engine.plan()
    np.testing.assert_allclose(shares_of_inputs(engine), expected_shares(engine, entries, total))
    for _ in range(3):
        hits = rng.integers(1000, size=8 * NUM_EDGES, dtype=np.uint32)
        chosen = rng.integers(500, size=25, dtype=np.uint32)
        engine.learn(some_counts(rng, 10_000), hits, chosen)
        total += hits
        for entry, count in zip(entries, chosen, strict=True):
            entry.chosen += int(count)
    engine.plan()
    np.testing.assert_allclose(shares_of_inputs(engine), expected_shares(engine, entries, total))


# Inputs that cost 1000 to 1023: usually 512. The last has a cost of its own.
POOL_OF_COSTS = [(b"input %d" % i, (8 * i,)) for i in range(10)]
COSTLY, MAX_GROWTH, SAMPLE, MAX_COSTLY = 32, 4, 16, 0.5  # of mutate.c and plan.c


def an_engine_with_costs(last: int) -> Engine:
    engine = an_engine(POOL_OF_COSTS)
    for i in range(len(POOL_OF_COSTS) - 1):
        engine.set_trace(i, NO_EDITS, 1000 + i)
    engine.set_trace(len(POOL_OF_COSTS) - 1, NO_EDITS, last)
    engine.plan()
    return engine


def recipes(engine: Engine, count: int):
    return [engine.mutate(number)[1] for number in range(count)]


def learn_costs(engine: Engine, cost: int, costly: int) -> None:
    counts = Counts(num_mutants=64, num_unlimited=4, cost=cost, costly=costly)
    engine.learn(counts, None, None)
    engine.plan()


@pytest.mark.parametrize("last", [1000, 9000])
def test_what_costs_much_more_than_usual_and_than_its_parent_is_costly(last):
    found = {(r.parent == 9, r.costly) for r in recipes(an_engine_with_costs(last), 500)}
    usual = COSTLY * 512
    assert found == {(False, usual), (True, max(usual, MAX_GROWTH * last))}


def test_costly_mutants_are_cut_short_where_they_take_most_of_the_time():
    engine = an_engine_with_costs(1000)
    whole = lambda: [recipe.max_cost == NO_LIMIT for recipe in recipes(engine, 64)]
    assert all(whole())  # nothing is known yet
    learn_costs(engine, 1000, int(MAX_COSTLY * 1000))
    assert all(whole())
    learn_costs(engine, 1000, int(MAX_COSTLY * 1000) + 10)
    assert whole() == [number % SAMPLE == 0 for number in range(64)]
    assert {r.max_cost for r in recipes(engine, 64)} == {NO_LIMIT, COSTLY * 512}
    learn_costs(engine, 10_000, 100)  # no longer
    assert all(whole())


def test_what_cannot_be_changed_is_not_started_from():
    engine = an_engine([(b"abc", (0,)), (b"abcd", (8,)), (b"", (16,)), (b"x" * 9, (24,))], keep=3)
    np.testing.assert_allclose(shares_of_inputs(engine), [0, 0.5, 0, 0.5])
    assert mutants(an_engine([(b"abc", (0,))], keep=3), 3) == 3 * [(b"", 0, 0, 0)]


def test_inputs_that_cover_nothing_are_all_alike_if_there_are_no_others():
    engine = an_engine([(b"a", ()), (b"", ()), (b"bc", ())])
    np.testing.assert_allclose(shares_of_inputs(engine), [0.5, 0, 0.5])
    engine.add(b"d", np.array([3], np.uint32))
    engine.plan()
    np.testing.assert_allclose(shares_of_inputs(engine), [0, 0, 0, 1])


@pytest.mark.parametrize("forgets", [True, False])
def test_what_was_learned_at_t_counts_t_of_now(forgets):
    rng = np.random.default_rng(0)
    engine = an_engine(guides=ALL_GUIDES if forgets else ALL_GUIDES & ~Guide.FORGET)
    batches, now = [], 0
    for num_mutants in (256, 1000, 3, 5000, 40_000):
        counts = some_counts(rng, num_mutants)
        now += num_mutants
        batches.append((now, counts))
        engine.learn(counts, None, None)
    weight = lambda t: t / now if forgets else 1
    kinds = {"": engine.operators(), "stack_": engine.stacks(), "origin_": engine.origins()}
    for name, arms in kinds.items():
        for field in ("tried", "won"):
            columns = [(weight(t), np.array(getattr(c, name + field))) for t, c in batches]
            expected = sum(w * column for w, column in columns)[: len(arms)]
            np.testing.assert_allclose([getattr(arm, field) for arm in arms], expected)


@pytest.mark.parametrize("guide", [Guide.COMPARES, Guide.TOKENS])
def test_a_guide_left_out_switches_its_operators_off(guide):
    on, off = full_engine(), full_engine(guides=ALL_GUIDES & ~guide)
    for a, b in zip(on.operators(), off.operators(), strict=True):
        if not a.name.endswith(("likely byte", "likely bytes")):
            assert a.share > 0
            assert (b.share == 0) == (NEEDS.get(a.name) == guide)


def test_without_stacks_there_is_one_operator():
    engine = full_engine(guides=ALL_GUIDES & ~Guide.STACK)
    assert [arm.share for arm in engine.stacks()] == [1, 0, 0, 0, 0, 0, 0]
    found = mutants(engine, 500)
    assert {mutant.stack for mutant in found} == {0}
    assert max(mutant.operators.bit_count() for mutant in found) == 1


def test_without_features_only_new_edges_are_started_from():
    pool = [(b"one", (0,)), (b"two", (1,)), (b"three", (8,)), (b"four", (0, 8))]
    engine = an_engine(pool, guides=ALL_GUIDES & ~Guide.FEATURES)
    np.testing.assert_allclose(shares_of_inputs(engine), [0.5, 0, 0.5, 0])
    assert (shares_of_inputs(an_engine(pool)) > 0).all()
    assert {mutant.parent for mutant in mutants(engine, 200)} == {0, 2}


def test_operators_are_off_while_there_is_nothing_for_them():
    alone = an_engine(POOL[:1])
    of_others = [arm for arm in alone.operators() if "another" in arm.name or "splice" in arm.name]
    assert len(of_others) == 6 and all(arm.share == 0 for arm in of_others)
    shares = {arm.name: arm.share for arm in an_engine().operators()}
    assert all(shares[name] == 0 for name in NEEDS)
    assert all(shares[arm.name] > 0 for arm in of_others)


# Four tests of draws, each at level stats.ALPHA.
NUM_DRAWS = 20_000
ALWAYS = [
    "flip bit",
    "1 random byte",
    "50 random bytes",
    "insert random",
    "copy over",
]  # never fail


@pytest.fixture(scope="module")
def drawn():
    pool = [*POOL, (b"new by its hit counts", (1, 8)), (b"also", (2,))]
    engine = an_engine(pool, guides=ALL_GUIDES & ~Guide.STACK)
    counts = some_counts(np.random.default_rng(3), 20_000)
    engine.learn(counts, None, np.array([1, 0, 2, 1, 0], np.uint32))
    engine.plan()
    return engine, mutants(engine, NUM_DRAWS)


def test_draws_of_parents(drawn):
    engine, found = drawn
    shares = shares_of_inputs(engine)
    assert shares.max() < 0.9 and shares.min() > 0.01
    assert_draws_match(np.bincount([mutant.parent for mutant in found]), shares)


def test_draws_of_origins(drawn):
    engine, found = drawn
    shares = [arm.share for arm in engine.origins()]
    assert min(shares) > 0.05
    assert_draws_match(np.bincount([mutant.parent > 2 for mutant in found]), shares)


def test_draws_of_operators(drawn):
    """Another is drawn for one that cannot be applied: that leaves the ratios of those that can."""
    engine, found = drawn
    shares = {arm.name: (i, arm.share) for i, arm in enumerate(engine.operators())}
    bits, shares = zip(*(shares[name] for name in ALWAYS), strict=True)
    counts = [sum(mutant.operators == 1 << bit for mutant in found) for bit in bits]
    assert_draws_match(counts, np.array(shares) / sum(shares))


def test_draws_of_stacks():
    engine = full_engine()
    engine.learn(some_counts(np.random.default_rng(4), 50_000), None, None)
    engine.plan()
    counts = np.bincount([mutant.stack for mutant in mutants(engine, NUM_DRAWS)], minlength=7)
    assert_draws_match(counts, [arm.share for arm in engine.stacks()])
