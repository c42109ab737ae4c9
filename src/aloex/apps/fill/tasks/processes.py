"""Work for several processes."""

from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context


@contextmanager
def processes(jobs: int, chunk: int = 4):
    """A `map` that is done by so many processes, with so many items at a time."""
    if jobs == 1:
        yield map
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield partial(pool.map, chunksize=chunk)
