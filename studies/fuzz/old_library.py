"""Old libraries with public faults, fetched when they are built; nothing of them is kept here.

old/NAME/source.json   where the source package is, its hash, and what is known to be wrong
old/NAME/target.toml   the recipe; the package is unpacked beside it into `source`
"""

import hashlib
import json
import shutil
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.target.debian import unpack
from aloex.apps.fuzz.tools import cache_folder
from aloex.base.errors import InputError, require
from aloex.base.files import write_file
from studies.fuzz import planted

HOME = Path(__file__).parent / "old"
NAMES = ("cares",)
BUILT = Path("build/old")
TIMEOUT = 60.0  # seconds for an answer


class Source(NamedTuple):
    """A source package."""

    about: str
    url: str
    sha256: str
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
    path = cache_folder() / source.url.rsplit("/", 1)[-1]
    if not path.exists():
        try:
            with urllib.request.urlopen(source.url, timeout=TIMEOUT) as answer:
                data: bytes = answer.read()
        except OSError as error:
            raise InputError(f"cannot fetch {source.url}: {error}; put it at {path}") from None
        write_file(path, data)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    require(found == source.sha256, f"{path} has the hash {found}, not {source.sha256}; remove it")
    return path
