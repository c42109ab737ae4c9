"""The demo: its bits are a Gray code, and a short run leaves a whole report."""

import json

import numpy as np

from aloex.apps.demo import data, study


def test_gray_code_is_a_bijection_of_neighbours():
    cells = np.stack(np.meshgrid(np.arange(256), [3]), axis=-1).reshape(-1, 2)
    bits = data.encode(cells)
    np.testing.assert_array_equal(data.decode(bits), cells)
    assert np.all(np.abs(np.diff(bits, axis=0)).sum(axis=1) == 1)


def test_points_fall_into_their_cells():
    points = data.pinwheel(np.random.default_rng(0), 1000)
    cells = data.to_cells(points)
    width = 2 * data.LIMIT / 2**data.BITS
    inside = np.abs(points).max(axis=1) < data.LIMIT
    assert inside.mean() > 0.99
    assert np.abs(data.to_points(cells) - points)[inside].max() <= width / 2 + 1e-9


def test_a_short_run_leaves_a_report(tmp_path, monkeypatch):
    for name in ("NUM_TRAIN", "NUM_TEST"):
        monkeypatch.setattr(study, name, 2000)
    monkeypatch.setattr(study, "NUM_FLOOR", 200_000)
    page = study.run(tmp_path, num_steps=60, seed=0)
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 3
    scores = json.loads((tmp_path / "scores.json").read_text())
    uniform, *_, floor = (score["nll"] for score in scores.values())
    learned = scores["the energy, f"]["nll"]
    assert floor < learned < uniform
    assert study.run(tmp_path, num_steps=60, seed=0) == page  # a second call goes on with the run
