"""The energy of programs: generated tasks, the likelihood by hand, and the commands."""

import math
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

from aloex.apps.fill.expressions.base import Constant
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.expressions.text import Match
from aloex.apps.fill.search.solve import Found, search
from studies.fill import tasks
from studies.fill.__main__ import app
from studies.fill.energy import evaluate, extras, features, net, pools, section, train
from studies.fill.energy.generator import generate
from studies.results import read

ROOT = Path(__file__).parents[2]
MADE = list(generate(3, 40))


def test_generated_tasks_follow_from_the_seed():
    assert list(generate(3, 5)) == MADE[:5]  # each by its own number, however many there are
    assert list(generate(4, 5)) != MADE[:5]


def test_a_generated_task_is_what_its_program_writes():
    for task, program in MADE:
        assert [program.run(row) or "" for row in task.rows] == task.outputs
        assert 8 <= len(task.rows) <= 12 and len(set(task.outputs)) > 1
        assert {len(row) for row in task.rows} == {len(task.columns)} <= {1, 2, 3}


def test_generated_tasks_are_of_many_kinds():
    kinds = {made.task.kind for made in generate(0, 60)}
    assert {"substring", "concat", "case", "replace", "number", "date"} <= kinds


def _energy(hidden=0, with_base=False):
    return net.Energy(2, 1, hidden=hidden, with_base=with_base, key=jax.random.key(0))


def test_the_loss_is_the_sum_over_all_programs_by_hand():
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float32)
    right = np.array([True, False, True])
    costs = np.array([1.0, 2.0, 0.5], np.float32)
    each = net.Prepared(x, np.zeros(1, np.float32), -costs, right)
    energy = eqx.tree_at(lambda e: e.linear, _energy(with_base=True), jnp.array([0.3, -0.7]))
    f = [0.3 - 1.0, -0.7 - 2.0, 0.3 - 0.7 - 0.5]
    wanted = math.log((math.exp(f[0]) + math.exp(f[2])) / sum(map(math.exp, f)))
    for width in (3, 8):  # what is filled up does not count
        batch = net.batch_of([each], width, 2)
        assert net.losses(energy, batch) == pytest.approx([-wanted] * 2, rel=1e-5)
    assert evaluate.log_likelihood(right, np.array(f)) == pytest.approx(wanted)


def test_the_table_matters_to_a_network_only_beside_programs():
    x = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    energy, base = _energy(hidden=4), np.zeros(2)
    gaps = [np.ptp(np.asarray(energy(x, np.array([z]), base))) for z in (-1.0, 1.0)]
    assert gaps[0] != pytest.approx(gaps[1])


def _pool(name, flip):
    """Two programs: the right one has `good` and the cheaper one has not."""
    rows = [{"rows_good": 1.0}, {"rows_bad": 1.0}]
    order = [1, 0] if flip else [0, 1]
    right = np.array([True, False])[order]
    return pools.Pool(
        name,
        1,
        [{"part": 1.0}, {"part": 1.0}],
        [rows[i] for i in order],
        {"table_rows": float(flip)},
        np.array([2.0, 1.0])[order],
        right,
    )


POOLS = [_pool(f"task {i}", i % 3 == 0) for i in range(64)]


def test_an_energy_learns_what_the_costs_miss(monkeypatch):
    monkeypatch.setattr(train, "RATE", 0.05)
    settings = train.Settings(hidden=0, with_base=True, looks_at="rows")
    inputs = train.inputs_of(POOLS, [], settings)
    assert inputs.programs == ("rows_bad", "rows_good")  # found in the data
    data = train.data_of(POOLS, inputs)
    learned = train.pretrain(data, data, inputs, settings, 0)
    assert evaluate.first_is_right(POOLS, train.Trained((learned,), inputs).scores(POOLS)) == [
        True
    ] * len(POOLS)
    assert not any(evaluate.first_is_right(POOLS, [-each.costs for each in POOLS]))


def test_the_extra_that_tells_right_from_wrong_is_taken_first():
    rows = extras.extras(POOLS, 1, products=False)
    assert rows[0]["first_right"] == 0
    assert rows[1]["extra"] in ("rows_bad", "rows_good") and rows[1]["first_right"] == len(POOLS)


def test_mcnemar_by_hand():
    one, other = [True] * 6 + [False], [False] * 6 + [True]
    assert evaluate.mcnemar(one, other) == (6, 1, pytest.approx(2 * (1 + 7) / 2**7))
    assert evaluate.mcnemar(one, one) == (0, 0, 1)


def test_rows_tell_a_program_that_cuts_words():
    rows = [("Ann Lee",), ("Roberta Day",), ("Cornelius Fox",)]
    found = search(rows, ["Ann"])
    seen = features.seen_on_rows(found, rows, 1)
    by_text = {each.texts[1]: said for each, said in zip(found, seen, strict=True)}
    assert by_text["Roberta"]["rows_cut"] == 0 < by_text["Rob"]["rows_cut"]


def test_constants_of_a_program_are_found():
    program = Join((Constant("No. "), Match(0, "number", 1), Constant("!")))
    assert list(features.constants(program)) == ["No. ", "!"]
    found = Found(0.0, program, ("No. 1!", "No. 2!"), {})
    (said,) = features.seen_on_rows([found], [("No. 1",), ("2",)], 1)
    assert said["rows_constant_misses"] == 1


def test_the_commands_train_and_rate(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "MAX_EPOCHS", 1)
    monkeypatch.setattr(train, "TUNE_EPOCHS", 1)
    lines = (tasks.FOLDER / "text_dev.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(lines), encoding="utf-8")
    run = lambda *words: CliRunner().invoke(app, [*words, "--set", str(few)])
    weights = str(tmp_path / "weights")
    small = ["--tasks", "8", "--valid", "4", "--seeds", "1", "--out", weights]
    trained = run("energy-train", *small)
    assert trained.exit_code == 0, trained.output
    options = ["--examples", "2", "--weights", weights, "--out", str(tmp_path)]
    rated = run("energy-eval", *options)
    assert rated.exit_code == 0, rated.output
    rows = {row["ranker"]: row for row in read(tmp_path / "energy.json")}
    assert set(rows) == {evaluate.LINEAR, *evaluate.ENERGIES.values()}
    assert all(row["first_right"] <= row["some_right"] <= row["tasks"] for row in rows.values())
    assert Path(weights, "tuned.safetensors").exists()
    helped = run("energy-extras", "--number", "1")
    assert helped.exit_code == 0 and helped.output.count("first right") == 2, helped.output


def test_a_verdict_needs_a_clear_difference():
    row = {"ranker": "a", "adjusted": 0.01, "only_energy": 9, "only_linear": 1}
    assert section.verdict([row], "a") == "better"
    assert section.verdict([{**row, "only_energy": 0}], "a") == "worse"
    assert section.verdict([{**row, "adjusted": 0.2}], "a") == "not clearly better or worse"


def test_the_page_says_what_the_rows_say():
    rows = read(ROOT / "results/fill/energy.json")
    said = " ".join((ROOT / "docs/fill_study.md").read_text().split())
    pairs = section.comparisons(rows, "heldout")
    assert len(pairs) == 9  # three energies, one to three examples
    verdicts = [section.verdict(pairs, name) for name in evaluate.ENERGIES.values()]
    assert ("The linear costs stay." in said) == ("better" not in verdicts)
    for row in pairs:
        if row["ranker"] == evaluate.ENERGIES["on_costs"]:
            assert f"{row['only_energy']} tasks gained and {row['only_linear']} lost" in said


def test_a_scale_helps_a_timid_ranker_only():
    rights = [np.array([True, False])] * 9 + [np.array([False, True])]
    timid, bold = [np.array([0.1, 0.0])] * 10, [np.array([np.log(9), 0.0])] * 10
    known = 0.9 * math.log(0.9) + 0.1 * math.log(0.1)  # nobody who says this share can do better
    assert evaluate.best_scaled(rights, bold) == pytest.approx(known, abs=1e-5)
    assert evaluate.best_scaled(rights, timid) < known
