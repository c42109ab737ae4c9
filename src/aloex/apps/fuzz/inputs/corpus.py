"""A corpus: all the files of a folder, end to end in one buffer of bytes.

It takes as much memory as the files have bytes: the buffer begins at a page, so that JAX on a CPU
can use it without a copy, and parts of a corpus share it.
"""

import hashlib
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.inputs.seeds import left_out_note
from aloex.base.errors import require

PIECE = 1 << 24  # bytes read at a time
MAX_BYTES = 2**31 - 1  # positions in the buffer are 32-bit integers


@dataclass(frozen=True)
class Corpus:
    """File i is data[begin[i] : begin[i] + length[i]]; no file is empty."""

    data: NDArray[np.uint8]
    begin: NDArray[np.integer]  # [files]
    length: NDArray[np.integer]  # [files]
    names: tuple[str, ...]
    skipped: tuple[str, ...] = ()  # files that are empty or cannot be read

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, i: int) -> bytes:
        return self.data[self.begin[i] : self.begin[i] + self.length[i]].tobytes()

    @property
    def num_bytes(self) -> int:
        return int(self.length.sum())

    @property
    def note(self) -> str:
        """A line on the files that were left out; empty if there are none."""
        if not self.skipped:
            return ""
        return left_out_note("files", "empty or unreadable", self.skipped)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the files, in their order."""
        digest = hashlib.sha256(np.stack([self.begin, self.length]).astype(np.int64).tobytes())
        digest.update(self.data.data)
        return digest.hexdigest()[:16]

    def split(self, share: float, seed: int = 0) -> tuple["Corpus", "Corpus | None"]:
        """Files to learn from, and files held out: at least one, unless there is only one file."""
        require(0 <= share < 1, f"the share of files held out must be in [0, 1), got {share}")
        num_held = min(max(1, round(share * len(self))), len(self) - 1) if share else 0
        if num_held == 0:
            return self, None
        order = np.random.default_rng(seed).permutation(len(self))
        return self._only(order[num_held:]), self._only(order[:num_held])

    def _only(self, chosen: np.ndarray) -> "Corpus":
        chosen = np.sort(chosen)
        names = tuple(self.names[i] for i in chosen)
        return replace(self, begin=self.begin[chosen], length=self.length[chosen], names=names)


def read_corpus(path: str | os.PathLike[str]) -> Corpus:
    """Read all files below a folder, in the order of their names, or one file."""
    root = Path(path)
    require(root.exists(), f"there is no corpus {root}; check the path")
    found = sorted(p for p in root.rglob("*") if p.is_file()) if root.is_dir() else [root]
    require(len(found) > 0, f"the corpus {root} has no files; put some inputs there to learn from")
    sizes = [path.stat().st_size for path in found]
    require(
        sum(sizes) <= MAX_BYTES,
        f"the corpus {root} has {sum(sizes) / 2**30:.1f} GiB, more than the 2 GiB that can be "
        "learned from at once; choose some of its files",
    )
    data = np.frombuffer(mmap.mmap(-1, max(sum(sizes), 1)), np.uint8)
    end, begin, length, names, skipped = 0, [], [], [], []
    for file, size in zip(found, sizes, strict=True):
        name = file.name if file == root else str(file.relative_to(root))
        num_read = _read(file, data[end : end + size])
        if num_read == 0:
            skipped.append(name)
            continue
        names.append(name)
        begin.append(end)
        length.append(num_read)
        end += num_read
    columns = np.array(begin, np.int64), np.array(length, np.int64)
    corpus = Corpus(data[:end], *columns, tuple(names), tuple(skipped))
    require(len(corpus) > 0, f"there is nothing to learn from in {root}: {corpus.note}")
    return corpus


def corpus_of(inputs: Sequence[bytes]) -> Corpus:
    """Inputs in memory as a corpus; empty ones are left out."""
    whole = [x for x in inputs if x]
    length = np.array([len(x) for x in whole], np.int64)
    data = np.frombuffer(b"".join(whole), np.uint8)
    return Corpus(data, np.cumsum(length) - length, length, tuple(map(str, range(len(whole)))))


def _read(path: Path, buffer: NDArray[np.uint8]) -> int:
    """Fill `buffer` from a file. Returns the number of bytes; 0 if the file cannot be read."""
    try:
        with path.open("rb", buffering=0) as file:
            num_read, view = 0, memoryview(buffer.data)
            while num_read < len(view):
                more = file.readinto(view[num_read : num_read + PIECE])
                if not more:  # it has become shorter since it was listed
                    break
                num_read += more
            return num_read
    except OSError:
        return 0
