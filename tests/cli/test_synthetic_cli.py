"""`aloex synthetic` and `aloex demo`: their choices are those of the study, and are listed."""

import pytest
from typer.testing import CliRunner

from aloex.apps.synthetic import methods, rated, train
from aloex.apps.synthetic.data import DATA_SETS
from aloex.cli import choices, synthetic
from aloex.cli.main import app


def test_the_choices_are_those_of_the_study():
    assert tuple(choices.DataName) == DATA_SETS
    assert list(choices.MethodName) == list(methods.METHODS)
    for recipe in choices.RecipeName:
        for preset in choices.PresetName:
            assert methods.choose("aloe", recipe, preset).method == "aloe"


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        (
            ["synthetic", "train"],
            [choices.DataName, choices.MethodName, choices.RecipeName, choices.PresetName],
        ),
        (["demo"], [choices.DataName]),
    ],
)
def test_help_has_a_line_for_each_choice(command, kinds):
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "120"}).output
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    for choice in (choice for kind in kinds for choice in kind):
        assert any(f"{choice.value}: {choice.help}" in line for line in lines), choice


def test_a_wrong_choice_is_told_with_the_right_ones(tmp_path):
    done = CliRunner().invoke(app, ["demo", "--data", "cat", "--out", str(tmp_path / "run")])
    assert done.exit_code == 2 and "'cat' is not one of '2spirals'" in done.output
    assert not (tmp_path / "run").exists()


def test_train_asks_for_all_problems_at_once(tmp_path, monkeypatch):
    asked = {}

    def fake(folder, settings, problems, *, recipe):
        asked.update(folder=folder, settings=settings, problems=problems, recipe=recipe)
        return [folder / problem.file for problem in problems]

    monkeypatch.setattr(train, "train", fake)
    words = "synthetic train --data moons --data circles --seed 1 --seed 2 --method pcd --steps 7"
    more = ["--recipe", "best", "--preset", "quick", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, [*words.split(), *more])
    assert done.exit_code == 0, done.output
    problems = [("moons", 1), ("circles", 1), ("moons", 2), ("circles", 2)]
    assert [tuple(problem) for problem in asked["problems"]] == problems
    assert asked["settings"] == methods.choose("pcd", "best", "quick", num_steps=7)
    assert asked["recipe"] == "best" and asked["folder"] == tmp_path / "run"
    assert f"model: {tmp_path / 'run' / 'circles-2.safetensors'}" in done.output


def test_all_stands_for_the_seven():
    assert synthetic.names_of(["all"]) == list(DATA_SETS)
    assert synthetic.names_of(["moons", "all"]) == list(DATA_SETS)
    shown = CliRunner().invoke(app, ["synthetic", "train", "--help"], env={"COLUMNS": "120"}).output
    assert "all: all seven" in shown and "|checkerboard|all>" in shown


def test_eval_prints_each_score_with_its_error(tmp_path, monkeypatch):
    (tmp_path / "moons-0.safetensors").touch()
    about = {"method": "pcd", "recipe": "best", "data": "moons", "seed": 0}
    scores = {"nll_minus_floor": 0.25, "nll_se": 0.5, "mmd_exp": -0.125, "mmd_exp_se": 0.0625}
    monkeypatch.setattr(rated, "rated", lambda path: about | scores)
    done = CliRunner().invoke(app, ["synthetic", "eval", str(tmp_path)])
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert lines[0] == "pcd (best) on moons, seed 0:"
    assert lines[1:3] == ["nll_minus_floor 0.250000 ± 0.500000", "mmd_exp -0.125000 ± 0.062500"]


def test_log_z_is_told_for_each_model(tmp_path, monkeypatch):
    for name, value in {"a": 1.5, "b": None}.items():
        (tmp_path / f"{name}.safetensors").write_text(str(value))
    values = lambda path: None if path.stem == "b" else 1.5
    monkeypatch.setattr(rated, "write_log_z", values)
    done = CliRunner().invoke(app, ["synthetic", "log-z", str(tmp_path)])
    assert done.output.count("log Z = 1.500000") == done.output.count("no log Z") == 1


def test_a_checkpoint_is_no_model(tmp_path):
    model, part = tmp_path / "moons-0.safetensors", tmp_path / "run/checkpoints/4/p.safetensors"
    part.parent.mkdir(parents=True)
    for file in (model, part):
        file.touch()
    assert synthetic.models_in([tmp_path]) == synthetic.models_in([model]) == [model]


def test_a_folder_without_models_is_told(tmp_path):
    with pytest.raises(Exception, match="there are no models in"):
        synthetic.models_in([tmp_path])


def test_checkpoints_are_no_models(tmp_path):
    for name in ("moons-0.safetensors", "run/checkpoints/000000001/part-0.safetensors"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert synthetic.models_in([tmp_path]) == [tmp_path / "moons-0.safetensors"]
