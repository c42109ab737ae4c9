"""A folder of failing inputs. What a full disk does not take stays in memory until it does."""

import shutil
from contextlib import suppress
from pathlib import Path

from aloex.apps.fuzz.bugs.crash_file import CrashFile, read_crash_file
from aloex.apps.fuzz.inputs import hash_of
from aloex.base.files import write_file


class CrashFolder:
    """The inputs in a folder, by their hashes in `crashes`. No method raises an `OSError`."""

    def __init__(self, path: Path):
        self.path = path
        self.crashes: dict[str, CrashFile] = {}
        self._unwritten: dict[tuple[str, str], bytes] = {}  # by the hash and the end of the name
        self._unsaved: set[str] = set()  # what is known of these is not on the disk
        for file in sorted(path.glob("*.json")) if path.is_dir() else ():
            crash = read_crash_file(file)
            if crash is not None:
                self.crashes[crash.hash] = crash

    @property
    def num_unwritten(self) -> int:
        """How many inputs are in memory only."""
        return len({key for key, _ in self._unwritten})

    @property
    def in_order(self) -> list[CrashFile]:
        """The inputs in the order in which they came."""
        return sorted(self.crashes.values(), key=lambda crash: crash.number)

    def add(self, crash: CrashFile, data: bytes) -> None:
        """Take an input; `write` writes it."""
        self._unwritten[crash.hash, ""] = data
        self._unsaved.add(crash.hash)
        self.crashes[crash.hash] = crash

    def add_small(self, crash: CrashFile, data: bytes) -> None:
        """Take what was made of an input; `write` writes it."""
        crash.minimised, crash.has_small = len(data), hash_of(data) != crash.hash
        if crash.has_small:
            self._unwritten[crash.hash, ".min"] = data

    def write(self, crash: CrashFile) -> None:
        """Write the files of an input, or else keep them in memory."""
        self._unsaved.add(crash.hash)
        with suppress(OSError):
            self.path.mkdir(parents=True, exist_ok=True)
            for end in ("", ".min"):
                if (crash.hash, end) in self._unwritten:
                    write_file(self.path / f"{crash.input}{end}", self._unwritten[crash.hash, end])
            crash.write(self.path)  # last: without it, the input is not known
            self._forget(crash)

    def write_again(self) -> None:
        """Write what could not be written before."""
        for key in sorted(self._unsaved):
            self.write(self.crashes[key])

    def rename(self, crash: CrashFile, name: str) -> None:
        """Give the files of an input another name. At any moment one of the names has them all."""
        before = crash.input
        with suppress(OSError):
            for end in ("", ".min"):
                if (self.path / f"{before}{end}").exists():
                    shutil.copyfile(self.path / f"{before}{end}", self.path / f"{name}{end}")
            crash.input = name
            crash.write(self.path)
            self._unlink(before)

    def remove(self, crash: CrashFile) -> None:
        """Remove an input and its files."""
        del self.crashes[crash.hash]
        self._forget(crash)
        self._unlink(crash.input)

    def _unlink(self, name: str) -> None:
        for end in (".json", ".min", ""):
            with suppress(OSError):
                (self.path / f"{name}{end}").unlink(missing_ok=True)

    def read(self, crash: CrashFile, end: str = "") -> bytes | None:
        """An input, or what was made of it (".min"); None if its file is gone, or was changed."""
        if (crash.hash, end) in self._unwritten:
            return self._unwritten[crash.hash, end]
        with suppress(OSError):
            data = (self.path / f"{crash.input}{end}").read_bytes()
            return data if end or hash_of(data) == crash.hash else None
        return None

    def _forget(self, crash: CrashFile) -> None:
        for end in ("", ".min"):
            self._unwritten.pop((crash.hash, end), None)
        self._unsaved.discard(crash.hash)
