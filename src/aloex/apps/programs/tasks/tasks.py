"""Tasks: ten examples of what one program writes, four of them public. Made, stored, loaded.

A file of tasks is text, packed with xz: a line for each task, with the program, the inputs and the
outputs between tabs. The studies have two such files, and nothing is to be trained on them: `test`
has 10,000 tasks, `validation` 2,000. `FROZEN` holds their seeds, so that no run takes them.
"""

import hashlib
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.programs.language import Program, detokenize, parse, show
from aloex.apps.programs.language.syntax import MAX_EXPRESSIONS
from aloex.apps.programs.language.tokens import MAX_EXPR_TOKENS
from aloex.base.errors import CheckpointError, InputError, require
from aloex.base.files import make_folder, write_file

NUM_EXAMPLES, NUM_PUBLIC = 10, 4  # of a task
MAX_INPUT, MAX_OUTPUT = 20, 50  # characters
MAX_TOKENS = MAX_EXPRESSIONS * (MAX_EXPR_TOKENS + 1)  # of a program
FROZEN = {  # seed, number of tasks, hash of the text
    "test": (1, 10_000, "959dc6fe285bc7a72ede509d6a54f5222f974bb9fc18162481b521ff975bb733"),
    "validation": (2, 2_000, "e3832b8c2dc76a924e9871ea57c608c3951116424d00fdc98cbf183b36e6993b"),
}


def require_free(seed: int) -> None:
    """Of a seed for new tasks: that it gives none of the frozen ones."""
    taken = {of_set for of_set, *_ in FROZEN.values()}
    require(seed not in taken, f"seed {seed} is that of a frozen set; take another")


@dataclass(frozen=True)
class Task:
    """A program, as text, and its examples."""

    text: str
    examples: tuple[tuple[str, str], ...]

    @property
    def program(self) -> Program:
        return parse(self.text)

    @property
    def public(self) -> tuple[tuple[str, str], ...]:
        return self.examples[:NUM_PUBLIC]

    @property
    def private(self) -> tuple[tuple[str, str], ...]:
        return self.examples[NUM_PUBLIC:]


class Arrays(NamedTuple):
    """Many tasks for a model to train on: characters and tokens, 0 where there are none."""

    inputs: np.ndarray  # uint8 [tasks, 10, 20]
    outputs: np.ndarray  # uint8 [tasks, 10, 50]
    tokens: np.ndarray  # int8 [tasks, 120]

    # An index chooses tasks; that of a tuple would choose an array.
    def __getitem__(self, index: Any) -> "Arrays":  # pyright: ignore[reportIncompatibleMethodOverride]
        return Arrays(self.inputs[index], self.outputs[index], self.tokens[index])

    def tasks(self) -> list[Task]:
        """The tasks one by one, for people."""
        return [
            Task(
                show(detokenize(tokens.tolist())),
                tuple(zip(map(_text, inputs), map(_text, outputs), strict=True)),
            )
            for inputs, outputs, tokens in zip(self.inputs, self.outputs, self.tokens, strict=True)
        ]


def generate(num_tasks: int, *, seed: int, first: int = 0) -> Arrays:
    """Tasks `first` to `first + num_tasks - 1` of the endless set that belongs to a seed."""
    from aloex.apps.programs.tasks.random_tasks import (
        fill_tasks,  # numba is not needed to fill a table
    )

    require(num_tasks >= 0, f"the number of tasks must not be negative, got {num_tasks}")
    require(0 <= seed < 1 << 63, f"a seed is a number from 0 to 2^63 - 1, got {seed}")
    require(first >= 0, f"tasks are numbered from 0, got {first}")
    made = Arrays(
        np.zeros((num_tasks, NUM_EXAMPLES, MAX_INPUT), np.uint8),
        np.zeros((num_tasks, NUM_EXAMPLES, MAX_OUTPUT), np.uint8),
        np.zeros((num_tasks, MAX_TOKENS), np.int8),
    )
    fill_tasks(seed, first, *made)
    return made


def _text(codes: np.ndarray) -> str:
    return bytes(codes).rstrip(b"\0").decode("ascii")


def save(path: Path, tasks: Iterable[Task]) -> None:
    """Write tasks to a file."""
    make_folder(path.parent)
    write_file(path, lzma.compress(pack(tasks), preset=9))


def pack(tasks: Iterable[Task]) -> bytes:
    lines = ["\t".join([task.text, *sum(zip(*task.examples, strict=True), ())]) for task in tasks]
    return "".join(line + "\n" for line in lines).encode()


def load(path: Path, sha256: str | None = None) -> list[Task]:
    """The tasks of a file; `sha256`, where given, must be that of its text."""
    try:
        packed = lzma.decompress(path.read_bytes())
        lines = [line.split("\t") for line in packed.decode().split("\n")[:-1]]
        tasks = [_task(text, rest) for text, *rest in lines]
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except (OSError, lzma.LZMAError, ValueError) as error:
        raise CheckpointError(f"{path} holds no tasks: {error}") from None
    if sha256 is not None and hashlib.sha256(packed).hexdigest() != sha256:
        raise CheckpointError(f"{path} is damaged or of another version; install Aloex again")
    return tasks


def _task(text: str, rest: list[str]) -> Task:
    middle = len(rest) // 2
    return Task(text, tuple(zip(rest[:middle], rest[middle:], strict=True)))
