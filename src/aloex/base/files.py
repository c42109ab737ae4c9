"""Files that are never half written, and what to say when one cannot be written or read."""

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from typing import NamedTuple

from aloex.base.errors import AloexError

SPACE = "free some space, or choose a path on another disk"
RIGHTS = "choose a path that you may write to, or change its permissions"
READING = "change its permissions, or ask its owner to let you read it"
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
    errno.ELOOP: "the link leads back to itself; choose another path",
}
UNFINISHED = ".writing"  # how the name of a file ends until it is whole
MAX_STEM = 40  # characters of its own name in it: with four bytes each, names are still valid


class State(NamedTuple):
    """What changes when a file is written to or replaced."""

    device: int
    inode: int
    size: int
    time: int  # of the last change, in nanoseconds

    @classmethod
    def of(cls, file: int | Path) -> "State":
        """The state of an open file or of one with a path."""
        about = os.stat(file)
        return cls(about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)


class FileError(AloexError, OSError):
    """A file or folder that cannot be written or read."""


def explain_os_error(
    error: OSError, path: str | os.PathLike[str] | None = None, *, reading: bool = False
) -> str:
    """One line: what went wrong, with which path, how to fix it."""
    where = path if path is not None else error.filename
    what = error.strerror or str(error)
    message = what if where is None else f"{os.fspath(where)}: {what}"
    advice = ADVICE.get(error.errno or 0, "check the path and the disk")
    return f"{message}; {READING if reading and advice == RIGHTS else advice}"


@contextmanager
def naming(path: str | os.PathLike[str], action: str = "write") -> Generator[None]:
    """Turn an OSError into a `FileError` that names the path: that of a full disk has none.

    A pipe whose reader has left is nobody's mistake: that error stays as it is.
    """
    try:
        yield
    except (AloexError, BrokenPipeError):
        raise
    except OSError as error:
        why = explain_os_error(error, path, reading=action == "read")
        raise FileError(f"cannot {action} {why}") from error


def make_folder(path: Path) -> None:
    """Make a folder and those above it; one that is there already is fine."""
    with naming(path, "make the folder"):
        path.mkdir(parents=True, exist_ok=True)


def write_file(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write a file so that it is always there in full: see `whole_file`."""
    data = content.encode() if isinstance(content, str) else content
    with whole_file(path, durable=durable) as file:
        file.write(data)


@contextmanager
def whole_file(
    path: Path, *, durable: bool = False, state: State | None = None
) -> Generator[BufferedWriter]:
    """A file to write block by block that is always there in full, the old one or the new one.

    It gets its name when the block has ended. After an error or an interrupt nothing is left of it.
    Links are followed, and a file that is replaced hands on its mode and, where that is allowed,
    its owner. Several may write the same file at once: the last one to end wins.

    Args:
        path: of the file.
        durable: it is on the disk in the end, whatever then happens to the machine.
        state: what the file was when it was read. If it is another one in the end, it is not
            replaced, and that is a `FileError`: what somebody else has written would be lost.
    """
    with naming(path):
        if path.exists() and not path.is_file():  # a pipe or a device is not to be replaced
            with path.open("wb") as file:  # what /dev/stdout leads to has no path of its own
                yield file
            return
        target = behind_links(path)
        name = f".{target.name[:MAX_STEM]}.{secrets.token_hex(4)}{UNFINISHED}"
        writing = target.with_name(name)
        try:
            with writing.open("xb") as file:
                _hand_on_rights(target, writing)
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            if state is not None:
                _check_state(target, state)
            os.replace(writing, target)
        except BaseException:  # of a full disk, half a file would take what is left
            with suppress(OSError):
                writing.unlink(missing_ok=True)
            raise


def _check_state(path: Path, state: State) -> None:
    """A `FileError` if a file is not what it was."""
    if not path.exists() or State.of(path) != state:
        raise FileError(
            f"{path.name} has changed since it was read: it is left as it is now, and nothing is "
            "written; run this again"
        )


def behind_links(path: str | os.PathLike[str]) -> Path:
    """The file that a link leads to, which need not be there; the path itself if it is no link."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return target


def _hand_on_rights(old: Path, new: Path) -> None:
    """Give a file the owner and the mode of the one that it will replace, if there is one.

    Before anything is written to it: what others may not read, they must not read meanwhile.
    """
    if not old.exists():
        return
    rights, own = old.stat(), new.stat()
    if (rights.st_uid, rights.st_gid) != (own.st_uid, own.st_gid):
        with suppress(OSError):  # only root may give files away
            os.chown(new, rights.st_uid, rights.st_gid)
    with suppress(OSError):  # some file systems have no modes
        new.chmod(stat.S_IMODE(rights.st_mode))
