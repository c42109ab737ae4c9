"""Corpora, and the contexts of their bytes."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.fuzz.inputs import read_corpus
from aloex.apps.fuzz.model.contexts import (
    MASKED,
    REACH,
    WINDOW,
    Examples,
    context,
    mask,
    position_features,
)
from aloex.base.errors import InputError
from stats import assert_draws_match, compiled


def write(folder, **files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return read_corpus(folder)


def test_a_corpus_is_its_files(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below/c").write_bytes(b"3")
    corpus = write(tmp_path, b=b"two", a=b"one!", empty=b"")
    assert corpus.names == ("a", "b", "below/c") and corpus.skipped == ("empty",)
    assert [corpus[i] for i in range(3)] == [b"one!", b"two", b"3"]
    assert corpus.num_bytes == 8 and corpus.note.endswith(": empty")
    assert corpus.fingerprint != write(tmp_path, b=b"twp").fingerprint
    assert corpus.fingerprint != write(tmp_path, b=b"tw", a=b"one!t").fingerprint


def test_bad_corpora(tmp_path):
    with pytest.raises(InputError, match="there is no corpus"):
        read_corpus(tmp_path / "none")
    with pytest.raises(InputError, match="has no files"):
        read_corpus(tmp_path)
    with pytest.raises(InputError, match=r"nothing to learn from in .* 5 files .* 0, 1, 2, \.\.\."):
        write(tmp_path, **{str(i): b"" for i in range(5)})
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**31)
    with pytest.raises(InputError, match=r"2\.0 GiB, more than"):
        read_corpus(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_cannot_be_read_is_left_out(tmp_path):
    write(tmp_path, a=b"one", b=b"two")
    (tmp_path / "a").chmod(0)
    assert read_corpus(tmp_path).skipped == ("a",)


def test_held_out_files_are_others(tmp_path):
    files = {f"f{i}": bytes([i]) * (i + 1) for i in range(10)}
    corpus = write(tmp_path, **files)
    learn_from, rest = corpus.split(0.3, seed=1)
    assert len(learn_from) == 7 and len(rest) == 3
    assert set(learn_from.names) | set(rest.names) == set(files)
    for part in (learn_from, rest):
        assert all(part[i] == files[name] for i, name in enumerate(part.names))
        assert part.data is corpus.data  # nothing is copied
    assert corpus.split(0.3, seed=1)[1].names == rest.names
    assert learn_from.fingerprint != rest.fingerprint
    one = read_corpus(tmp_path / "f3")
    assert one.split(0.3) == (one, None)
    with pytest.raises(InputError, match=r"must be in \[0, 1\), got 1"):
        corpus.split(1.0)


def test_every_byte_has_a_context(tmp_path):
    files = [bytes(range(70)), b"x", b"short"]
    corpus = write(tmp_path, **{str(i): x for i, x in enumerate(files)})
    for i, file in enumerate(files):
        offsets = np.arange(len(file))
        rows = [np.full(len(file), column[i]) for column in (corpus.begin, corpus.length)]
        found = context(corpus.data, *rows, offsets)
        padded = [MASKED] * REACH + list(file) + [MASKED] * REACH
        for offset in offsets:
            around = padded[offset : offset + 2 * REACH + 1]
            assert found[offset].tolist() == around[:REACH] + around[REACH + 1 :]
        with_jax = compiled(jax.vmap(lambda *row: context(jnp.asarray(corpus.data), *row)))
        np.testing.assert_array_equal(
            with_jax(*map(jnp.asarray, rows), jnp.asarray(offsets)), found
        )


def test_bytes_are_drawn_as_mutants_draw_them(tmp_path):
    """Null hypothesis: files are uniform, and so are offsets in each."""
    corpus = write(tmp_path, a=bytes(range(10)), b=b"\xff", c=b"\x80\x81\x82")
    found = np.asarray(compiled(lambda s, key: s(key, 20_000))(Examples(corpus), jax.random.key(0)))
    byte, offset, after = found[:, WINDOW:].T
    probs = np.zeros(256)
    probs[:10], probs[255], probs[128:131] = 1 / 30, 1 / 3, 1 / 9
    assert_draws_match(np.bincount(byte, minlength=256), probs)
    assert (byte - np.select([byte < 10, byte < 255], [0, 128], 255) == offset).all()
    assert set((offset + after).tolist()) == {0, 2, 9}
    later = found[:, REACH]  # the byte after it, the first of the second half
    assert (later[after == 0] == MASKED).all() and (later == byte + 1)[after > 0].all()


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="a GPU has memory of its own")
def test_a_corpus_is_in_memory_once(tmp_path):
    corpus = write(tmp_path, a=bytes(100_000), b=b"more")
    assert Examples(corpus).data.unsafe_buffer_pointer() == corpus.data.ctypes.data


def test_contexts_are_masked():
    """Null hypothesis: bytes are visible independently, each with the probability given."""
    x = jnp.arange(WINDOW)
    keys = jax.random.split(jax.random.key(0), 1000)
    draw = compiled(lambda fraction: jax.vmap(lambda key: mask(key, x, fraction))(keys))
    assert (draw(jnp.asarray(0.0)) == MASKED).all() and (draw(jnp.asarray(1.0)) == x).all()
    visible = np.sum(np.asarray(draw(jnp.asarray(0.3))) == np.arange(WINDOW))
    assert_draws_match([visible, 64_000 - visible], [0.3, 0.7])


def test_positions_near_and_far():
    offsets = np.array([0, 10, 11, 127, 128, 1000, 10_000_000, 10_000_001, 2**31 - 2], np.int32)
    at = compiled(jax.vmap(lambda i: position_features(i, jnp.asarray(2**31 - 2) - i)))
    y = np.asarray(at(offsets))
    assert np.isfinite(y).all() and np.abs(y).max() <= 1
    distance = np.abs(y[:, None] - y[None]).max(axis=2)
    assert (distance[~np.eye(len(y), dtype=bool)] > 0.5).all()
    swapped = np.asarray(at((2**31 - 2 - offsets).astype(np.int32)))
    half = (y.shape[1] - 4) // 2
    np.testing.assert_array_equal(swapped[:, :half], y[:, half : 2 * half])  # from the end alike
