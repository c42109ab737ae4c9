"""Names and lines of addresses, by llvm-symbolizer.

That is a process of its own, which may be missing, killed, or too slow. An answer counts only if it
is whole; else the program is asked again, now and the next time. Answers are kept.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aloex.apps.fuzz.bugs.fault import Address
from aloex.apps.fuzz.tools import ToolError, find_llvm, run_tool

TRIES = 3  # at once
MANY_TRIES = 20  # where the answer is needed
TIMEOUT = 20.0  # seconds of one try
MAX_SECONDS = 30.0  # of tries without an answer


@dataclass(frozen=True)
class Frame:
    """A frame of a stack, by its name.

    Attributes:
        function: its name; the offset in its module if it has none.
        file: the source file; empty if it is not known.
        line: in the file; 0 if it is not known.
        start: the line on which the function begins; 0 if it is not known.
        offset: in the module, where there is no line.
    """

    function: str
    file: str = ""
    line: int = 0
    start: int = 0
    offset: str = ""

    @property
    def file_name(self) -> str:
        """The name of the file without its folder."""
        return self.file.rpartition("/")[2]

    @property
    def where(self) -> str:
        """The file and line, or else the offset: "scale.c:12"."""
        return f"{self.file_name}:{self.line}" if self.line else self.offset

    def __str__(self) -> str:
        return f"{self.function} ({self.where})" if self.where else self.function


class Symbolizer:
    """Names addresses; knows what it was told before."""

    def __init__(self) -> None:
        self._known: dict[Address, tuple[Frame, ...]] = {}
        self._num_lost = 0  # tries since the last answer
        self._lost_seconds = 0.0  # that they took

    @property
    def is_missing(self) -> bool:
        """Whether llvm-symbolizer is not installed."""
        return find_symbolizer() is None

    def frames(
        self, stack: Iterable[Address], *, is_needed: bool = False
    ) -> tuple[Frame, ...] | None:
        """The frames of a stack, those of inlined functions among them; None if not known now.

        Args:
            stack: innermost first.
            is_needed: ask often, even if the program has failed often; else not any more.
        """
        stack = tuple(stack)
        for module in sorted({address.module for address in stack}):
            wanted = [x for x in dict.fromkeys(stack) if x.module == module]
            wanted = [address for address in wanted if address not in self._known]
            if wanted and not self._ask(module, wanted, is_needed):
                return None
        return tuple(frame for address in stack for frame in self._known[address])

    def _ask(self, module: str, wanted: list[Address], is_needed: bool) -> bool:
        if is_needed:
            self._num_lost, self._lost_seconds = 0, 0.0
        for _ in range(MANY_TRIES if is_needed else TRIES):
            if self._num_lost >= MANY_TRIES or self._lost_seconds >= MAX_SECONDS:
                break
            start = time.monotonic()
            answer = ask_symbolizer(module, [address.offset for address in wanted])
            if answer is not None:
                self._num_lost, self._lost_seconds = 0, 0.0
                for address, symbols in zip(wanted, answer, strict=True):
                    self._known[address] = tuple(named(symbol, address) for symbol in symbols)
                return True
            self._num_lost += 1
            self._lost_seconds += time.monotonic() - start
        return False


def find_symbolizer() -> str | None:
    """The path of llvm-symbolizer; None if it is not installed."""
    try:
        return find_llvm("llvm-symbolizer")
    except ToolError:
        return None


def ask_symbolizer(module: str, offsets: list[int]) -> list[list[dict[str, Any]]] | None:
    """Ask once: the symbols at each offset, innermost first. None if there is no whole answer."""
    tool = find_symbolizer()
    if tool is None:
        return None
    command = [tool, "--output-style=JSON", f"--obj={module}", *map(hex, offsets)]
    try:
        answers = json.loads(run_tool(command, timeout=TIMEOUT).stdout)
        by_offset = {int(answer["Address"], 16): answer["Symbol"] for answer in answers}
        return [by_offset[offset] or [{}] for offset in offsets]
    except (ToolError, ValueError, KeyError, TypeError):
        return None


def named(symbol: dict[str, Any], address: Address) -> Frame:
    """The frame that a symbol describes."""
    function, line = symbol.get("FunctionName") or address.function, symbol.get("Line", 0)
    start = symbol.get("StartLine", 0)
    if not line:
        return Frame(function, start=start, offset=str(address))
    return Frame(function, symbol.get("FileName", ""), line, start)


def unnamed(address: Address) -> Frame:
    """The frame at an address, as far as it is known without llvm-symbolizer."""
    return Frame(address.function, offset=str(address))
