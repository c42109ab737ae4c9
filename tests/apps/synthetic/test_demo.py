"""The demo's report: whole in one file, true to its scores, and made from a run that is kept."""

import json
import re
import sys

import pytest

from aloex.apps.synthetic import demo as demo_app
from aloex.apps.synthetic import draw, evaluate
from aloex.base.errors import InputError
from aloex.cli import main

TINY = {"batch_size": 8, "persistence": 2, "f_hidden": (8,), "q_hidden": (8,), "max_edits": 4}
MODEL = {
    "floor": 19.5,
    "nll_minus_floor": 0.123,
    "nll_se": 0.004,
    "log_z_by": "importance sampling",
    "log_z": 7.0,
    "ais_lower": 6.9,
    "ais_lower_se": 0.01,
    "ais_upper": 7.2,
    "ais_upper_se": 0.02,
    "mmd_exp": 2.5e-4,
    "mmd_exp_se": 1e-5,
    "q_mmd_exp": 3.5e-4,
    "q_mmd_exp_se": 2e-5,
    "short_mmd_exp": 4.5e-4,
    "short_mmd_exp_se": 3e-5,
}
DATA = {"mmd_exp": -1.5e-5, "mmd_exp_se": 4e-6}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A short run and its report, with scores that need no measuring; the folder and the page."""
    out = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_app, "DEMO", TINY)
        patch.setattr(demo_app, "NUM_POINTS", 50)
        patch.setattr(demo_app, "measure", lambda trained, **_: {"model": MODEL, "data": DATA})
        coarse = draw.pixels(16, 1)
        patch.setattr(draw, "pixels", lambda: coarse)
        patch.setattr(evaluate, "_sweep", lambda key, f, x: x)
        few = evaluate.proposals("checkerboard", 2**10)
        patch.setattr(evaluate, "proposals", lambda name: few)
        again = lambda steps: demo_app.make_demo(out, data="checkerboard", num_steps=steps, seed=3)
        page = again(4)
        yield out, page.read_text(), again


def test_the_report_stands_alone(demo):
    out, text, _ = demo
    assert text.count('src="data:image/png;base64,') == text.count("<img") == 3
    assert "http" not in text
    assert "{" not in re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    for name in ("picture", "search", "curves"):
        assert (out / f"{name}.png").stat().st_size > 5000


def test_the_report_shows_the_scores(demo):
    out, text, _ = demo
    assert json.loads((out / "scores.json").read_text()) == {"model": MODEL, "data": DATA}
    cells = re.findall(r"<td class=n>(.*?)</td>", text)
    # NLL, gap and the two ends that AIS gives; then MMD of data, f, q and short chains, by 10^4.
    assert cells[:10:2] == ["19.500", "19.623", "0.123", "19.523", "19.823"]
    assert cells[1:10:2] == ["", "0.004", "0.004", "0.010", "0.020"]
    assert cells[10::2] == ["-0.15", "2.50", "3.50", "4.50"]
    assert cells[11::2] == ["0.04", "0.10", "0.20", "0.30"]


def test_without_a_bracket_its_lines_are_left_out():
    enumerated = {k: v for k, v in MODEL.items() if not k.startswith("ais")}
    names = [row[0] for row in demo_app.nll_rows(enumerated | {"log_z_by": "enumeration"})]
    assert names == ["floor", "NLL, log Z by enumeration", "NLL minus floor"]


def test_a_second_call_uses_the_run(demo):
    out, text, again = demo
    model = out / "checkerboard-3.safetensors"
    before = model.stat().st_mtime_ns
    assert again(4).read_text() == text
    assert model.stat().st_mtime_ns == before
    with pytest.raises(InputError, match=r"num_steps=4, not 5: give another --out"):
        again(5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--steps", "0"],
            "Invalid value for '--steps': Input should be greater",
        ),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (["--seed", str(2**31)], "error: a seed must be in 0..306783377, got 2147483648"),
    ],
)
def test_mistakes_are_told(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["aloex", "demo", "--out", str(tmp_path / "run"), *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
