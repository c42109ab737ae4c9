"""The long jobs: what they train, that none is run twice, and that nothing is lost on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from aloex.apps.synthetic import evaluate
from aloex.apps.synthetic.train import Problem
from aloex.base.errors import InputError
from aloex.base.locks import folder_lock
from studies import results
from studies.synthetic import jobs, lane, luggage, table
from studies.synthetic.__main__ import app
from studies.synthetic.jobs import EXACT, JOBS, NAMES, Job, job_of
from studies.synthetic.lane import Lane, Outcome

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "results/synthetic"


def row_of(job, problem, log_z_by=lane.ESTIMATED, **more):
    row = {"method": job.method, "recipe": job.recipe, "data": problem.data, "seed": problem.seed}
    steps = job.settings().num_steps
    return {**row, "steps": steps, "log_z_by": log_z_by, "nll_minus_floor": 0.1, **more}


@pytest.fixture
def stubbed(monkeypatch, tmp_path):
    """A lane that trains and evaluates nothing; returns it and the names of what it trained."""
    trained = []

    def train(folder, settings, problems, recipe):
        trained.append(folder.name)
        folder.mkdir(parents=True, exist_ok=True)
        for problem in problems:
            (folder / problem.file).write_bytes(bytes(1000))
        return [folder / problem.file for problem in problems]

    def rated(path, **how):
        job, (data, seed) = JOBS[path.parent.name], path.stem.rsplit("-", 1)
        assert how == {"num_repeats": job.num_repeats, "estimate": True}
        by = "bound (IWAE)" if job.method == "vae" else lane.ESTIMATED
        return {**row_of(job, Problem(data, int(seed)), by), "mmd_exp": 0.5, "command": "a lane"}

    exact = {"log_z_by": "enumeration", "nll_minus_floor": 0.2}
    monkeypatch.setattr(lane, "train", train)
    monkeypatch.setattr(lane, "rated", rated)
    monkeypatch.setattr(lane, "load", lambda path: path)
    monkeypatch.setattr(Lane, "_exact_row", lambda self, model: exact)
    return Lane(tmp_path / "jobs", tmp_path / "results"), trained


def test_every_job_has_its_settings_and_its_place():
    names = [item.name for item in jobs.QUEUE if isinstance(item, Job)]
    assert len(set(NAMES)) == len(NAMES) and len(names) == len(JOBS)
    for name in set(NAMES) - set(names):
        assert name.endswith(EXACT) and NAMES.index(job_of(name).name) < NAMES.index(name)
    for job in JOBS.values():
        settings = job.settings()
        assert settings.method == job.method and job.name not in NAMES[NAMES.index(job.name) + 1 :]
        if job.table == "full_length":
            assert settings.num_steps == 100_100 and settings.config.decay_steps is None
    with pytest.raises(InputError, match=r"no job 'gan'; choose one of cd-best"):
        job_of("gan")


def test_the_rows_of_jobs_are_those_of_the_tables():
    """The same labels and settings as `table`, `tune` and `ablation` give."""
    (without,) = [
        line for line in table.ablation("paper", num_steps=4800) if "edits" in line.recipe
    ]
    assert without.settings == JOBS["ablation-edits"].settings()
    assert without.recipe == JOBS["ablation-edits"].recipe
    grid = table.tuning([("cd", "best")], "paper")
    tuned = [job for job in JOBS.values() if job.table == "tuning"]
    assert [(j.recipe, j.settings()) for j in tuned] == [(x.recipe, x.settings) for x in grid]
    assert JOBS["aloe-best-no-edits"].settings().config.max_edits == 0


def test_cd_with_best_settings_has_as_many_steps_as_pcd():
    """Its grid varies one thing at a time, with as many sweeps at each point but the last ones."""
    cd, pcd = (table.entries([(m, "best")], "paper")[0].settings for m in ("cd", "pcd"))
    assert cd.num_steps == pcd.num_steps and cd.config == pcd.config
    sweeps = {line.settings.num_steps * line.settings.config.num_sweeps
              for line in table.tuning([("cd", "best")], "paper")}  # fmt: skip
    assert sweeps == {8000}


def test_what_is_committed_is_not_run_again():
    work = Lane(Path("nowhere"), COMMITTED)
    assert work.is_done(JOBS["full-aloe-0"]) and work.is_exact(JOBS["full-aloe-0"])
    assert not work.is_done(JOBS["full-aloe-1"])
    longer = results.read(COMMITTED / "full_length.json")
    assert {row["log_z_by"] for row in longer if row["method"] == "aloe-fac-noedit"} > {
        lane.ESTIMATED
    }
    assert not work.is_exact(JOBS["full-aloe-fac-noedit-0"])


def test_a_lane_does_every_job_once(stubbed):
    work, trained = stubbed
    names = ["cd-best", "cd-best exact", "full-vae-0", "tune-cd-best-1"]
    work.work(names)
    work.work(names)
    assert trained == ["cd-best", "full-vae-0", "tune-cd-best-1"]
    rows = work.rows(JOBS["cd-best"])
    assert len(rows) == 21 and all(row["log_z_by"] == "enumeration" for row in rows)
    assert {(row["nll_minus_floor"], row["mmd_exp"]) for row in rows} == {(0.2, 0.5)}
    assert {row["command"] for row in rows} == {"python -m studies.synthetic jobs --job cd-best"}
    assert work.is_exact(JOBS["full-vae-0"]), "it has no log Z"
    assert not work.is_exact(JOBS["tune-cd-best-1"])


def test_a_lane_goes_on_where_another_was_killed(stubbed, monkeypatch):
    """Models that are there are evaluated, not trained, and rows that are exact stay."""
    work, _ = stubbed
    job, calls = JOBS["cd-best"], []

    def killed(self, model):
        calls.append(model.name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return {"log_z_by": "enumeration"}

    monkeypatch.setattr(Lane, "_exact_row", killed)
    for _ in range(2):
        try:
            work.work(["cd-best", "cd-best exact"])
        except KeyboardInterrupt:
            assert not work.is_exact(job)
    assert len(calls) == 22 and len(set(calls)) == 21 and calls[2] == calls[3]
    assert work.is_exact(job)


def test_a_failed_job_is_told_and_not_repeated(stubbed, monkeypatch, capsys):
    work, trained = stubbed
    monkeypatch.setattr(lane, "rated", lambda *args, **how: 1 / 0)
    work.work(["full-cd-0", "full-vae-0"])
    work.work(["full-cd-0", "full-vae-0"])
    assert trained == ["full-cd-0", "full-vae-0"]
    assert "ZeroDivisionError" in (work.folder / "failed/full-vae-0.txt").read_text()
    assert "full-vae-0: failed" in capsys.readouterr().out


def test_jobs_of_other_lanes_and_those_without_models_are_passed_over(stubbed):
    work, trained = stubbed
    lock = lambda name: folder_lock(work.folder / "locks" / name)
    with lock("cd-best"):
        assert work._attempt("cd-best") == Outcome.WAIT  # it has the accelerator to itself
        work.run_path(JOBS["cd-best"]).mkdir(parents=True)
        for problem in JOBS["cd-best"].problems:
            (work.run_path(JOBS["cd-best"]) / problem.file).touch()
        assert work._attempt("cd-best") == Outcome.BUSY  # it is evaluated
    with lock("full-cd-0"):
        assert work._attempt("full-cd-0") == Outcome.BUSY
    assert work._attempt("full-cd-0 exact") == Outcome.LATER
    assert trained == []


def test_what_cannot_be_carried_begins_only_where_it_can_end(stubbed):
    work, trained = stubbed
    soon = work._replace(deadline=time.monotonic() + 60)
    assert soon._attempt("full-aloe-1") == Outcome.NO_TIME
    assert soon._attempt("full-cd-0") == Outcome.WORKED
    assert trained == ["full-cd-0"]


def test_rows_and_state_are_carried(stubbed, tmp_path):
    work, _ = stubbed
    work.work(["cd-best", "cd-best exact", "full-cd-0", "aloe-best-no-edits"])
    run = work.run_path(JOBS["full-pcd-0"]) / "run"  # one that was stopped
    for step in ("000001000", "000002000"):
        (run / "checkpoints" / step).mkdir(parents=True)
        (run / "checkpoints" / step / "part").write_text(step)
    for name in ("config.json", "run.json"):
        (run / name).write_text("{}")
    (run / "metrics.jsonl").write_text('{"step": 2000, "f_loss": 0.5}\n')
    lines = luggage.collect(work, tmp_path / "out", list(JOBS))
    assert lines[:3] == [
        "cd-best: done, log Z exact",
        "full-cd-0: done, log Z estimated",
        'full-pcd-0: 0 of 7 rows; {"step": 2000}',
    ]
    other = Lane(tmp_path / "elsewhere", tmp_path / "committed")
    luggage.restore(tmp_path / "out", other)
    assert not other.models(JOBS["cd-best"]), "nothing is left to do"
    assert not other.models(JOBS["aloe-best-no-edits"]), "too large"
    assert len(other.models(JOBS["full-cd-0"])) == 7
    there = other.run_path(JOBS["full-pcd-0"]) / "run"
    assert [p.name for p in (there / "checkpoints").iterdir()] == ["000002000"]
    assert (there / "metrics.jsonl").exists()
    summary = results.read(tmp_path / "committed/summary.json")
    assert len(summary) == 42 and other.is_exact(JOBS["cd-best"])


def test_files_are_few_and_bounded(stubbed, tmp_path, monkeypatch):
    work, _ = stubbed
    work.work(["full-cd-0"])
    first = work.models(JOBS["full-cd-0"])[0]
    first.write_bytes(os.urandom(150_000))
    out = tmp_path / "out"
    monkeypatch.setattr(luggage, "PART", 100_000)
    luggage.collect(work, out, list(JOBS))
    parts = sorted(out.glob("state.*"))
    assert len(parts) == 2 and max(path.stat().st_size for path in parts) <= 100_000
    monkeypatch.setattr(luggage, "MAX_PARTS", 2)  # no room
    lines = luggage.collect(work, out, list(JOBS))
    (said,) = [line for line in lines if line.startswith("full-cd-0: ")]
    assert "are too many" in said and not list(out.glob("state.*"))
    assert (out / "full_length.json").exists()
    with pytest.raises(InputError, match="there is nothing in"):
        luggage.restore(tmp_path, work)


def test_the_fastest_chunk_is_measured(monkeypatch, capsys):
    took = [second for size in (3.0, 1.0, 2.0, 4.0) for second in (9.0, size, size, size)]
    clock = iter([moment for second in took for moment in (0.0, second)])
    monkeypatch.setattr(lane.exact, "streamed_log_z", lambda *args, **how: 0.0)
    monkeypatch.setattr(lane, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    lane.fastest_chunk.cache_clear()
    assert lane.fastest_chunk() == lane.CHUNKS[1]
    assert "16: 1.0" in capsys.readouterr().out
    lane.fastest_chunk.cache_clear()


def test_the_commands_train_stop_and_go_on(monkeypatch, tmp_path):
    """A real job of tiny networks: its driver is told to stop, and another machine goes on."""
    monkeypatch.chdir(tmp_path)
    small = ("--job", "full-cd-0", "--job", "full-cd-0 exact", "--out", "rows")
    command = [sys.executable, "-m", "studies.synthetic", "jobs", "--lanes", "2", *small]
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    driver = subprocess.Popen(
        [*command, "--rehearse", "10000000", "--runs", "first"],
        env={**os.environ, "PYTHONPATH": path},
    )
    record = tmp_path / "first/runs/full-cd-0/run/metrics.jsonl"
    while not (record.exists() and record.read_text()):
        assert driver.poll() is None
        time.sleep(0.2)
    driver.send_signal(signal.SIGTERM)
    assert driver.wait(90) == 0
    call = lambda *words: app([*map(str, words)], standalone_mode=False)
    call("collect", "packed", *small, "--rehearse", 10000000, "--runs", "first")
    call("restore", "packed", "--runs", "second", "--out", "rows")
    run = tmp_path / "second/runs/full-cd-0/run"
    saved = max(int(p.name) for p in (run / "checkpoints").iterdir())
    assert saved > 0
    few = evaluate.proposals("moons", 2**10)
    monkeypatch.setattr(evaluate, "proposals", lambda name: few)
    monkeypatch.setattr(evaluate, "samples", lambda trained: {})  # no MMD
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "num_steps": saved + 5}))
    call("jobs", "--lanes", 1, *small, "--rehearse", saved + 5, "--runs", "second")
    rows = [json.loads(text) for text in (run / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["step"] == saved + 5
    done = json.loads((tmp_path / "second/rows/full-cd-0.json").read_text())
    assert [row["data"] for row in done] == ["2spirals", "8gaussians"]
    assert {row["log_z_by"] for row in done} == {"enumeration"}
