"""Locks of folders, so that two processes never write into the same one.

The operating system frees the lock of a process that was killed, so none is ever left behind.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from aloex.base.errors import AloexError
from aloex.base.files import make_folder, naming

LOCK = ".lock"  # the file in the folder that is locked


class LockedError(AloexError):
    """Another process is at work in the folder."""


@contextmanager
def folder_lock(folder: Path, *, wait: bool = False) -> Generator[None]:
    """Have a folder to oneself; it is made if it is not there.

    Args:
        wait: whether to wait for a process that has the folder; else it is a `LockedError`.
    """
    make_folder(folder)
    lock = FileLock(folder / LOCK, timeout=-1 if wait else 0)
    with naming(folder / LOCK, "lock"):
        try:
            lock.acquire()
        except Timeout:
            raise LockedError(
                f"another process is at work in {folder}; wait until it has ended, or use "
                "another folder"
            ) from None
    try:
        yield
    finally:
        lock.release()
