"""Data for `learn`: tables in memory and on disk, DataFrames, functions and iterators."""

import itertools

import equinox as eqx
import jax
import numpy as np
import pandas as pd
import pytest

import aloex
from aloex.base.errors import CheckpointError, InputError
from aloex.learning import Columns, learn
from aloex.learning.data import tables
from aloex.learning.data.sources import IteratorBatches
from aloex.learning.from_run import load_checkpoint
from aloex.spaces import Bits, Categorical, Mixed

X = np.random.default_rng(0).integers(0, 3, (50, 4))
Z = X[:, 0].astype(float)
QUICK = {
    "num_steps": 4,
    "f_hidden": (4,),
    "q_hidden": (4,),
    "num_trajectories": 2,
    "max_edits": 0,
    "batch_size": 8,
    "log_every": 2,
    "progress": False,
}
FRAME = pd.DataFrame(
    {
        "text": ["x", "y", None] * 10,
        "count": pd.array([1, 2, None] * 10, dtype="Int64"),
        "yes": pd.array([True, None, False] * 10, dtype="boolean"),
        "mixed": [1, "u", True] * 10,
        "same": [2.5] * 30,
    }
)


@pytest.fixture(scope="module")
def in_memory():
    return learn(X, **QUICK)


@pytest.fixture
def mapped(tmp_path):
    """X in a file of bytes, not read."""
    X.astype(np.uint8).tofile(tmp_path / "x.bin")
    return np.memmap(tmp_path / "x.bin", np.uint8, "r", shape=X.shape)


def test_a_mapped_table_gives_the_model_of_one_in_memory(mapped, in_memory, monkeypatch):
    """It is looked at in chunks and read row by row, never as a whole."""
    sizes = []
    look = lambda table: (sizes.append(len(rows)) or rows for rows in tables.pieces(table))
    monkeypatch.setattr(tables, "MAX_BYTES", 16 * X.shape[1])
    monkeypatch.setattr("aloex.learning.data.sources.pieces", look)
    assert eqx.tree_equal(learn(mapped, **QUICK), in_memory)
    assert max(sizes) == 16


def test_a_mapped_table_with_conditions(mapped):
    assert eqx.tree_equal(learn(mapped, Z, **QUICK), learn(X, Z, **QUICK))
    with pytest.raises(InputError, match=r"as many rows, got shapes \(50, 4\) and \(3, 1\)"):
        learn(mapped, Z[:3], **QUICK)


def test_a_mapped_table_is_checked_and_remembered(mapped, tmp_path):
    with pytest.raises(InputError, match=r"0\.\.1 \(bits\), got 2"):
        learn(mapped, num_values=2, **QUICK)
    learn(mapped, folder=tmp_path / "run", **QUICK)
    other = np.memmap(tmp_path / "y.bin", np.uint8, "w+", shape=X.shape)
    with pytest.raises(CheckpointError, match="data="):
        learn(other, num_values=3, folder=tmp_path / "run", resume=True, **QUICK)


def test_a_function_is_a_stream():
    draw = lambda key, n: jax.random.randint(key, (n, 5), 0, 3)
    assert learn(draw, num_values=3, **QUICK).space == Categorical(5, 3)
    both = lambda key, n: (jax.random.randint(key, (n, 5), 0, 2), jax.random.normal(key, (n, 2)))
    assert learn(both, num_values=2, **QUICK).config.cond_dim == 2


def batches(sizes=(5, 1, 20)):
    """Pieces of X, for ever."""
    rows = itertools.cycle(X)
    for size in itertools.cycle(sizes):
        yield np.stack(list(itertools.islice(rows, size)))


def test_an_iterator_is_a_stream():
    assert learn(batches(), num_values=3, **QUICK).space == Categorical(4, 3)
    pairs = ((x, x[:, 0].astype(float)) for x in batches())
    assert learn(pairs, num_values=3, **QUICK).config.cond_dim == 1


def test_batches_of_any_size_are_cut_to_those_of_a_step():
    stream = IteratorBatches(batches())
    taken = [stream._take(8)[0] for _ in range(5)]
    np.testing.assert_array_equal(np.concatenate(taken), X[:40])


@pytest.mark.parametrize(
    ("x", "settings", "message"),
    [
        (lambda: iter([X[:20]]), {"num_values": 3}, "iterator of batches ended before the last"),
        (lambda: iter([X + 1] * 9), {"num_values": 3}, r"0\.\.2 \(num_values=3\), got 3"),
        (lambda: iter([X * 0.5]), {"num_values": 3}, "x must hold integers"),
        (lambda: iter([X[0]]), {"num_values": 3}, r"x must be a table .*shape \(4,\)"),
        (lambda: iter([X]), {}, "a stream does not tell .* give num_values"),
        (lambda: lambda key, n: X[:n], {}, "a stream does not tell .* give num_values"),
        (lambda: lambda key, n: X[0, :n], {"num_values": 3}, "must give x as an array of shape"),
        (lambda: lambda key, n: X[:5], {"num_values": 3}, r"asked for 2 rows .*\(2, \.\.\.\), got"),
        (lambda: lambda key, n: X[:n] * 0.5, {"num_values": 3}, "x as integers, got float"),
        (lambda: lambda key, n: (X[:n], Z[:n]), {"num_values": 3}, "must give z as an array"),
        (lambda: iter([X[:5], X[:5, :3]]), {"num_values": 3}, "had 4 and 0; got 3 and 0"),
        (lambda: iter([(X[:5], Z[:5]), X]), {"num_values": 3}, "had 4 and 1; got 4 and 0"),
        (lambda: iter([(X[:5], Z[:4])]), {"num_values": 3}, r"as many rows, got .*\(4, 1\)"),
        (lambda: iter([X]), {"z": Z}, "a stream gives z with its batches"),
    ],
    ids=[
        *("ends", "values", "floats", "1-D", "iterator", "function", "function-1-D"),
        *("function-rows", "function-floats", "function-z", "columns", "z-missing", "z-rows", "z"),
    ],
)
def test_wrong_streams(x, settings, message, capfd):
    with pytest.raises(InputError, match=message):
        learn(x(), **QUICK, **settings)
    assert "Traceback" not in capfd.readouterr().err


# DataFrames


def test_each_column_has_its_own_number_of_values(tmp_path):
    model = learn(FRAME, folder=tmp_path / "run", **QUICK)
    assert model.space == Mixed((3, 3, 3, 3, 1))
    x = model.sample(100)
    assert (x < [3, 3, 3, 3, 1]).all() and (x >= 0).all()
    assert model.energy(FRAME).shape == (30,)
    model.save(tmp_path / "model")
    assert aloex.load(tmp_path / "model").columns == model.columns
    assert load_checkpoint(tmp_path / "run")[0].columns == model.columns


def test_columns_go_to_integers_and_back():
    columns = Columns.of(FRAME)
    assert columns.values == (
        ("x", "y", None),
        (1, 2, None),
        (False, True, None),
        (True, 1, "u"),
        (2.5,),
    )
    back = columns.decode(columns.encode(FRAME))
    pd.testing.assert_frame_equal(back, FRAME, check_dtype=False)
    assert back.dtypes.astype(str).tolist() == ["string", "Int64", "boolean", "object", "Float64"]
    assert Columns.of(FRAME[["yes"]]).num_values == (3,)


def test_columns_may_come_in_another_order():
    columns = Columns.of(FRAME)
    np.testing.assert_array_equal(columns.encode(FRAME.iloc[:, ::-1]), columns.encode(FRAME))


def test_a_frame_of_bits_is_bits():
    assert learn(pd.DataFrame({"a": [0, 1] * 9, "b": [1, 0] * 9}), **QUICK).space == Bits(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.encode(FRAME[["text"]]), r"x has no column \['count'"),
        (lambda c: c.encode(FRAME.assign(text="w")), "'text' has the value 'w', which is new"),
        (lambda c: c.decode([[0, 1]]), r"shape \(n, 5\), got \(1, 2\)"),
        (lambda c: Columns.of(FRAME[:0]), "x is empty"),
        (lambda c: Columns.of(pd.DataFrame({"n": range(2000)})), "'n' has 2000 different values"),
        (
            lambda c: Columns.of(pd.DataFrame({"t": [pd.Timestamp(0)]})),
            r"'t' has a value of type Timestamp.*astype\(str\)",
        ),
    ],
    ids=["column", "value", "shape", "empty", "many", "type"],
)
def test_wrong_frames(call, message):
    with pytest.raises(InputError, match=message):
        call(Columns.of(FRAME))
