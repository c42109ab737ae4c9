"""The bugs that a campaign has found, and a folder with inputs for each.

At most `MAX_KEPT` inputs of a bug are kept: the first, and the smallest others. No bug loses its
last input, for what is removed belongs to a bug with more than so many.

Nothing here ends a campaign. What a lost helper did not tell is asked for again; `bug.py` has the
rule why that splits and joins nothing.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from aloex.apps.fuzz.bugs.bug import Bug, top_of
from aloex.apps.fuzz.bugs.crash_file import CrashFile
from aloex.apps.fuzz.bugs.fault import Fault, fault_of
from aloex.apps.fuzz.bugs.folder import CrashFolder
from aloex.apps.fuzz.bugs.group import best_of, by_place, described, is_minimised, size_and_hash
from aloex.apps.fuzz.bugs.minimise import minimise
from aloex.apps.fuzz.bugs.module import read_module
from aloex.apps.fuzz.bugs.symbols import Symbolizer
from aloex.apps.fuzz.bugs.verdict import BINARY, Judge
from aloex.apps.fuzz.inputs import Failure, hash_of
from aloex.apps.fuzz.target import Target
from aloex.base.words import count

MAX_KEPT = 10  # inputs of one bug
MAX_LOST = 3  # runs with sanitizers of one input, after which it is not run again
MAX_SECONDS = 10.0  # to minimise an input
MAX_RUNS = 20_000  # likewise
FREE_SECONDS, SHARE = 2.0, 0.05  # of the time, to find out at once what bugs are; the rest: `all`
MAX_AT_ONCE = 2.0  # seconds for one of them


class Bugs:
    """Failing inputs of a target in a folder, which may hold those of earlier runs.

    Use it in a `with` block, or close it.

    Args:
        folder: of the inputs.
        target: the target that they fail.
        timeout, memory_mb: what an input was allowed, as of `Executor`.
    """

    def __init__(
        self, folder: Path, target: Target, *, timeout: float = 1.0, memory_mb: int = 2048
    ):
        self.judge = Judge(target, timeout=timeout, memory_mb=memory_mb)
        self.folder = CrashFolder(folder)
        self._symbolizer = Symbolizer()
        self._began, self._spent = time.monotonic(), 0.0
        self._build = read_module(target.library).fingerprint
        self._grouped: dict[str, list[CrashFile]] | None = None  # by place
        self._bug_of: dict[str, list[CrashFile]] = {}  # by the hash of the input
        self._num_lost: Counter[str] = Counter()  # by the same
        self._counts: Counter[str] = Counter()  # inputs that failed, by the site
        self._first_of: dict[str, CrashFile] = {}  # by the same
        for crash in self.folder.in_order:
            self._counts[crash.found.site] += 1
            for site in (crash.found.site, *crash.other_sites):
                self._first_of.setdefault(site, crash)

    def __enter__(self) -> "Bugs":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Write what could not be written before, and end the worker."""
        self.folder.write_again()
        self.judge.close()

    def site(self, failure: Failure, *, sanitized: bool = False) -> str:
        """How and where a run failed, as far as it says itself: this tells most bugs apart."""
        return fault_of(failure, self.judge.program(sanitized)).site

    def restore(self, counts: Mapping[str, int]) -> None:
        """Set how many inputs failed at each site: from the journal of a campaign resumed."""
        self._counts = Counter(counts)

    def add(self, data: bytes, failure: Failure, *, sanitized: bool = False) -> Bug:
        """Count a failing input, and keep it unless there are enough of its bug.

        Args:
            data: the input.
            failure: how it failed.
            sanitized: whether that was in the program with sanitizers.
        """
        found = fault_of(failure, self.judge.program(sanitized))
        self._counts[found.site] += 1
        crash = self.folder.crashes.get(hash_of(data))
        if crash is None:
            crash = self._first_of.get(found.site)
            if crash is None or self._is_wanted(found.site, data):
                crash = self._keep(data, found, sanitized)
            self.folder.write_again()
        return self._describe(self._same_bug(crash))

    def all(self, *, max_seconds: float = float("inf")) -> list[Bug]:
        """All bugs, in the order in which they were found; helpers are asked for so long."""
        stop = time.monotonic() + max_seconds
        nameless = [x for x in self.folder.in_order if x.frames is None and self._is_own(x)]
        addresses = {address for crash in nameless for address in crash.fault.stack}
        self._symbolizer.frames(sorted(addresses), is_needed=True)
        for crash in self.folder.in_order:
            if time.monotonic() < stop:
                self._complete(crash, stop - time.monotonic())
        for crashes in list(self._groups().values()):
            self._remove_some(crashes)
        for crashes in self._groups().values():
            if time.monotonic() < stop:
                self._try_command(best_of(crashes), stop - time.monotonic())
        self.folder.write_again()
        return self.known

    @property
    def known(self) -> list[Bug]:
        """All bugs as far as they are known now: no helper is asked."""
        return [self._describe(crashes) for crashes in self._groups().values()]

    @property
    def notes(self) -> list[str]:
        """What a user should know: tools that are missing, files that could not be written."""
        found: list[str] = []
        if self.folder.crashes and self._symbolizer.is_missing:
            found.append(
                "llvm-symbolizer is missing, so bugs are told apart by offsets and have no lines; "
                "install it: apt-get install llvm-19"
            )
        elif any(crash.top is None for crash in self.folder.crashes.values()):
            found.append(
                "llvm-symbolizer gave no answer for some bugs: they have no lines, and some may be "
                "the same; the next report asks it again"
            )
        if self.folder.num_unwritten:
            what = f"{count(self.folder.num_unwritten, 'failing input')} could not be written to"
            them = "it" if self.folder.num_unwritten == 1 else "them"
            rest = f"free some space; the next report writes {them}"
            found.append(f"{what} {self.folder.path}; {rest}")
        return found

    def minimise(
        self,
        *,
        max_seconds: float = MAX_SECONDS,
        max_runs: int = MAX_RUNS,
        max_total: float = float("inf"),
        workers: int | None = 1,
    ) -> None:
        """Make the smallest input of each bug smaller, unless that was done.

        Args:
            max_seconds: for one bug.
            max_runs: for one bug; the result depends on these alone, unless time is up before.
            max_total: seconds for all bugs together.
            workers: number of processes; all cores if None.
        """
        stop = time.monotonic() + max_total
        for crash in self._to_minimise():
            seconds = min(max_seconds, stop - time.monotonic())
            data = self.folder.read(crash)
            if data is None or seconds <= 0:
                continue
            small = minimise(
                self.judge, data, crash, max_seconds=seconds, max_runs=max_runs, workers=workers
            )
            if small is not None:
                self.folder.add_small(crash, small)
                if crash.has_small:
                    crash.way = self._first_way(crash.found)  # the command is of another file now
                self._write(crash)

    @property
    def num_to_minimise(self) -> int:
        """Number of bugs whose smallest input was not minimised yet."""
        return len(self._to_minimise())

    def _to_minimise(self) -> list[CrashFile]:
        found: list[CrashFile] = []
        for crashes in self._groups().values():
            crash = min(crashes, key=size_and_hash)
            if not is_minimised(crashes) and self._is_own(crash):
                found.append(crash)
        return found

    # ---- what is kept

    def _is_wanted(self, site: str, data: bytes) -> bool:
        """Whether to look at one more input of a site.

        To the first ones, to those smaller than all of its bug, and to fewer and fewer of the
        others: what breaks the memory in different places may fail in the same place.
        """
        count = self._counts[site]
        smallest = min(x.size for x in self._same_bug(self._first_of[site]))
        return count <= MAX_KEPT or len(data) < smallest or count.bit_count() == 1

    def _keep(self, data: bytes, found: Fault, is_judged: bool) -> CrashFile:
        """Keep an input, find out what it does, and drop another if its bug has enough."""
        number = 1 + max((x.number for x in self.folder.crashes.values()), default=-1)
        hash = hash_of(data)
        name = f"{found.kind}-{hash}"
        crash = CrashFile(name, hash, len(data), number, self._build, found, found, is_judged)
        crash.way = self._first_way(found)
        self._grouped = None
        self.folder.add(crash, data)
        self._write(crash)  # first of all: what follows takes time, and may be interrupted
        self._first_of.setdefault(found.site, crash)
        if self._may_take_time():
            self._complete(crash, MAX_AT_ONCE)
        self._remove_some(self._same_bug(crash))
        return crash if crash.hash in self.folder.crashes else self._first_of[found.site]

    def _may_take_time(self) -> bool:
        """Whether there is time to ask helpers now: a campaign must not wait for them for long."""
        return self._spent < FREE_SECONDS + SHARE * (time.monotonic() - self._began)

    def _remove_some(self, crashes: list[CrashFile]) -> None:
        """Remove inputs of a bug beyond MAX_KEPT: not the first, and not the smallest."""
        first, *others = crashes
        others.sort(key=lambda crash: (crash.minimised or crash.size, crash.size, crash.hash))
        for crash in others[MAX_KEPT - 1 :]:
            for site in (crash.found.site, *crash.other_sites):
                if self._first_of.get(site) is crash:
                    self._first_of[site] = first
                    first.other_sites.append(site)
            self._write(first)  # it has the sites of what is removed
            self._grouped = None
            self.folder.remove(crash)

    def _write(self, crash: CrashFile) -> None:
        crash.reproduce = self._command(crash)
        self.folder.write(crash)

    def _command(self, crash: CrashFile) -> str:
        path = self.folder.path / (crash.small or crash.input)
        return self.judge.command(crash.way, path, crash.fault)

    def _first_way(self, found: Fault) -> str:
        """How to reproduce a fault before that is tried: without sanitizers some end well."""
        return BINARY if self.judge.is_sanitized(found) else ""

    # ---- what is known of it

    def _is_own(self, crash: CrashFile) -> bool:
        """Whether it is of this build: the addresses of another mean something else."""
        return crash.build == self._build

    def _complete(self, crash: CrashFile, seconds: float) -> None:
        """Find out what is not known yet of an input."""
        if not self._is_own(crash):
            return
        start = time.monotonic()
        before = (crash.is_judged, crash.top, crash.frames)
        self._judge(crash, seconds)
        if crash.frames is None:
            crash.frames = self._symbolizer.frames(crash.fault.stack)
            crash.top = crash.frames and top_of(self._symbolizer.frames(crash.fault.counting))
        self._grouped = None
        name = f"{crash.fault.kind}-{crash.hash}"
        if crash.input != name:  # it was named before it was known what it is
            self.folder.rename(crash, name)
        if before != (crash.is_judged, crash.top, crash.frames):
            self._write(crash)
        self._spent += time.monotonic() - start

    def _try_command(self, crash: CrashFile, seconds: float) -> None:
        """Find out how a fault is reproduced, with the very input that the command names."""
        if crash.way or not self._is_own(crash):
            return
        data = self.folder.read(crash, ".min" if crash.has_small else "")
        crash.way = "" if data is None else self.judge.way(data, crash.fault, seconds=seconds)
        if crash.way:
            self._write(crash)

    def _judge(self, crash: CrashFile, seconds: float) -> None:
        """Ask for the fault with sanitizers, unless it is known or that was lost too often."""
        if crash.is_judged or self._num_lost[crash.hash] >= MAX_LOST:
            return
        data = self.folder.read(crash)
        fault = None if data is None else self.judge.fault(data, crash.found, seconds=seconds)
        if fault is None:
            self._num_lost[crash.hash] += 1
            return
        crash.is_judged = True
        if fault != crash.fault:
            crash.fault, crash.top, crash.frames, crash.way = fault, None, None, ""

    # ---- which inputs are of one bug

    def _same_bug(self, crash: CrashFile) -> list[CrashFile]:
        """The inputs of a bug, one of which is given."""
        self._groups()
        return self._bug_of[crash.hash]

    def _groups(self) -> dict[str, list[CrashFile]]:
        if self._grouped is None:
            self._grouped = by_place(self.folder.in_order, self._build)
            self._bug_of = {x.hash: bug for bug in self._grouped.values() for x in bug}
        return self._grouped

    def _describe(self, crashes: Sequence[CrashFile]) -> Bug:
        inputs, reproduce = self._count(crashes), self._command(best_of(crashes))
        return described(crashes, self._build, inputs=inputs, reproduce=reproduce)

    def _count(self, crashes: Sequence[CrashFile]) -> int:
        """How many inputs failed so. One that was not kept counts for the first of its site."""
        of_bug = {crash.hash for crash in crashes}
        sites = {site for site, first in self._first_of.items() if first.hash in of_bug}
        kept = Counter(crash.found.site for crash in self.folder.crashes.values())
        return len(crashes) + sum(max(0, self._counts[site] - kept[site]) for site in sites)
