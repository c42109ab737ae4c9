"""Run folders: what they record, and that no damaged or foreign one is ever taken for good."""

import json
import shutil

import jax
import numpy as np
import pytest

from aloex.base.errors import AloexError, CheckpointError, InputError
from aloex.base.files import UNFINISHED
from aloex.learning import RunFolder
from aloex.runs import checkpoints
from aloex.runs.run_folder import discard_run, open_run, recorded_steps
from toy import Toy, same, train

CONFIG = {"batch_size": 8, "hidden": (8, 8), "num_steps": 100}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The state and the folder of a run with checkpoints at 10, 20, 30 and 40, one too many."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "MAX_BYTES", 8)  # so that a checkpoint has several files
        return train(folder, 40), folder


@pytest.fixture
def run(trained, tmp_path):
    """A copy of it to be damaged."""
    return RunFolder(shutil.copytree(trained[1], tmp_path / "run"))


def test_what_is_recorded(tmp_path):
    RunFolder.create(tmp_path / "run", config=CONFIG, seed=3)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert config == {**CONFIG, "hidden": [8, 8]} and about["seed"] == 3
    assert about["versions"]["jax"] == jax.__version__
    assert {"aloex", "equinox", "optax", "numpy", "python", "devices"} <= about["versions"].keys()


def test_the_last_checkpoints_are_kept_and_nothing_else(run):
    assert sorted(p.name for p in run.checkpoints.path.iterdir()) == [
        "000000020",
        "000000030",
        "000000040",
    ]


def test_restore_gives_back_every_bit_and_the_functions(trained, run):
    restored = run.checkpoints.restore(Toy().init())
    assert same(restored, trained[0])
    assert restored.key.dtype == trained[0].key.dtype
    assert restored.function is jax.nn.sigmoid and restored.empty.shape == (3, 0)


def test_existing_folder_needs_resume(run, tmp_path):
    with pytest.raises(CheckpointError, match=r"exists already.*--resume.*another folder"):
        RunFolder.create(run.path, config=CONFIG, seed=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="exists already"):
        RunFolder.create(tmp_path / "file", config=CONFIG, seed=0)
    (tmp_path / "empty").mkdir()
    RunFolder.create(tmp_path / "empty", config=CONFIG, seed=0)


def test_no_run_there(tmp_path):
    with pytest.raises(CheckpointError, match=f"there is no run in {tmp_path}"):
        RunFolder.open(tmp_path, config=CONFIG, seed=0)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        RunFolder.create(tmp_path / "run", config=CONFIG, seed=0).checkpoints.restore(Toy().init())


@pytest.mark.parametrize(
    ("change", "seed", "message"),
    [
        ({"batch_size": 9}, 0, "batch_size=8, but now batch_size=9"),
        ({"hidden": (8, 9)}, 0, r"hidden=\[8, 8\], but now hidden=\[8, 9\]"),
        ({"extra": 1}, 0, "extra='absent', but now extra=1"),
        ({}, 1, "seed=0, but now seed=1"),
    ],
)
def test_other_settings_are_another_run(tmp_path, change, seed, message):
    RunFolder.create(tmp_path / "run", config=CONFIG, seed=0)
    RunFolder.open(tmp_path / "run", config={**CONFIG, "num_steps": 200}, seed=0)
    with pytest.raises(CheckpointError, match=message):
        RunFolder.open(tmp_path / "run", config={**CONFIG, **change}, seed=seed)


def test_damaged_or_unwritable_config(tmp_path):
    run = RunFolder.create(tmp_path / "run", config=CONFIG, seed=0)
    (run.path / "config.json").write_text('{"batch_')
    with pytest.raises(CheckpointError, match=r"config\.json is damaged"):
        RunFolder.open(run.path, config=CONFIG, seed=0)
    for content in ("[]", "3", "null"):
        (run.path / "config.json").write_text(content)
        with pytest.raises(CheckpointError, match=r"config\.json is damaged: it must hold a JSON"):
            RunFolder.open(run.path, config=CONFIG, seed=0)
    with pytest.raises(InputError, match="plain JSON"):
        RunFolder.create(tmp_path / "other", config={"function": len}, seed=0)
    assert not (tmp_path / "other").exists()


def files_of(run: RunFolder) -> list:
    return sorted(p for p in run.checkpoints.folder(40).rglob("*") if p.is_file())


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def change_a_byte(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [cut, change_a_byte, lambda path: path.unlink()])
def test_damage_to_any_file_is_found(trained, run, damage):
    names = [p.relative_to(run.path) for p in files_of(run)]
    assert len(names) == 3
    for name in names:
        whole = (run.path / name).read_bytes()
        damage(run.path / name)
        with pytest.raises(CheckpointError, match=r"000000040 is damaged.*fall back to step 30"):
            run.checkpoints.restore(Toy().init())
        (run.path / name).write_bytes(whole)
    assert same(run.checkpoints.restore(Toy().init()), trained[0])


def test_falling_back_from_a_damaged_checkpoint(trained, run):
    cut(files_of(run)[0])
    with pytest.raises(CheckpointError, match="damaged"):
        train(run.path, 40, resume=True)
    assert run.checkpoints.steps() == [20, 30, 40]  # nothing is deleted by itself
    shutil.rmtree(run.checkpoints.folder(40))
    assert same(train(run.path, 40, resume=True), trained[0])
    for step in (20, 30):
        shutil.rmtree(run.checkpoints.folder(step))
    cut(files_of(run)[0])
    with pytest.raises(CheckpointError, match="delete that folder to start again from step 0"):
        train(run.path, 40, resume=True)


def test_checkpoint_of_another_model(run):
    with pytest.raises(
        CheckpointError, match=r"another model: logits is float32\[4\] there and float32\[5\] here"
    ):
        run.checkpoints.restore(Toy().init(5))
    with pytest.raises(CheckpointError, match=r"step is int32\[\] there and absent here"):
        run.checkpoints.restore(Toy().init()._replace(step=None))
    with pytest.raises(CheckpointError, match=r"function is absent there and float32\[2\] here"):
        run.checkpoints.restore(Toy().init()._replace(function=jax.numpy.zeros(2)))


def test_metrics_lose_what_came_after_the_step_and_half_a_line(tmp_path):
    run = RunFolder.create(tmp_path / "run", config=CONFIG, seed=0)
    run.truncate_metrics(0)  # no record yet
    run.append_metrics([{"step": 5, "loss": 1.5}, {"step": 10, "loss": 1.25}])
    run.append_metrics([{"step": 15, "loss": 1.0}])
    whole = run.metrics_path.read_text()
    with run.metrics_path.open("a") as file:
        file.write('{"step": 20, "lo')
    run.truncate_metrics(20)
    assert run.metrics_path.read_text() == whole
    run.truncate_metrics(10)
    assert run.metrics_path.read_text() == "".join(whole.splitlines(keepends=True)[:2])
    run.metrics_path.write_text("not a row\n" + whole)
    with pytest.raises(CheckpointError, match=r"metrics\.jsonl is damaged"):
        run.truncate_metrics(20)


def test_an_unfinished_checkpoint_is_ignored(trained, run):
    shutil.copytree(run.checkpoints.folder(40), run.checkpoints.path / ".writing")
    assert run.checkpoints.latest() == 40
    for _ in range(2):  # a checkpoint may also be replaced
        run.checkpoints.save(50, trained[0])
    assert (
        run.checkpoints.steps() == [30, 40, 50] and not (run.checkpoints.path / ".writing").exists()
    )
    assert np.array_equal(run.checkpoints.restore(Toy().init()).logits, trained[0].logits)


def test_types_that_numpy_does_not_know_come_back(tmp_path):
    run = RunFolder.create(tmp_path / "run", config=CONFIG, seed=0)
    state = {"moments": jax.numpy.arange(5, dtype=jax.numpy.bfloat16), "scale": jax.numpy.ones(())}
    run.checkpoints.save(1, state)
    found = run.checkpoints.restore(jax.eval_shape(lambda: state))  # shapes will do
    assert found["moments"].dtype == jax.numpy.bfloat16 and found["scale"].shape == ()
    assert np.array_equal(found["moments"], state["moments"])


def test_files_have_a_bounded_size(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "MAX_BYTES", 4000)
    run = RunFolder.create(tmp_path / "run", config=CONFIG, seed=0)
    state = [jax.numpy.full((10, 50), i, jax.numpy.float32) for i in range(6)]  # 2000 bytes each
    run.checkpoints.save(1, state)
    sizes = [path.stat().st_size for path in run.checkpoints.folder(1).iterdir()]
    assert len(sizes) == 3 and max(sizes) < 5000
    found = run.checkpoints.restore(state)
    assert all(np.array_equal(a, b) for a, b in zip(found, state, strict=True))


def what_a_kill_leaves(folder):
    """The folder of a run whose process was killed before it had written the config."""
    RunFolder.create(folder, config=CONFIG, seed=0)
    (folder / "config.json").rename(folder / f".config.json.12ab{UNFINISHED}")
    return folder


@pytest.mark.parametrize("resume", [False, True])
def test_what_a_killed_start_leaves_is_no_run(tmp_path, resume):
    folder = what_a_kill_leaves(tmp_path / "run")
    assert same(train(folder, 10, resume=resume), train(None, 10))


def test_checkpoints_without_a_config_can_be_thrown_away(run):
    (run.path / "config.json").unlink()
    with pytest.raises(CheckpointError, match=r"config\.json is missing.*--fresh"):
        train(run.path, 40, resume=True)
    discard_run(run.path)
    train(run.path, 10)
    assert run.checkpoints.steps() == [10]


def test_only_a_run_is_thrown_away(run, tmp_path):
    (run.path / "notes.txt").write_text("mine")
    discard_run(run.path)
    assert [path.name for path in run.path.iterdir() if path.name != ".lock"] == ["notes.txt"]
    with pytest.raises(CheckpointError, match="holds no run, so nothing was removed"):
        discard_run(run.path)
    discard_run(tmp_path / "new")  # there is nothing to remove
    assert not (tmp_path / "new").exists()


def test_resuming_starts_where_there_is_nothing_to_resume(tmp_path):
    assert same(train(tmp_path / "run", 10, resume=True), train(None, 10))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("")
    with pytest.raises(CheckpointError, match=r"there is no run in .*check the path, or use anot"):
        train(tmp_path / "foreign", 10, resume=True)
    with pytest.raises(CheckpointError, match="exists already and holds no run; use another"):
        train(tmp_path / "foreign", 10)


def test_a_model_of_a_shorter_run_is_not_kept(run):
    """Else `aloex sample` would draw from it when the longer run is stopped."""
    model = run.path / "model.safetensors"
    model.write_text("of step 40")
    train(run.path, 40, resume=True)
    assert model.exists()
    train(run.path, 41, resume=True)
    assert not model.exists()


def test_resuming_takes_the_length_of_the_run(tmp_path, run):
    assert recorded_steps(run.path) == 40 and recorded_steps(tmp_path / "none") is None
    train(tmp_path / "new", 20)
    assert int(train(tmp_path / "new", None, resume=True).step) == 20
    with pytest.raises(InputError, match="num_steps must be given"):
        train(tmp_path / "other", None, resume=True)


def test_a_folder_in_use_is_refused(run):
    config = {**run.config(), "num_steps": 40}
    with open_run(run.path, True, Toy().init(), config, 0):
        before = run.metrics_path.read_text()
        with pytest.raises(AloexError, match="another process is at work in"):
            train(run.path, 60, resume=True)
        with pytest.raises(AloexError, match="another process is at work in"):
            discard_run(run.path)
        assert run.metrics_path.read_text() == before
    assert int(train(run.path, 60, resume=True).step) == 60


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(run, trained, tmp_path):
    metrics = run.metrics_path.read_text()
    run.metrics_path.unlink()
    run.metrics_path.symlink_to("/dev/full")
    with pytest.raises(AloexError, match=r"cannot write .*metrics\.jsonl: No space.*free some"):
        run.append_metrics([{"step": 45}])
    run.metrics_path.unlink()
    run.metrics_path.write_text(metrics)
    assert int(train(run.path, 50, resume=True).step) == 50


def test_a_path_that_cannot_be_a_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run", "/proc/aloex"):
        with pytest.raises(AloexError, match=f"{path}"):
            train(path, 10)
