"""Every command of the studies runs, on tiny settings."""

import os
import shutil
import sys
from pathlib import Path

import jax
import pytest

from aloex.apps.fuzz.model import ModelSettings, build_model
from aloex.apps.fuzz.target import Target
from aloex.apps.synthetic import draw, evaluate, methods
from aloex.base.errors import InputError
from studies import results
from studies.fuzz.__main__ import app as fuzz
from studies.speed.__main__ import app as speed
from studies.synthetic import floor, gradient_variance, table
from studies.synthetic.__main__ import app as synthetic

ROOT = Path(__file__).parents[2]
TINY = {
    **{"f_hidden": (4,), "q0_hidden": (4,), "q0_head": 4, "q_hidden": (4,)},
    **{"batch_size": 8, "num_chains": 16, "max_edits": 2},
}


@pytest.fixture(autouse=True, scope="module")
def quick():
    """All is compiled in haste: it runs only once."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def call(app, *words):
    app([*map(str, words)], standalone_mode=False)


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Tiny networks, few points; what is drawn and measured besides is left to other tests."""
    choose, few = methods.choose, evaluate.proposals("moons", 2**10)
    monkeypatch.setattr(
        methods, "choose", lambda *names, **changes: choose(*names, **{**changes, **TINY})
    )
    monkeypatch.setattr(evaluate, "proposals", lambda name: few)
    monkeypatch.setattr(evaluate, "data_row", lambda name: {"data": name, "mmd_exp": 0.0})
    monkeypatch.setattr(floor, "table", lambda: {"moons": {"floor": 20.0}})
    monkeypatch.chdir(tmp_path)


QUICK = ("--preset", "quick", "--data", "moons", "--seeds", 1, "--steps", 2)


def test_synthetic_table_figures_and_page(tiny, monkeypatch, tmp_path, capsys):
    call(synthetic, "table", "--method", "pcd", *QUICK, "--estimate", "--repeats", 0)
    (row,) = results.read(Path("results/synthetic/summary.json"))
    assert (row["method"], row["recipe"], row["data"], row["steps"]) == ("pcd", "paper", "moons", 2)
    assert results.read(Path("results/synthetic/floor.json"))[0]["floor"] == 20.0
    assert results.read(Path("results/synthetic/data.json"))[0]["data"] == "moons"

    coarse = draw.pixels(16, 1)
    monkeypatch.setattr(draw, "pixels", lambda: coarse)
    call(synthetic, "figures", "runs/table/pcd-paper", "--out", "drawn")
    assert {path.name for path in Path("drawn").iterdir()} == {"data.png", "data.svg"}

    call(synthetic, "page", "--results", ROOT / "results/synthetic", "--out", "page.md")
    assert Path("page.md").read_text() == (ROOT / "docs/synthetic.md").read_text()
    assert "page: page.md" in capsys.readouterr().out


def test_synthetic_tune(tiny, monkeypatch):
    monkeypatch.setattr(table, "GRIDS", {("pcd", "paper"): [{"restart": 0.5}]})
    call(synthetic, "tune", "--method", "pcd", *QUICK)
    (row,) = results.read(Path("results/synthetic/tuning.json"))
    assert (row["method"], row["recipe"]) == ("pcd", "paper, restart=0.5")
    with pytest.raises(InputError, match="there is no grid for vae:paper, only for pcd:paper"):
        call(synthetic, "tune", "--method", "vae")
    with pytest.raises(InputError, match="--seeds must be at least 1, got 0"):
        call(synthetic, "tune", "--seeds", 0)


def test_synthetic_ablation(tiny, monkeypatch):
    monkeypatch.setattr(table, "WITHOUT", {})
    monkeypatch.setattr(evaluate, "evaluate", lambda trained, **how: known(trained))
    monkeypatch.setattr(sys.modules[__name__], "TINY", {**TINY, "num_f_steps": 1, "persistence": 2})
    call(synthetic, "ablation", *QUICK, "--estimate")
    (row,) = results.read(Path("results/synthetic/ablation.json"))
    assert (row["method"], row["recipe"], row["data"]) == ("aloe", "best", "moons")


def known(trained):
    keys = {"method": trained.settings.method, "recipe": trained.about.recipe}
    return {**keys, "data": trained.about.data, "seed": trained.about.seed}


def test_synthetic_variance(tiny, monkeypatch):
    monkeypatch.setattr(gradient_variance, "METHODS", {"aloe": {}})
    call(synthetic, "variance", "--preset", "quick", "--seeds", 1, "--steps", 2, "--points", 1)
    rows = results.read(Path("results/synthetic/gradient_variance.json"))
    assert [(row["method"], row["step"]) for row in rows] == [("aloe", 2)]
    assert rows[0]["gradient_variance"] > 0


@pytest.fixture
def target(stairs, tmp_path):
    """stairs.c as a built target with a seed, and a model of it."""
    folder = tmp_path / "built"
    (folder / "seeds").mkdir(parents=True)
    (folder / "seeds/a").write_bytes(b"abcdefghijkl")
    files = {name: folder / getattr(stairs, name).name for name in ("library", "fuzzer")}
    for name, path in files.items():
        shutil.copy2(getattr(stairs, name), path)
    Target("stairs", seeds=folder / "seeds", max_len=stairs.max_len, **files).save(folder)
    model = build_model(ModelSettings(hidden=4, embed_dim=2), key=jax.random.key(0))
    (tmp_path / "models").mkdir()
    model.save(tmp_path / "models/stairs.masked.safetensors", held_out=-2.0)
    return folder


def test_fuzz_run_and_page(target, tmp_path, capsys):
    out = tmp_path / "results/summary.json"
    how = ("--inputs", "20,40", "--trials", 1, "--workers", 1, "--edits", 2, "--out", out)
    methods = ("uniform", "other-seed", "numbers")
    named = [word for name in methods for word in ("--method", name)]
    call(fuzz, "run", target, *named, *how)
    call(fuzz, "run", target, "--method", "masked", "--models", tmp_path / "models", *how)
    rows = results.read(out)
    assert {row["method"] for row in rows} == {*methods, "masked"}
    assert "| stairs, 40 inputs | edits | edges | trials | p | A12 |" in capsys.readouterr().out

    equal = tmp_path / "results/equal.json"
    how = ("--inputs", "20,40", "--trials", 1, "--out", equal, "--models", tmp_path / "models")
    fuzzers = "aloex,aloex+masked,libfuzzer"
    call(fuzz, "equal", "--targets", target, "--fuzzers", fuzzers, *how)
    pages = ("--results", out, "--equal", equal, "--out", tmp_path / "page.md")
    call(fuzz, "page", *pages)
    assert "| 40 inputs | stairs |" in (tmp_path / "page.md").read_text()
    drawn = [tmp_path / "images/fuzz/study.png", *map(out.with_name, ("study.png", "study.svg"))]
    assert all(path.stat().st_size > 1000 for path in drawn)


def test_mistakes_of_fuzz_run(target):
    with pytest.raises(InputError, match="masked needs --models FOLDER"):
        call(fuzz, "run", target, "--method", "masked")
    with pytest.raises(InputError, match="no method 'blind'; choose one of uniform, other-seed"):
        call(fuzz, "run", target, "--method", "blind")


def test_speed_page(tmp_path):
    call(speed, "page", "--results", ROOT / "results/speed", "--out", tmp_path / "speed.md")
    assert (tmp_path / "speed.md").read_text() == (ROOT / "docs/speed.md").read_text()


def test_speed_log_z(tmp_path):
    call(speed, "log-z", "--bits", 12, "--out", tmp_path)
    rows = results.read(tmp_path / "log_z.json")
    assert [row["precision"] for row in rows] == ["tensorfloat32", "float32"]
    assert rows[0]["log_z"] == pytest.approx(rows[1]["log_z"], abs=1e-3)


@pytest.fixture
def cores():
    """The commands keep to some cores; other tests are to have them all."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


def test_speed_scaling(cores, tmp_path, monkeypatch):
    """Time that grows with the square of a size has the exponent 2."""
    from studies.speed import scaling

    class Ours:
        def __init__(self, *, space, q0, batch, n, max_edits):
            self.ms = (space.dim * batch * n * max_edits) ** 2

        def run(self, num_steps):
            return float(self.ms)

    monkeypatch.setattr(scaling, "Ours", Ours)
    call(speed, "scaling", "--out", tmp_path)
    rows = {row["what"]: row for row in results.read(tmp_path / "scaling.json")}
    assert set(rows) == set(scaling.SIZES)
    assert all(rows[what]["exponent"] == 2 for what in ("batch", "num_trajectories", "max_edits"))


def test_the_step_that_is_timed():
    from aloex import spaces
    from studies.speed.ours import Ours

    ours = Ours(space=spaces.Bits(4), batch=2, n=2, max_edits=2, q0="factorized")
    assert ours.run(2) > 0


def test_speed_compare(cores, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="the peers need PyTorch: pip install 'aloex[bench]'")
    from studies.speed import compare

    monkeypatch.setattr(compare, "cases", lambda: [compare.Case("tiny", "factorized")])
    monkeypatch.setattr(compare, "blocks_of", lambda case: compare.Blocks(9, 1, 1))
    call(speed, "compare", "--blocks", 1, "--threads", 1, "--out", tmp_path)
    (row,) = results.read(tmp_path / "summary.json")
    assert min(row["ours_ms"], row["peer_ms"], row["vectorised_ms"]) > 0
    assert len(os.sched_getaffinity(0)) == 1 and row["device"] == "cpu, 1 thread"
    with pytest.raises(InputError, match="--threads must be at least 1, got 0"):
        call(speed, "compare", "--threads", 0)


def test_speed_fuzz(target, tmp_path, monkeypatch):
    from studies.speed import fuzz as timed

    monkeypatch.setattr(timed, "BLOCKS", 1)
    monkeypatch.setattr(timed, "SIZES", timed.Sizes(2, 2, 20, 20, 20, 2))
    monkeypatch.setattr(timed.Target, "load", lambda name, load=timed.Target.load: load(target))
    call(speed, "fuzz", tmp_path / "models/stairs.masked.safetensors", "--out", tmp_path)
    rows = results.read(tmp_path / "fuzz.json")
    assert [row["case"] for row in rows] == ["exact", "table", "executor"]
    assert all(row["ratio"] > 0 and row["method"] == "masked" for row in rows[:2])
