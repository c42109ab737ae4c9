"""What the synthetic page says is in its rows: numbers are computed, comparisons tested here."""

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind

from aloex.apps.synthetic import methods
from aloex.apps.synthetic.data import DATA_SETS
from aloex.apps.synthetic.density import FLOOR
from aloex.apps.synthetic.methods import choose
from studies import results
from studies.statistics import holm
from studies.synthetic import claims, headline, page, verdicts
from studies.synthetic.verdicts import judge

FOLDER = Path(__file__).parents[2] / "results/synthetic"


@cache
def rows(name):
    return results.read(FOLDER / f"{name}.json")


def nll(name, method, recipe, data):
    return verdicts.of_seeds(rows(name), (method, recipe), data)


def made(method, by_data, recipe="paper"):
    """Rows with these values on some sets, a value for each seed."""
    return [
        {"method": method, "recipe": recipe, "data": name, "seed": seed, "nll_minus_floor": value}
        for name, values in by_data.items()
        for seed, value in enumerate(values)
    ]


def test_verdicts_by_hand():
    low, high, wide = [0.1, 0.11, 0.12], [0.5, 0.52, 0.51], [0.05, 0.9, 0.3]
    one = made("aloe", {"moons": low, "circles": low, "pinwheel": high, "swissroll": low})
    other = made("cd", {"moons": high, "circles": wide, "pinwheel": low, "swissroll": [11.0, 1, 1]})
    found = judge(one + other, ("aloe", "paper"), ("cd", "paper"))
    assert found == {
        **{"circles": "level", "moons": "ahead", "pinwheel": "behind", "swissroll": "diverged"}
    }
    assert verdicts.in_words(found) == "ahead on moons, behind on pinwheel, level on circles"
    assert verdicts.in_words({"moons": "ahead", "circles": "level"}) == (
        "ahead on moons, level on all others"
    )
    assert verdicts.in_words({"moons": "level"}) == "level on all"
    assert verdicts.counts([found]) == {"ahead": 1, "level": 1, "behind": 1, "diverged": 1}
    assert verdicts.diverged(other, "cd") == "swissroll"
    assert verdicts.diverged(made("cd", {"moons": [11.0]}), "cd") == "every set"


def test_verdicts_are_corrected_for_the_number_of_sets():
    """p = 0.03 on one of seven sets is what chance brings."""
    low, high = [1.0, 1.1, 1.2], [1.25, 1.35, 1.45]
    p_value = ttest_ind(low, high, equal_var=False)[1]
    assert 0.02 < p_value < 0.05
    alone = made("aloe", {"moons": low}) + made("cd", {"moons": high})
    lines = ("aloe", "paper"), ("cd", "paper")
    assert judge(alone, *lines) == {"moons": "ahead"}
    same = {name: low for name in DATA_SETS if name != "moons"}
    seven = alone + made("aloe", same) + made("cd", same)
    assert judge(seven, *lines)["moons"] == "level"


def test_one_family_is_stricter_than_one_for_each_line():
    """Where p = 0.03 it is ahead by itself, and not beside tests that find nothing."""
    low, high = [1.0, 1.1, 1.2], [1.25, 1.35, 1.45]
    line = ("autoregressive", "paper")
    pair = made("autoregressive", {"moons": low}) + made("aloe", {"moons": high})
    assert verdicts.ahead_in_one_family(pair, line) == 1
    more = pair + made("cd", {"moons": low})
    assert judge(more, line, ("aloe", "paper")) == {"moons": "ahead"}
    assert verdicts.ahead_in_one_family(more, line) == 0


def lines_by_hand():
    """Two seeds of each: ALOE is behind on moons, chains miss pinwheel, PCD the checkerboard."""
    nll = {"cd": (1.0, 1.2), "aloe": (1.3, 1.5), "pcd": (2.0, 2.2)}
    spread = {"cd": (9.0, 11.0), "aloe": (12.0, 14.0), "pcd": (8.0, 10.0)}  # of short chains
    for (method, values), (name, seed) in product(nll.items(), product(DATA_SETS, (0, 1))):
        lost = 50.0 if (method, name) == ("pcd", "checkerboard") else 0.0
        far = 0.7 if (method, name) == ("aloe", "moons") else 0.0
        row = made(method, {name: [0.0]}, "best")[0] | {"seed": seed}
        row["nll_minus_floor"] = 1e-3 * (values[seed] + lost + far)
        row["short_mmd_exp"] = 1e-5 * (spread[method][seed] if name == "pinwheel" else 1.0)
        row |= {"train_seconds": 9.0 + (method == "cd"), "compile_seconds": 2.0}
        row["importance_se"] = 0.0027 if lost and seed else 0.0001
        if method == "aloe":
            row["q_mmd_exp"] = 1e-5 * (seed + 1.0)
        yield row


def test_the_headline_by_hand():
    rows = list(lines_by_hand())
    found = headline.headline(rows)
    assert found == {
        **{
            "cd": "1.10 ± 0.10",
            "aloe": "1.50 ± 0.10",
            "seconds": {"cd": "8", "aloe": "7", "pcd": "7"},
        },
        "others": {"cd": "1.10 ± 0.10", "aloe": "1.52 ± 0.10", "pcd": "2.10 ± 0.10"},
        **{"verdict": "level on all", "far": "moons", "gap": "1.00"},
        **{"far_cd": "1.10 ± 0.10", "far_aloe": "2.10 ± 0.10"},
        **{"missed": "pinwheel", "chains": "10.0 ± 1.0", "draws": "1.5 ± 0.5"},
        **{"apart": "0.05", "error": "0.0027"},
    }
    assert headline.headline([row for row in rows if row["data"] != "moons"]) is None
    assert headline.headline([row for row in rows if row["method"] != "cd"]) is None
    assert claims.autoregressive(rows) is None


def test_chains_miss_a_set_when_no_seed_of_theirs_is_as_good_as_one_of_q():
    rows = list(lines_by_hand())
    (best,) = [r for r in rows if (r["method"], r["data"], r["seed"]) == ("cd", "pinwheel", 0)]
    best["short_mmd_exp"] = 2e-5  # as the worse seed of q
    assert headline.sets_where_chains_miss(rows, headline.CD) == []
    assert headline.sets_where_chains_miss(rows, headline.ALOE) == ["pinwheel"]


def test_cd_is_enough_for_the_likelihood():
    """Level with ALOE on every set; log Z is known better than the means differ at most."""
    found = judge(rows("summary"), headline.CD, headline.ALOE)
    assert found == dict.fromkeys(DATA_SETS, "level")
    _, gap = headline.largest_gap(rows("summary"))
    assert gap < 3e-4
    own = [row for row in rows("summary") if headline.row_of(row, headline.CD)]
    assert len(own) == 21 and max(row["importance_se"] for row in own) < gap
    assert choose("cd", "best").config.num_sweeps == 1


def test_short_chains_miss_two_sets_whosever_energy_it_is():
    """Pinwheel and checkerboard; converged samples of CD's f are as good as data."""
    for line in (headline.CD, headline.ALOE):
        missed = headline.sets_where_chains_miss(rows("summary"), line)
        assert missed == ["pinwheel", "checkerboard"]
    data = {row["data"]: row for row in rows("data")}
    for name in DATA_SETS:
        converged = headline.of(rows("summary"), headline.CD, name, "mmd_exp").mean()
        assert abs(converged - data[name]["mmd_exp"]) < 3 * data[name]["mmd_exp_se"]
    for line, name in product(headline.LINES, ("pinwheel", "checkerboard")):
        linear = headline.of(rows("summary"), line, name, "short_mmd_linear").mean()
        assert linear > 2 * max(abs(row["mmd_linear"]) for row in rows("data"))


def test_the_best_lines_of_cd_and_aloe_are_nearest_to_the_floor():
    """On every set each of their seeds is better than every seed of a line of the paper's."""
    paper = {(row["method"], row["recipe"]) for row in rows("summary") if row["recipe"] == "paper"}
    for name in DATA_SETS:
        ours = [value for m in ("cd", "aloe") for value in nll("summary", m, "best", name)]
        assert max(ours) < min(min(nll("summary", *line, name)) for line in paper)
    assert "autoregressive" not in methods.BEST


def test_pcd_with_best_settings():
    """Not told apart from CD or ALOE but on the checkerboard, where every seed of it is worse."""
    for method in ("cd", "aloe"):
        found = judge(rows("summary"), (method, "best"), headline.PCD)
        assert set(found) == set(DATA_SETS)
        assert {found[name] for name in DATA_SETS if name != "checkerboard"} == {"level"}
        of = lambda m: nll("summary", m, "best", "checkerboard")
        assert max(of(method)) < min(of("pcd"))


def test_floors_and_what_diverged():
    assert all(
        max(row["change_when_spacing_halves"], row["quantisation_bound"]) < 1e-3
        for row in rows("floor")
    )
    grid = [row for row in rows("tuning") if row["method"] == "ade-fac"]
    assert len(grid) == 18 and all(row["nll_minus_floor"] > verdicts.DIVERGED for row in grid)


def test_the_bound_on_stopping():
    of = lambda recipe, data: nll("tuning", claims.SEARCH, recipe, data)
    for data in ("circles", "moons", "pinwheel"):
        assert np.std(of(claims.BOUNDED, data)) < np.std(of(claims.FREE, data))
    assert np.mean(of(claims.BOUNDED, "2spirals")) > 2 * np.mean(of(claims.FREE, "2spirals"))
    assert choose(claims.SEARCH).config.max_stop_prob == 0.95
    assert len({row["steps"] for row in rows("tuning") if row["method"] == claims.SEARCH}) == 1


def test_the_noise_of_the_gradient():
    """ADE's mean is lower until 3,000, no step tells them apart; its NLL is worse from 2,250."""
    steps = sorted({row["step"] for row in rows("gradient_variance")})
    of = lambda method, step, column: [
        row[column]
        for row in rows("gradient_variance")
        if (row["method"], row["step"]) == (method, step)
    ]
    pairs = lambda column: [(of("ade", step, column), of("aloe", step, column)) for step in steps]
    p_values = lambda column: holm(
        [float(ttest_ind(*pair, equal_var=False)[1]) for pair in pairs(column)]
    )
    lower = lambda column: [np.mean(ade) < np.mean(aloe) for ade, aloe in pairs(column)]
    assert all(lower("gradient_variance")[: steps.index(3000) + 1])
    assert min(p_values("gradient_variance")) > verdicts.ALPHA
    assert lower("nll_minus_floor") == [step < 2250 for step in steps]
    clear = [p < verdicts.ALPHA for p in p_values("nll_minus_floor")]
    assert clear == [step >= 5250 for step in steps]


def test_what_each_ingredient_is_worth():
    """Points are thousandths of a nat; "little" is half of one."""
    sets = ("2spirals", "pinwheel", "checkerboard")
    of = lambda recipe, data: 1e3 * np.mean(nll("ablation", "aloe", recipe, data))
    recipes = {row["recipe"] for row in rows("ablation")} - {"best"}
    lost = {
        recipe.removeprefix("best less "): [of(recipe, data) - of("best", data) for data in sets]
        for recipe in recipes
    }
    ranked = sorted(lost, key=lambda name: -sum(lost[name][:2]))
    assert set(ranked[:4]) == {
        *("Muon", "batch of 2048 for a step of f", "decay of the learning rates"),
        "4 examples of data to a negative",
    }
    assert lost["resampling"][2] > 500
    little = ("persistent chains", "8 steps of f to one of q", "4 trajectories instead of 10")
    for name in (*little, "smaller q", "bfloat16 in q0", "moving average"):
        assert max(map(abs, lost[name])) <= 0.5, name


def test_what_was_tuned():
    grid = [row for row in rows("tuning") if row["method"] == "ade-rnn"]
    assert len({row["recipe"] for row in grid}) == 5 and {row["steps"] for row in grid} == {1000}
    of = lambda data: {
        row["recipe"].removeprefix("paper, "): row["nll_minus_floor"]
        for row in rows("tuning")
        if (row["method"], row["data"]) == ("ade", data)
    }
    ranked = sorted(of("pinwheel"), key=of("pinwheel").__getitem__)
    assert ranked[:2] == [f"rate_ratio=1.0, num_q_steps={steps}" for steps in (5, 3)]
    board = of("checkerboard")
    assert min(board, key=board.__getitem__) == "rate_ratio=0.5, num_q_steps=5"
    assert min(board[name] for name in ranked[:2]) > 1
    settings = choose("ade")
    assert (settings.rate_ratio, settings.num_q_steps) == (1.0, 3)


def test_what_was_tuned_of_cd():
    """The first point is better than each other one on all sets, but for one on pinwheel."""
    grid = [row for row in rows("tuning") if row["method"] == "cd"]
    points = {row["recipe"].removeprefix("best, num_steps="): {} for row in grid}
    assert len(points) == 7 and {row["seed"] for row in grid} == {0}
    for row in grid:
        point = row["recipe"].removeprefix("best, num_steps=")
        points[point][row["data"]] = row["nll_minus_floor"]
    first = points.pop("8000")
    better = [(p, data) for p, own in points.items() for data in own if own[data] < first[data]]
    assert better == [("8000, num_data=8", "pinwheel")]
    settings = choose("cd", "best")
    config = settings.config
    assert (config.num_sweeps, config.learning_rate_f, config.num_data) == (1, 1e-2, 4)
    assert settings.num_steps == 16_100


def test_estimates_of_log_z_agree_with_the_exact_value():
    """Within 4 standard errors, AIS from below and from above too."""
    exact = [r for r in rows("summary") if r["log_z_by"] == "enumeration" and "ais_lower" in r]
    assert len(exact) >= 7
    for row in exact:
        for kind in ("importance", "ais_lower", "ais_upper"):
            assert abs(row[kind] - row["log_z"]) < 4 * row[f"{kind}_se"] + 1e-4, (row["data"], kind)


def test_rows_of_several_lengths_stand_side_by_side():
    """A line whose models had different numbers of steps says so, and has a line for each."""
    base = {"train_seconds": 9.0, "compile_seconds": 2.0, "group_size": 3, "device": "cpu"}
    base |= {"log_z_by": "enumeration", "importance_se": 0.0}
    parts = [
        {**row, **base, "steps": steps}
        for steps, name in ((2500, "moons"), (100_100, "circles"))
        for row in made("aloe", {name: [0.1, 0.2]})
    ]
    shown = page.by_data(parts, "nll_minus_floor", 1e3, ".1f", last=("steps", page._steps))
    assert "| aloe | 150.0 ± 50.0 | 150.0 ± 50.0 | 2,500 or 100,100 |" in shown
    seconds = page._seconds(parts)
    assert "| aloe, paper | 2,500 | 3 |" in seconds and "| aloe, paper | 100,100 | 3 |" in seconds


def test_longer_rows_take_the_place_of_shorter_ones(tmp_path):
    from studies.synthetic.table import KEYS

    row = lambda steps: {**made("aloe", {"moons": [0.1]})[0], "steps": steps}
    results.save(tmp_path / "s.json", [row(2500)], KEYS)
    results.save(tmp_path / "s.json", [row(100_100)], KEYS)
    assert [r["steps"] for r in results.read(tmp_path / "s.json")] == [100_100]


@pytest.mark.parametrize("name", ["summary", "ablation", "tuning"])
def test_no_two_rows_are_of_the_same_model(name):
    from studies.synthetic.table import KEYS

    keys = [tuple(row[key] for key in KEYS) for row in rows(name)]
    assert len(set(keys)) == len(keys)


def test_at_the_papers_own_length():
    """Edits help independent starts but for the checkerboard, where both are lost."""
    full = rows("full_length")
    assert {row["steps"] for row in full} == {100_100} and {row["seed"] for row in full} == {0}
    nll = {(row["method"], row["data"]): row["nll_minus_floor"] for row in full}
    worse = [data for data in DATA_SETS if nll[claims.SEARCH, data] > nll["aloe-fac-noedit", data]]
    assert worse == ["checkerboard"]
    assert claims.sets_where_edits_help(full) == "6 of 7"
    uniform = 32 * np.log(2) - FLOOR["checkerboard"]
    assert min(nll[m, "checkerboard"] for m in (claims.SEARCH, "aloe-fac-noedit")) > uniform
    assert max(nll["aloe", data] for data in DATA_SETS) < 0.022
