"""The friendly layer: learn, sample, energy, save and load, and what it says to wrong input."""

import dataclasses
import inspect
import json
import shutil

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest
import safetensors.numpy

import aloex
from aloex.base.errors import CheckpointError, InputError
from aloex.base.weights import write_weights
from aloex.kernels import Gibbs
from aloex.learning import (
    ALOE,
    Config,
    Model,
    build_learner,
    build_networks,
    fit,
    learn,
    load,
    power_iteration,
)
from aloex.proposals import EditDistance
from aloex.spaces import Categorical

X = np.random.default_rng(0).integers(0, 2, (60, 4))
X[:, 1] = X[:, 0]  # something to learn
TINY = {
    "learning_rate_f": 0.01,
    "f_hidden": (8,),
    "q_hidden": (8,),
    "batch_size": 32,
    "num_trajectories": 2,
    "max_edits": 2,
}
SMALL = Config(dim=4, f_hidden=(8,), q_hidden=(8,), q0_hidden=(8,), q0_head=8, max_edits=2)
CONFIGS = {
    "bits": SMALL,
    "no edits": dataclasses.replace(SMALL, max_edits=0),
    "mlp": dataclasses.replace(SMALL, q0="mlp", q0_hidden=(8, 6)),
    "rnn with condition": dataclasses.replace(SMALL, q0="rnn", cond_dim=2),
    "categories": dataclasses.replace(SMALL, num_values=3, cond_dim=1),
    "mixed": dataclasses.replace(SMALL, num_values=(2, 3, 1, 2)),
}


def untrained(config: Config = SMALL) -> Model:
    return Model(config, *build_networks(config, jax.random.key(1)))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A model learned from X in 200 steps, and its folder."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    return learn(X, num_steps=200, folder=folder, progress=False, **TINY), folder


def test_learn_resumes_bit_for_bit(run, tmp_path):
    settings = {"folder": tmp_path / "run", "progress": False, **TINY}
    learn(X, num_steps=70, **settings)
    resumed = learn(X, num_steps=200, resume=True, **settings)
    assert eqx.tree_equal(resumed, run[0])
    assert eqx.tree_equal(load(tmp_path / "run" / "model.safetensors"), run[0])


def test_learn_writes_its_config(run):
    config = json.loads((run[1] / "config.json").read_text())
    assert config["f_hidden"] == [8] and config["dim"] == 4 and config["num_steps"] == 200
    with pytest.raises(CheckpointError, match=r"f_hidden=\[8\], but now f_hidden=\[9\]"):
        learn(X, num_steps=300, folder=run[1], resume=True, **{**TINY, "f_hidden": (9,)})
    with pytest.raises(CheckpointError, match="exists already"):
        learn(X, num_steps=300, folder=run[1], **TINY)


def test_learning_raises_the_energy_of_data(run):
    rare = X.copy()
    rare[:, 1] = 1 - rare[:, 0]
    gap = run[0].energy(X).mean() - run[0].energy(rare).mean()
    assert gap > 0.1, gap


@pytest.mark.parametrize("name", CONFIGS)
def test_save_and_load(name, tmp_path):
    model = untrained(CONFIGS[name])
    model.save(tmp_path / "new folder" / "model.safetensors")
    loaded = aloex.load(tmp_path / "new folder" / "model.safetensors")
    assert eqx.tree_equal(loaded, model)
    assert [p.name for p in (tmp_path / "new folder").iterdir()] == ["model.safetensors"]


def test_sample_and_energy_of_a_conditional_model():
    model = untrained(CONFIGS["categories"])
    z = np.linspace(-1, 1, 5)
    x = model.sample(5, z=z, seed=3)
    assert x.shape == (5, 4) and np.issubdtype(x.dtype, np.integer) and {*x.flat} <= {0, 1, 2}
    expected = jax.vmap(model.f)(jnp.asarray(x), jnp.asarray(z[:, None], jnp.float32))
    np.testing.assert_allclose(model.energy(x, z), expected, rtol=1e-5)
    np.testing.assert_array_equal(model.sample(5, z=0.5), model.sample(5, z=np.full((5, 1), 0.5)))
    assert not np.array_equal(model.sample(50, z=0.5), model.sample(50, z=0.5, seed=1))
    rnn = untrained(CONFIGS["rnn with condition"])
    np.testing.assert_array_equal(rnn.sample(3, z=[1, 2]), rnn.sample(3, z=[[1, 2]] * 3))


def test_sample_is_q_and_then_sweeps_of_the_kernel():
    """A q that draws only zeros, an f that wants only ones."""
    model = untrained(CONFIGS["no edits"])
    model = eqx.tree_at(lambda m: m.q.q0.bias, model, np.full((4, 1), -50.0, np.float32))
    model = eqx.tree_at(lambda m: m.f, model, lambda x, z=None: 50.0 * x.sum())
    assert not model.sample(20, num_sweeps=0).any()
    assert model.sample(20).all()


def test_more_draws_begin_with_the_same():
    model = untrained(CONFIGS["no edits"])
    few, many = model.sample(3), model.sample(2000)  # more than one batch
    np.testing.assert_array_equal(few, many[:3])
    assert len({tuple(x) for x in many}) > 2


def test_settings_tell_the_space():
    with pytest.raises(InputError, match=r"0\.\.1 \(bits\), got 2 at row 0, site 1"):
        learn([[0, 2], [1, 1]], num_values=2)
    with pytest.raises(InputError, match=r"num_values=3.*got 5"):
        learn([[0, 5]], num_values=3)
    with pytest.raises(InputError, match="got -1"):
        learn([[0, -1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": X[:0]}, "x is empty"),
        ({"x": X[0]}, r"got shape \(4,\)"),
        ({"x": X * 0.5}, "integers, got float64"),
        ({"x": [["a", "b"]]}, "integers, got <U1"),
        ({"x": [[0, 1], [1]]}, "a table .examples, sites., but its rows differ"),
        ({"x": "x.npy"}, "got 'x.npy'; read a file first"),
        ({"x": X[:, :0]}, r"x has no sites: its shape is \(60, 0\)"),
        ({"z": X[:5]}, "as many rows"),
        ({"z": [["a"]] * 60}, "z must hold numbers"),
        ({"z": np.full(60, np.nan)}, "z must be finite"),
        ({"z": np.zeros((60, 1, 1))}, r"z must be a table.*\(60, 1, 1\)"),
        ({"num_trajectories": 0}, "num_trajectories must be at least 1, got 0"),
        ({"max_edits": -1}, "max_edits must not be negative, got -1"),
        ({"num_steps": -1}, "num_steps must not be negative, got -1"),
        ({"q0": "transformer"}, "q0 must be one of .*got 'transformer'"),
        ({"q0": "rnn", "q0_hidden": (8, 8)}, "single size"),
        ({"f_hidden": ()}, "f_hidden must be one or more positive sizes, got"),
        ({"learning_rate_f": 0.0}, "learning_rate_f must be positive, got 0.0"),
        ({"walk_stop_prob": 1.0}, "walk_stop_prob must be in"),
        ({"x": [[0, 10**9]]}, r"x has the value 1000000000, but a site can have 65536 values; num"),
        ({"f_hidden": 16}, r"f_hidden must be one or more positive sizes, such as \(16,\), got 16"),
        ({"f_hidden": (8.5,)}, "each size in f_hidden must be a whole number, got 8.5"),
        ({"f_hidden": (0,)}, "each size in f_hidden must be at least 1, got 0"),
        ({"q_hidden": "256"}, "q_hidden must be one or more positive sizes"),
        ({"batch_size": -4}, "batch_size must be at least 1, got -4"),
        ({"batch_size": True}, "batch_size must be a whole number, got True"),
        ({"batch_size": 32.0}, "batch_size must be a whole number, got 32.0"),
        ({"num_f_steps": 0}, "num_f_steps must be at least 1, got 0"),
        ({"num_sweeps": 0}, "num_sweeps must be at least 1, got 0"),
        ({"persistence": 0}, "persistence must be at least 1, got 0"),
        ({"decay_steps": 0}, "decay_steps must be at least 1, got 0"),
        ({"resample": 1}, "resample must be True or False, got 1"),
        ({"learning_rate_q": "fast"}, "learning_rate_q must be a finite number, got 'fast'"),
        ({"learning_rate_q": np.nan}, "learning_rate_q must be a finite number, got nan"),
        ({"num_values": 1}, "num_values must be at least 2, got 1"),
        ({"num_values": 10**9}, "num_values must be at most 65536, got 1000000000"),
        ({"num_values": (2, 3)}, r"num_values must have dim=4 numbers or be one, got \(2, 3\)"),
        ({"proposal": "guess"}, r"proposal must be one of .*'edit_distance'.*, got 'guess'"),
        ({"proposal": "edit_distance"}, "needs max_edits >= dim=4, got 2"),
        ({"seed": 2**32}, r"seed must be a whole number in 0..2\^32 - 1, got 4294967296"),
        ({"seed": -1}, "seed must be a whole number .*, got -1"),
        ({"seed": 0.5}, "seed must be a whole number .*, got 0.5"),
    ],
)
def test_wrong_input_to_learn(change, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    arguments = {"x": X, "num_steps": 5, "progress": False, **TINY, **change}
    with pytest.raises(InputError, match=message) as caught:
        learn(**arguments)
    assert "\n" not in str(caught.value)


def test_learn_has_the_options_of_config_with_the_same_defaults():
    options = inspect.signature(learn).parameters
    told_by_the_data = {"dim", "cond_dim"}
    for field in dataclasses.fields(Config):
        if field.name not in told_by_the_data:
            told = field.name in ("num_values", "max_edits")
            assert options[field.name].default == (None if told else field.default), field.name
    assert not [p for p in options.values() if p.kind is p.VAR_KEYWORD]


def test_numbers_of_numpy_are_numbers(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    config = Config(dim=np.int64(4), f_hidden=[np.int32(8)], learning_rate_f=np.float32(0.5))
    assert config == Config(dim=4, f_hidden=(8,), learning_rate_f=0.5)
    assert json.loads(json.dumps(dataclasses.asdict(config)))["dim"] == 4
    assert Config(dim=3, num_values=np.array([4, 4, 4])).space == Config(dim=3, num_values=4).space


def test_equal_configs_share_their_learner():
    """Else each would have optimizers of its own, and be compiled anew."""
    assert build_learner(SMALL) is build_learner(dataclasses.replace(SMALL))


@pytest.mark.parametrize("name, bad", [("walk_stop_prob", 1.0), ("max_stop_prob", 1.1)])
def test_a_config_is_refused_before_anything_is_built_of_it(name, bad):
    with pytest.raises(InputError, match=f"{name} must be in"):
        Config(dim=4, **{name: bad})


def test_a_config_chooses_the_proposal():
    config = dataclasses.replace(SMALL, proposal="edit_distance", max_edits=4)
    proposal = build_learner(config).proposal
    assert isinstance(proposal, EditDistance) and proposal.max_edits == 4
    _, q = build_networks(config, jax.random.key(0))
    assert eqx.tree_equal(proposal.following(q).q0, q.q0)


@pytest.mark.skipif(not hasattr(power_iteration, "follow"), reason="training does not follow yet")
def test_learning_with_shortest_paths(tmp_path):
    model = learn(
        X, num_steps=3, proposal="edit_distance", progress=False, **{**TINY, "max_edits": None}
    )
    assert model.config.max_edits == 4 and np.isfinite(model.energy(X)).all()


def test_kernel_and_proposal_must_agree_on_the_space():
    proposal = build_learner(SMALL).proposal
    with pytest.raises(InputError, match=r"of one space, got .*'Bits\(dim=4\)', 'Categorical"):
        ALOE(Gibbs(Categorical(4, 3)), proposal)


def test_weights_that_are_nan_are_told():
    model = eqx.tree_at(lambda m: m.f.first.bias, untrained(), np.full(8, np.nan, np.float32))
    with pytest.raises(InputError, match="energy is NaN at a draw, so its weights are broken"):
        model.sample(3)


def test_user_errors_inside_a_compiled_step_stay_one_sentence():
    """The learner finds out only while it is compiled that the networks take no condition."""
    learner = build_learner(SMALL)
    state = learner.init(*build_networks(SMALL, jax.random.key(0)))
    with pytest.raises(InputError, match="cond_dim=0, but got a condition") as caught:
        fit(learner, state, X, np.zeros((60, 3), np.float32), num_steps=2, progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.sample(0), "n must be at least 1, got 0"),
        (lambda m: m.sample(3, seed=2**32), "seed must be a whole number .*, got 4294967296"),
        (lambda m: m.sample(2.5), "n must be a whole number, got 2.5"),
        (lambda m: m.decode([[0, 1, 0, 1]]), "learned from integers, not from a DataFrame"),
        (lambda m: m.sample(1, num_sweeps=-1), "num_sweeps must not be negative, got -1"),
        (lambda m: m.sample(2, z=[1.0]), "without a condition"),
        (lambda m: m.energy([[0, 1, 2, 1]]), "got 2 at row 0"),
        (lambda m: m.energy([[0, 1]]), "x has 2 sites, but the space has 4"),
        (lambda m: untrained(CONFIGS["categories"]).sample(2), "z must have 1 columns"),
        (lambda m: untrained(CONFIGS["categories"]).sample(2, z=[1, 2, 3]), r"got \(3, 1\)"),
    ],
)
def test_wrong_input_to_a_model(call, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=message):
        call(untrained())


def test_files_that_are_no_model(tmp_path):
    whole, path = tmp_path / "whole", tmp_path / "bad"
    untrained().save(whole)
    with pytest.raises(CheckpointError, match=r"there is no model file .*nowhere"):
        load(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match=r"cannot read .*Is a directory"):
        load(tmp_path)
    for size in (0, 5, 100, whole.stat().st_size - 1):
        path.write_bytes(whole.read_bytes()[:size])
        with pytest.raises(CheckpointError, match="bad is not a safetensors file, or was cut"):
            load(path)
    arrays = {"weight": np.zeros(3, np.float32)}
    path.write_bytes(safetensors.numpy.save(arrays))
    with pytest.raises(CheckpointError, match="has no Aloex config"):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dim": 5}, r"f\.first\.weight is float32\[8, 4\] in it, .* calls for float32\[8, 5\]"),
        ({"max_edits": 0}, r"q\.editor\.\S+ is float32\S+ in it, .* calls for none"),
        ({"q0": "mlp"}, "is absent in it"),
        ({"q0": "gpt"}, "version of Aloex can read: q0 must be one of"),
        ({"dim": "four"}, "version of Aloex can read"),
        ({"depth": 3}, "version of Aloex can read: .*depth"),
    ],
)
def test_models_that_contradict_their_config(change, message, tmp_path, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    untrained().save(tmp_path / "model")
    arrays = safetensors.numpy.load_file(tmp_path / "model")
    config = {**dataclasses.asdict(SMALL), **change}
    write_weights(tmp_path / "model", arrays, config)
    with pytest.raises(CheckpointError, match=message):
        load(tmp_path / "model")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    untrained().save(path)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        Model(SMALL, *build_networks(SMALL, jax.random.key(2))).save(path)
    monkeypatch.undo()
    assert eqx.tree_equal(load(path), untrained())
    shutil.rmtree(tmp_path)
