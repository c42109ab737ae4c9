"""Work for several processes."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from typing import Any

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]  # such as `map`


@contextmanager
def processes(jobs: int, chunk: int = 4) -> Generator[Map]:
    """A `map` that is done by so many processes, with so many items at a time."""
    if jobs == 1:
        yield map
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield partial(pool.map, chunksize=chunk)
