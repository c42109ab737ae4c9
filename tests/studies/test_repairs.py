"""What edits did: counted, described and shown on the page; networks from their files."""

import hashlib

import numpy as np
import pytest

from aloex.apps.programs.language import canonical, parse, run, show
from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.programs.codes import program_of
from aloex.apps.programs.networks.search.joint_beam import Edited
from aloex.apps.programs.networks.train import feed
from aloex.apps.programs.tasks import generate
from aloex.base.errors import CheckpointError
from studies.results import read
from studies.synth import network_page, weights
from studies.synth.frozen import frozen
from studies.synth.network import load_network
from studies.synth.repairs import Judged, described, told

RESULTS = q0.Path(__file__).parents[2] / "results/synth/summary.json"


def test_numbers_stand_for_programs():
    made = generate(100, seed=5)
    for is_canonical, form in ((False, lambda program: program), (True, canonical)):
        codes = feed.codes_of(made.tokens, is_canonical)
        for row, task in zip(codes, made.tasks(), strict=True):
            assert program_of(row) == form(task.program)


@pytest.mark.parametrize(
    "before, after, text",
    [
        ("]-", "]", "delete expression 2"),
        ("]-", "-", "delete expression 1"),
        ("]-", "],-", 'insert expression 2: ConstStr(",")'),
        ("]", "]-", 'insert expression 2: ConstStr("-")'),
        ("]-.", "],.", 'replace expression 2: ConstStr(",")'),
        ("]-", "]-", "write an expression again"),
    ],
)
def test_edits_in_words(before, after, text):
    program = lambda chars: parse(" | ".join(f'ConstStr("{char}")' for char in chars))
    assert described(program(before), program(after)) == text


def edited(paths):
    """A beam of programs for each task, given by their paths of constants."""
    width, steps = len(paths[0]), 4
    path = np.zeros((len(paths), width, steps, 10), np.int32)
    for task, beams in enumerate(paths):
        for beam, programs in enumerate(beams):
            for step in range(steps):
                program = programs[min(step, len(programs) - 1)]
                path[task, beam, step, : len(program)] = program
    num_edits = np.array([[len(programs) - 1 for programs in beams] for beams in paths])
    log_prob = -np.arange(width) * np.ones((len(paths), 1))
    return Edited(path[..., -1, :], log_prob, num_edits, path, np.ones((len(paths), width), bool))


def test_edits_are_counted():
    """Tasks: repaired by two edits; right at once; only the second right; none that fits."""
    paths = [
        [[(1,), (1, 2), (1, 3)], [(4,)]],
        [[(1,)], [(2,), (1,)]],
        [[(1,), (2,)], [(1,), (2,), (3,), (4,)]],
        [[(1,)], [(1,)]],
    ]
    fit = np.array([[True, False], [True, True], [True, True], [False, False]])
    right = np.array([[True, False], [True, True], [False, True], [False, False]])
    start = np.array([[False, False], [True, False], [False, False], [False, False]])
    tasks = frozen("validation")[:4]
    row = told(tasks, edited(paths), Judged(fit, right), Judged(fit, start))
    assert row["num_edits"] == [1, 1, 1, 0] and row["num_edits_right"] == [1, 0, 1, 1]
    assert row["repaired"] == 0.25
    (repair,) = row["repairs"]
    assert repair["task"] == 0 and repair["pairs"] == tasks[0].public
    assert (repair["start"], repair["end"]) == ('ConstStr("]")', 'ConstStr("]") | ConstStr("-")')
    assert repair["edits"] == [
        'insert expression 2: ConstStr(",")',
        'replace expression 2: ConstStr("-")',
    ]


def rows_of(*models, **more):
    row = {"set": "test", "public_examples": 4, "n_tasks": 50, "weights": ["a"], "device": "cpu"}
    row |= {"top1_beam1": 0.25, "top1_beam10": 0.5, "top10_beam10": 0.75}
    row |= {"train_examples": 1_500_000, "gpu_seconds": 12.0, **more}
    return [{**row, "model": model} for model in models]


def test_the_page_has_a_section_once_there_are_rows():
    assert network_page.render([{"set": "test", "model": "version space"}], []) == ""
    plain = network_page.render(rows_of("seq2seq-init"), [])
    line = "| seq2seq-init | 25.00% | 50.00% | 75.00% | 1.5M | 12 | – |"
    assert line in plain and "Repaired" not in plain
    rows = [*rows_of("a"), *rows_of("a", "b", public_examples=2)]
    table = network_page.render(rows, []).split("fewer public pairs")[1].splitlines()
    assert table[2:6] == [
        *("|  | 2 | 4 |", "| --- | --- | --- |"),
        *("| a | 50.0 / 75.0 | 50.0 / 75.0 |", "| b | 50.0 / 75.0 | – |"),
    ]
    edits = {"num_edits": [30, 10], "num_edits_right": [20, 5], "repaired": 0.1}
    task = frozen("test")[0]
    wrong = parse('ConstStr("%")')
    repair = {"task": 0, "pairs": task.public, "start": show(wrong), "edits": ["an edit"]}
    repairs = [{**rows_of("ALOE")[0], "repairs": [{**repair, "end": task.text}]}]
    text = network_page.render(rows_of("ALOE", **edits), repairs)
    assert "| ALOE | 75.0 | 25.0 | 10.0% |" in text
    assert "edit: an edit" in text and f"so:   {task.text}" in text
    assert text.count(f"not {run(wrong, 'x', 'paper')!r}") == 4


def test_the_page_tells_what_an_editor_adds_at_equal_cost():
    tune = rows_of("seq2seq-tune", top1_beam81=0.4, top1_beam810=0.6)
    pruned = rows_of("seq2seq-tune, pruned", "ALOE, pruned, until they fit")
    fit = rows_of("ALOE, until they fit", top1_beam10=0.625)
    rows = [*tune, *pruned, *fit, *rows_of("ALOE", top1_beam1=0.2)]
    text = network_page.render(rows, [])
    assert "-5.0 / +0.0 / +0.0 points above\nseq2seq-tune" in text
    assert "it is +5.7 / +4.5 / +4.7." in text and "ALOE is +0.0 / +12.5 / +0.0 points" in text
    assert "40.0% and\n60.0%" in text and "25.0% and 62.5%" in text
    assert "points above" not in network_page.render(rows[1:], [])
    assert "points above" not in network_page.render([*rows_of("seq2seq-tune"), *rows[1:]], [])


def test_the_rows_bear_out_what_the_page_says():
    rows = {row["model"]: row for row in read(RESULTS) if row["public_examples"] == 4}
    tune, fit = rows["seq2seq-tune"], rows["ALOE, until they fit"]
    for i, name in enumerate(network_page.BEAMS):
        papers = network_page.PAPER["ALOE"][i] - network_page.PAPER["seq2seq-tune"][i]
        assert rows["ALOE"][name] < tune[name] < fit[name] - papers / 100
        assert rows["ALOE, pruned, until they fit"][name] > rows["seq2seq-tune, pruned"][name]
        assert rows["best-q0"][name] < rows["best-q0 + editor"][name]
        best = max(row[name] for row in network_page.networks([*rows.values()]))
        assert best <= rows["version space"][name] + 0.005 + 1e-9
    assert fit["top1_beam1"] < tune["top1_beam81"] and fit["top1_beam10"] < tune["top1_beam810"]
    assert tune["gpu_seconds"] == pytest.approx(fit["gpu_seconds"], rel=0.02)


def test_the_figure_has_a_panel_for_edits():
    from studies.synth.network_figure import figure

    edits = {"num_edits": [30, 10], "num_edits_right": [20, 5]}
    left, right = figure([*rows_of("best q0"), *rows_of("ALOE", **edits)]).axes
    heights = [[bar.get_height() for bar in bars] for bars in right.containers]
    assert heights == [[60, 20], [40, 10]]
    assert [label.get_text() for label in left.get_xticklabels()] == ["best q0", "ALOE"]


def test_models_that_come_with_the_library_are_found_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "DATA", tmp_path)
    monkeypatch.setattr(weights, "SHIPPED", {"best": hashlib.sha256(b"weights").hexdigest()})
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "best.safetensors"
    with pytest.raises(CheckpointError, match="check it out again"):
        weights.weights_file(q0.Path("best"))
    file.write_bytes(b"weights")
    assert weights.weights_file(q0.Path("best")) == file
    assert weights.weights_file(q0.Path("paper")) == q0.Path("paper")
    file.write_bytes(b"others")
    with pytest.raises(CheckpointError, match="damaged"):
        weights.weights_file(q0.Path("best"))
    (tmp_path / "best").mkdir()  # a run of that name goes first
    assert weights.weights_file(q0.Path("best")) == q0.Path("best")


def test_the_rows_are_of_the_weights_that_come_with_the_library():
    names = {"best-q0": ["best"], "best-q0 + editor": ["best", "best_editor"]}
    rows = {row["model"]: row for row in read(RESULTS) if row["public_examples"] == 4}
    for model, files in names.items():
        network = load_network(*map(q0.Path, files))
        for name in ("weights", "train_examples", "gpu_seconds"):
            assert network.about[name] == rows[model][name]
