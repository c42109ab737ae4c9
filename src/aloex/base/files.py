"""Files that are never half written, and what to say when one cannot be written or read."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from aloex.base.errors import AloexError

SPACE = "free some space, or choose a path on another disk"
RIGHTS = "choose a path that you may write to, or change its permissions"
IN_THE_WAY = "there is a file where a folder should be, or the reverse; choose another path"
ADVICE = {
    errno.ENOSPC: SPACE,
    errno.EDQUOT: SPACE,
    errno.EFBIG: SPACE,
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: RIGHTS,
    errno.ENOENT: "check the path",
    errno.ENOTDIR: IN_THE_WAY,
    errno.EISDIR: IN_THE_WAY,
    errno.EEXIST: IN_THE_WAY,
    errno.ENAMETOOLONG: "choose a shorter path",
}


class FileError(AloexError, OSError):
    """A file or folder that cannot be written or read."""


def explain_os_error(error: OSError, path: str | os.PathLike[str] | None = None) -> str:
    """One line: what went wrong, with which path, how to fix it."""
    where = path if path is not None else error.filename
    what = error.strerror or str(error)
    message = what if where is None else f"{os.fspath(where)}: {what}"
    return f"{message}; {ADVICE.get(error.errno or 0, 'check the path and the disk')}"


@contextmanager
def naming(path: str | os.PathLike[str], action: str = "write") -> Generator[None]:
    """Turn an OSError into a `FileError` that names the path: that of a full disk has none."""
    try:
        yield
    except AloexError:
        raise
    except OSError as error:
        raise FileError(f"cannot {action} {explain_os_error(error, path)}") from error


def make_folder(path: Path) -> None:
    """Make a folder and those above it; one that is there already is fine."""
    with naming(path, "make the folder"):
        path.mkdir(parents=True, exist_ok=True)


def write_file(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write a file so that it is always there in full, the old one or the new one.

    With `durable` it is on the disk when this returns, whatever then happens to the machine.
    """
    data = content.encode() if isinstance(content, str) else content
    with naming(path):
        if path.exists() and not path.is_file():  # a pipe or a device is not to be replaced
            path.write_bytes(data)
            return
        writing = path.with_name(f".{path.name}.writing")
        try:
            with writing.open("wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(writing, path)
        except OSError:  # of a full disk, half a file would take what is left
            with suppress(OSError):
                writing.unlink(missing_ok=True)
            raise
