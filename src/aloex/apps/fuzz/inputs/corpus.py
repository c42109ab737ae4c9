"""A corpus: all the files of a folder, end to end in one buffer of bytes.

It takes as much memory as the files have bytes, and no more: the buffer begins at a page, so that
JAX on a CPU can use it as it is, and parts of a corpus share it.
"""

import hashlib
import mmap
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Int, UInt8

from aloex.apps.fuzz.inputs.seeds import left_out_note
from aloex.base.errors import require

PIECE = 1 << 24  # bytes read at a time
MAX_BYTES = 2**31 - 1  # places in the buffer are counted in 32 bits


@dataclass(frozen=True)
class Corpus:
    """File i is data[begin[i] : begin[i] + length[i]]; no file is empty."""

    data: UInt8[np.ndarray, " bytes"]
    begin: Int[np.ndarray, " files"]
    length: Int[np.ndarray, " files"]
    names: tuple[str, ...]
    skipped: tuple[str, ...] = ()  # empty, or not to be read

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, i: int) -> bytes:
        return self.data[self.begin[i] : self.begin[i] + self.length[i]].tobytes()

    @property
    def num_bytes(self) -> int:
        return int(self.length.sum())

    @property
    def note(self) -> str:
        """What was left out, or nothing."""
        if not self.skipped:
            return ""
        return left_out_note("files", "empty, or not to be read", self.skipped)

    @cached_property
    def fingerprint(self) -> str:
        """Tells one corpus from another."""
        digest = hashlib.sha256(np.stack([self.begin, self.length]).astype(np.int64).tobytes())
        digest.update(self.data.data)
        return digest.hexdigest()[:16]

    def split(self, share: float, seed: int = 0) -> tuple["Corpus", "Corpus | None"]:
        """Files to learn from and files held out: at least one, unless there is just one in all."""
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


def read_corpus(place: str | os.PathLike) -> Corpus:
    """All files below a folder in order of their names, or one file."""
    root = Path(place)
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
    for path, size in zip(found, sizes, strict=True):
        name = path.name if path == root else str(path.relative_to(root))
        num_read = _read(path, data[end : end + size])
        if num_read == 0:
            skipped.append(name)
            continue
        names.append(name)
        begin.append(end)
        length.append(num_read)
        end += num_read
    column = lambda numbers: np.array(numbers, np.int64)
    places = column(begin), column(length)
    corpus = Corpus(data[:end], *places, tuple(names), tuple(skipped))
    require(len(corpus) > 0, f"there is nothing to learn from in {root}: {corpus.note}")
    return corpus


def _read(path: Path, room: UInt8[np.ndarray, " size"]) -> int:
    """Fill `room` from a file; how many bytes there were, 0 for a file that cannot be read."""
    try:
        with path.open("rb", buffering=0) as file:
            num_read, view = 0, memoryview(room.data)
            while num_read < len(view):
                more = file.readinto(view[num_read : num_read + PIECE])
                if not more:  # it has become shorter since it was listed
                    break
                num_read += more
            return num_read
    except OSError:
        return 0
