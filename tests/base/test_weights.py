"""Files of weights: no bit of them can change unseen."""

import hashlib
import os

import numpy as np
import pytest
import safetensors.numpy

from aloex.base.errors import AloexError, CheckpointError
from aloex.base.weights import read_weights, write_weights

ARRAYS = {
    "a.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "empty": np.zeros((0, 2), np.int8),
    "scalar": np.array(3, np.int32),
}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "new" / "model.safetensors"
    write_weights(path, ARRAYS, {"size": [1, 2], "name": "x"})
    arrays, settings = read_weights(path)
    assert settings == {"size": [1, 2], "name": "x"} and arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and arrays[name].shape == array.shape
        assert np.array_equal(arrays[name], array)
    first = path.read_bytes()
    write_weights(path, ARRAYS, settings)
    assert path.read_bytes() == first  # the same weights make the same file


def test_no_setting_takes_the_name_of_the_hash(tmp_path):
    with pytest.raises(ValueError, match="sha256 is the name of the hash"):
        write_weights(tmp_path / "model.safetensors", ARRAYS, {"sha256": "mine"})


def test_every_flipped_bit_is_seen(tmp_path):
    path = tmp_path / "model.safetensors"
    write_weights(path, ARRAYS, {"name": "x"})
    whole = path.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        with pytest.raises(AloexError):
            read_weights(path)
    for size in (0, 7, 50, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"model\.safetensors"):
            read_weights(path)


def test_strided_arrays_keep_their_values(tmp_path):
    path = tmp_path / "model.safetensors"
    write_weights(path, {"a": ARRAYS["a.weight"].T}, {})
    assert np.array_equal(read_weights(path)[0]["a"], ARRAYS["a.weight"].T)


def test_a_file_without_a_hash_needs_one_beside_it(tmp_path):
    path = tmp_path / "old.safetensors"
    path.write_bytes(safetensors.numpy.save(ARRAYS, metadata={"aloex": '{"name": "x"}'}))
    with pytest.raises(CheckpointError, match=r"no hash.*sha256sum .*old.safetensors >"):
        read_weights(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "old.safetensors.sha256").write_text(f"{digest}  old.safetensors\n")
    assert read_weights(path)[1] == {"name": "x"}
    (tmp_path / "old.safetensors.sha256").write_text(f"{'1' * 64}  old.safetensors\n")
    with pytest.raises(CheckpointError, match="damaged"):
        read_weights(path)


def test_absent_and_foreign_files(tmp_path):
    with pytest.raises(CheckpointError, match="there is no model file"):
        read_weights(tmp_path / "absent")
    with pytest.raises(AloexError, match=r"cannot read .*choose another path"):
        read_weights(tmp_path)
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(safetensors.numpy.save(ARRAYS))
    with pytest.raises(CheckpointError, match="no Aloex config"):
        read_weights(path)


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    write_weights(path, ARRAYS, {"name": "old"})

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(AloexError, match=r"cannot write .*model.safetensors: No space.*free some"):
        write_weights(path, ARRAYS, {"name": "new"})
    assert read_weights(path)[1] == {"name": "old"}
