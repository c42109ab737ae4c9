"""What a bug is: a kind of error and a place. The rule, which needs no luck:

1. A failed run says itself, without a helper, what went wrong and at which addresses: its `Fault`.
   Of these addresses up to three count: the innermost ones in the target, each function once. The
   frames of the C library, the sanitizers and the fuzzer are left out, so an abort belongs to its
   caller, a crash in memcpy too, and memory that ran out to the one who asked for it. Kind and
   addresses make the *site*, and the line where a sanitizer names it: the compiler may join checks
   of several lines at one address. Runs with the same site are always the same bug.
2. llvm-symbolizer turns the addresses of a site into functions, files and lines, those of inlined
   functions among them, and kind and the three innermost of these are the *place*. The innermost
   is on the line that a sanitizer names, if it does. Sites with the same place are one bug: the
   compiler makes several instructions of one line. So two faults of one function are two bugs,
   unless they are of one kind, on one line, and reached from the same two lines.
3. Where a run is stopped may be chance. Of a hang the three outermost functions count, without
   lines; of an endless recursion the functions that recur, without lines. These come from the
   symbol table of the program, without a helper.
4. If llvm-symbolizer is missing, the site is the bug. If it dies, its answer is asked for again,
   at the latest when the bugs are listed. Until there is one, sites stay apart: since runs with one
   site have one place, nothing is ever joined that does not belong together, and what is apart for
   want of an answer is joined by it. Nothing depends on when an answer came.
"""

from dataclasses import dataclass, replace

from aloex.apps.fuzz.bugs.fault import NUM_FRAMES, Fault
from aloex.apps.fuzz.bugs.symbols import Frame, unnamed
from aloex.apps.fuzz.inputs import hash_of


@dataclass(frozen=True)
class Bug:
    """A way to fail, and the inputs that do.

    Attributes:
        kind: of the error: heap-buffer-overflow, SEGV, signed-integer-overflow, hang, oom, exit.
        place: the same text means the same bug.
        top: the frames that tell it from other bugs, innermost first.
        has_lines: whether their lines do, too, or their functions only.
        frames: the whole stack, innermost first.
        inputs: how many failed so.
        kept: names of files in the folder of crashes: the first found, then the others by size.
        smallest: one of them.
        minimised: the name of an input that was made small; empty if there is none.
        reproduce: a command.
        report: what the sanitizer wrote; empty if there is none.
    """

    kind: str
    place: str
    top: tuple[Frame, ...]
    has_lines: bool
    frames: tuple[Frame, ...]
    inputs: int
    kept: tuple[str, ...]
    smallest: str
    minimised: str
    reproduce: str
    report: str = ""

    @property
    def name(self) -> str:
        """The error, the function, the file and the line."""
        if not self.top:
            return self.kind
        top = self.top[0]
        file = f" ({top.file_name})" if top.file else ""
        return f"{self.kind} in {top if self.has_lines else top.function + file}"

    @property
    def id(self) -> str:
        """A hash of the kind and the place, without the folders of files."""
        where = [f"{x.function} {x.where if self.has_lines else ''}" for x in self.top]
        return hash_of("\n".join([self.kind, *where]).encode())

    @property
    def first(self) -> str:
        """The name of the input that was found first."""
        return self.kept[0]


def top_of(frames: tuple[Frame, ...] | None) -> tuple[Frame, ...] | None:
    """The frames that tell a bug from others, of those that count; None if they are not known."""
    if frames is None:
        return None
    first_of: dict[str, Frame] = {}
    for frame in frames:
        first_of.setdefault(frame.function, frame)
    return tuple(first_of.values())[:NUM_FRAMES]


def place_of(fault: Fault, top: tuple[Frame, ...] | None) -> str:
    """The place where a run failed; the site if the frames are not known, or do not count."""
    if not top or not fault.has_lines:
        return fault.site
    frames = with_line(fault, top)
    return " ".join([fault.kind, *(f"{x.function}@{x.file}:{x.where}" for x in frames)])


def unnamed_top(fault: Fault) -> tuple[Frame, ...]:
    """The frames that tell a bug from others, as far as the run itself says."""
    return with_line(fault, tuple(unnamed(address) for address in fault.counting))


def with_line(fault: Fault, top: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames, the innermost at the line that the run itself names, if it does.

    The compiler may give the address a line 0, where it has joined several checks into one.
    """
    if not fault.line:
        return top
    file, _, line = fault.line.rpartition(":")
    first = top[0] if top else Frame("?")
    known = first.file if f"/{first.file}".endswith(f"/{file}") else file
    return (replace(first, file=known, line=int(line), offset=""), *top[1:])
