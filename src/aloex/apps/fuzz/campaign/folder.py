"""The folder of a campaign: is it one, its inputs, and what to say if it cannot be written."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from aloex.apps.fuzz.inputs import hash_of
from aloex.base.errors import AloexError, CheckpointError, require
from aloex.base.files import UNFINISHED, explain_os_error
from aloex.base.locks import LOCK


def require_own_folder(out: Path) -> None:
    """A folder is new, or that of a campaign: what is in another could be written over."""
    if out.is_dir() and not (out / "journal.jsonl").exists():
        others = sorted({path.name for path in out.iterdir()} - {"corpus", LOCK})
        require(
            not others,
            f"{out} holds other files ({', '.join(others[:3])}) and no campaign; use "
            "another folder: --out",
        )


def read_input(path: Path) -> bytes:
    """Read an input from the corpus, and check it against its name, which is its hash."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"{path}, which the journal names, cannot be read: {error.strerror}; put it back, "
            "or start again in another folder"
        ) from None
    if hash_of(data) != path.name:
        raise CheckpointError(
            f"{path} is not as it was written; put it back, or start again in another folder"
        )
    return data


def write_input(path: Path, data: bytes) -> None:
    """Write an input so that it is always there in full.

    There are thousands of them, so this does less than `write_file`, which may replace anything.
    """
    writing = path.with_name(f".{path.name}{UNFINISHED}")
    writing.write_bytes(data)
    os.replace(writing, path)


@contextmanager
def writing_to(folder: Path) -> Generator[None]:
    """Turn an error of the file system into an `AloexError` that names the folder."""
    try:
        yield
    except OSError as error:
        known = isinstance(error, AloexError)
        reason = str(error) if known else f"cannot write to {explain_os_error(error, folder)}"
        if (folder / "journal.jsonl").exists():
            reason += "; the same command then resumes the campaign where it was last saved"
        raise AloexError(reason) from None
