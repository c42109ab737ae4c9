"""Source tarballs from the Debian archive, without root and without touching the system's lists.

The archive is the one that this system uses: its lists of sources are copied, with source packages
instead of binary ones. apt checks signatures as it always does.
"""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.tools import ToolError, run_tool
from aloex.base.errors import InputError
from aloex.base.locks import folder_lock


def fetch(package: str, folder: Path, state: Path) -> Path:
    """Download the upstream tarball of a source package into `folder`, unless it is there.

    Args:
        package: the name of the source package.
        folder: where the tarball goes.
        state: a folder for the lists of apt-get, which are not those of the system.
    """
    if found := tarball(package, folder):
        return found
    advice = f"put the package's .orig tarball into {folder} by hand and try again"
    if shutil.which("apt-get") is None:
        raise InputError(f"the source of {package} comes with apt-get, which is missing; {advice}")
    folder.mkdir(parents=True, exist_ok=True)
    before = tarballs(folder)
    with folder_lock(state, wait=True):
        apt = ["apt-get", *private_options(state)]
        how: dict[str, Any] = {"cwd": folder, "env": {"LC_ALL": "C"}}
        # The update fails for a repository that has no sources: go on.
        updated = run_tool([*apt, "update", "-qq"], **how, check=False)
        source = ["source", "-qq", "--download-only", "--tar-only", package]
        done = run_tool([*apt, *source], **how, check=False)
    found = tarball(package, folder)
    if done.status == 0 and found is None and (other := tarballs(folder) - before):
        # A binary package was named: apt-get fetches the source package that it is made from.
        source = min(other).split("_")[0]
        for name in other:
            (folder / name).unlink()
        raise InputError(f'{package} is no source package; it is built from "{source}": write that')
    if done.status != 0 or found is None:
        lines = (updated.stderr + done.stderr).splitlines()
        errors = [line for line in lines if line.startswith("E:")]
        unreachable = [line for line in lines if "Failed to fetch" in line]  # says more
        why = (unreachable or errors or ["E: no message"])[0]
        raise ToolError(f"cannot fetch the source of {package}: {why[2:].strip()}; {advice}")
    return found


def tarball(package: str, folder: Path) -> Path | None:
    """The newest tarball of the package in a folder; None if there is none."""
    return next(iter(sorted(folder.glob(f"{package}_*.orig.tar.*[!c]"), reverse=True)), None)


def tarballs(folder: Path) -> set[str]:
    """The names of all upstream tarballs in a folder."""
    return {path.name for path in folder.glob("*.orig.tar.*[!c]")}


def unpack(archive: Path, into: Path) -> None:
    """Unpack a tarball without the one folder that it consists of; nothing lands outside `into`."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    try:
        run_tool(["tar", "-xf", archive, "-C", into, "--strip-components=1"])
    except ToolError as error:
        raise InputError(f"{archive} cannot be unpacked: {error}") from None


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
    settings = run_tool(["apt-config", "shell", *words], check=False).stdout
    found = dict(word.split("=", 1) for word in shlex.split(settings))
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
