"""A failing input in a folder, and the file beside it that says what is known of it.

crashes/heap-buffer-overflow-3f786850e387550f        the input; the end of its name is its hash
crashes/heap-buffer-overflow-3f786850e387550f.min    made small, with the same fault
crashes/heap-buffer-overflow-3f786850e387550f.json   the fields of `CrashFile`
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.bugs.fault import Address, Fault
from aloex.apps.fuzz.bugs.symbols import Frame
from aloex.base.files import write_file


@dataclass
class CrashFile:
    """A failing input that is kept.

    Attributes:
        input: the name of its file.
        hash: of the input.
        size: in bytes.
        number: inputs are counted in the order in which they came.
        build: a hash of the library that it failed in.
        found: how it failed in the run that found it.
        fault: how it failed in the program with sanitizers; `found` if there is none.
        is_judged: whether that is known; else the run was lost, and is tried again.
        top: the frames that tell the bug from others; None until they are known.
        frames: the whole stack with names; None until they are known.
        way: how to reproduce it; empty until that was tried, then as a campaign runs it.
        reproduce: the command.
        minimised: the size of the input made small; None if that was not tried yet.
        has_small: whether there is one; else the input was as small as can be.
        other_sites: sites of inputs of the same bug that are not kept.
    """

    input: str
    hash: str
    size: int
    number: int
    build: str
    found: Fault
    fault: Fault
    is_judged: bool = False
    top: tuple[Frame, ...] | None = None
    frames: tuple[Frame, ...] | None = None
    way: str = ""
    reproduce: str = ""
    minimised: int | None = None
    has_small: bool = False
    other_sites: list[str] = field(default_factory=list)

    @property
    def small(self) -> str:
        """The name of the input made small; empty if there is none."""
        return f"{self.input}.min" if self.has_small else ""

    def write(self, folder: Path) -> None:
        """Write what is known of it."""
        about = {**asdict(self), "kind": self.fault.kind}
        write_file(folder / f"{self.input}.json", json.dumps(about, indent=1) + "\n")


def read_crash_file(path: Path) -> CrashFile | None:
    """What a file says of an input; None if it is not one of ours, or cut short."""
    try:
        about: dict[str, Any] = json.loads(path.read_text())
        about.pop("kind")
        about |= {name: fault_from(about[name]) for name in ("found", "fault")}
        about |= {name: frames_from(about[name]) for name in ("top", "frames")}
        crash = CrashFile(**about)
        is_whole = (path.parent / crash.input).stat().st_size == crash.size
        return crash if is_whole and path.name == f"{crash.input}.json" else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def fault_from(about: dict[str, Any]) -> Fault:
    """A fault from its JSON."""
    stack = tuple(Address(**address) for address in about["stack"])
    return Fault(about["kind"], stack, about["line"], about["report"])


def frames_from(about: list[dict[str, Any]] | None) -> tuple[Frame, ...] | None:
    """Frames from their JSON."""
    return None if about is None else tuple(Frame(**frame) for frame in about)
