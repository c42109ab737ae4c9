"""Old libraries with public faults, fetched when they are built; nothing of them is kept here.

old/NAME/source.json   which source package of PyPI has it, its hash, and what is known to be wrong
old/NAME/target.toml   the recipe; the package is unpacked beside it into `source`
"""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.target.debian import unpack
from aloex.apps.fuzz.tools import ToolError, cache_folder, run_tool
from aloex.base.errors import InputError, require
from aloex.base.files import write_file
from studies.fuzz import planted

HOME = Path(__file__).parent / "old"
NAMES = ("cares",)
BUILT = Path("build/old")
TIMEOUT = 120.0  # seconds for the package


class Source(NamedTuple):
    """A source package."""

    about: str
    package: str
    version: str
    sha256: str  # of PACKAGE-VERSION.tar.gz
    known: dict[str, str]  # public name by where it fails, as `judge` names it

    @classmethod
    def of(cls, name: str) -> "Source":
        """What source.json says."""
        return cls(**json.loads((HOME / name / "source.json").read_text()))


def build(name: str, tell: Callable[[str], None] = lambda line: None) -> Target:
    """Fetch an old library and build it for all fuzzers."""
    source, folder = Source.of(name), BUILT / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HOME / name, folder)
    tell(f"the source: {source.about}")
    unpack(fetch(source), folder / "source")
    return planted.build(folder, tell=tell)


def known(name: str) -> dict[str, str]:
    """Public names by where it fails; none for a target that is no old library."""
    return Source.of(name).known if name in NAMES else {}


def fetch(source: Source) -> Path:
    """The source package, from the cache if it is there."""
    path = cache_folder() / f"{source.package}-{source.version}.tar.gz"
    if not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            try:
                data = (download(source, Path(folder)) / path.name).read_bytes()
            except ToolError as error:
                raise InputError(f"cannot fetch {path.name}: {error}; put it at {path}") from None
        write_file(path, data)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    require(found == source.sha256, f"{path} has the hash {found}, not {source.sha256}; remove it")
    return path


def download(source: Source, folder: Path) -> Path:
    """Download the source package to a folder, from where the user's pip gets packages."""
    wanted = folder / "wanted.txt"  # with its hash, which pip checks before it looks inside
    wanted.write_text(f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    what = ["--no-deps", "--no-binary", ":all:", "--requirement", wanted, "--dest", folder]
    run_tool([*pip, *what], timeout=TIMEOUT)
    return folder
