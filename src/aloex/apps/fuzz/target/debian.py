"""Source tarballs from the Debian archive, without root and without touching the system's lists.

The archive is the one this system already uses: its own sources are read and asked for source
packages. apt checks signatures as it always does.
"""

import fcntl
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aloex.base.errors import InputError


def fetch(package: str, folder: Path, state: Path) -> Path:
    """The upstream tarball of a source package, in `folder`; apt's private files go to `state`."""
    if found := tarball(package, folder):
        return found
    advice = f"put the package's .orig tarball into {folder} by hand and try again"
    if shutil.which("apt-get") is None:
        raise InputError(f"the source of {package} comes with apt-get, which is missing; {advice}")
    folder.mkdir(parents=True, exist_ok=True)
    with alone(state):
        apt = ["apt-get", *private_options(state)]
        env = {**os.environ, "LC_ALL": "C"}
        run = lambda *words: subprocess.run(
            [*apt, *words], cwd=folder, env=env, capture_output=True, text=True
        )
        updated = run("update", "-qq")  # may fail for a repository that has no sources: go on
        done = run("source", "-qq", "--download-only", "--tar-only", package)
    found = tarball(package, folder)
    if done.returncode != 0 or found is None:
        lines = (updated.stderr + done.stderr).splitlines()
        errors = [line for line in lines if line.startswith("E:")]
        unreachable = [line for line in lines if "Failed to fetch" in line]  # says more
        why = (unreachable or errors or ["E: no message"])[0]
        raise InputError(f"cannot fetch the source of {package}: {why[2:].strip()}; {advice}")
    return found


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One process at a time in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tarball(package: str, folder: Path) -> Path | None:
    """The package's tarball, if it is there."""
    return next(iter(sorted(folder.glob(f"{package}_*.orig.tar.*[!c]"), reverse=True)), None)


def unpack(archive: Path, into: Path) -> None:
    """Unpack a tarball without the one folder that it consists of; nothing lands outside `into`."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    command = ["tar", "-xf", str(archive), "-C", str(into), "--strip-components=1"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise InputError(f"{archive} cannot be unpacked: {(done.stderr.splitlines() or ['?'])[0]}")


def private_options(state: Path) -> list[str]:
    """Options that make apt-get work in `state`, on the sources of the system's own archive."""
    parts = state.absolute() / "sources"
    for folder in (parts, state / "lists/partial", state / "archives/partial"):
        folder.mkdir(parents=True, exist_ok=True)
    for path in system_sources():
        (parts / path.name).write_text(ask_for_sources(path.read_text(), path.suffix))
    settings = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": parts,
        "Dir::State": state.absolute(),
        "Dir::Cache": state.absolute(),
        "APT::Sandbox::User": "root",  # as root: do not drop to a user who may not write here
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def system_sources() -> list[Path]:
    """The files that say which archives this system uses."""
    words = ["LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"]
    said = subprocess.run(["apt-config", "shell", *words], capture_output=True, text=True).stdout
    found = dict(word.split("=", 1) for word in shlex.split(said))
    paths = [Path(found.get("LIST", "/etc/apt/sources.list"))]
    parts = Path(found.get("PARTS", "/etc/apt/sources.list.d"))
    paths += sorted(p for ending in ("list", "sources") for p in parts.glob(f"*.{ending}"))
    return [path for path in paths if path.is_file()]


def ask_for_sources(text: str, suffix: str) -> str:
    """The same list of archives, for source packages."""
    if suffix == ".sources":
        return re.sub(r"(?mi)^Types:.*$", "Types: deb-src", text)
    lines = [re.sub(r"^\s*deb(-src)?\s", "deb-src ", line) for line in text.splitlines()]
    return "\n".join(dict.fromkeys(lines)) + "\n"
