"""Which bug an input hits, by one program with AddressSanitizer and UndefinedBehaviorSanitizer.

A planted fault tells its name. Any other error is named by its kind and the innermost function of
the target on the stack; the names of functions are read from the program itself, so no symbolizer
is needed where inputs are judged.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from aloex.apps.fuzz.target import read_elf
from aloex.apps.fuzz.tools import run_tool
from aloex.base.errors import AloexError

AT_ONCE = 200  # files of one command
SECONDS_EACH = 6.0  # a little more than judge.c gives an input
OPTIONS = {
    "ASAN_OPTIONS": "symbolize=0:detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "symbolize=0",
}
NOT_THE_TARGET = re.compile(r"^_*(asan|interceptor|sanitizer|ubsan|lsan|sancov)|^_*interceptor|^_Z")


def judge(program: Path, inputs: Sequence[Path]) -> list[str | None]:
    """The name of the bug that each input hits; None if it ends well."""
    names, functions = list[str | None](), Functions(program)
    for i in range(0, len(inputs), AT_ONCE):
        part = inputs[i : i + AT_ONCE]
        timeout = 30 + SECONDS_EACH * len(part)
        said = run_tool([program, *part], env=OPTIONS, timeout=timeout, check=False).stdout
        told = re.split(r"^END (\d)$", said, flags=re.MULTILINE)
        if len(told) != 2 * len(part) + 1:
            raise AloexError(f"{program} judged {len(told) // 2} of {len(part)} inputs")
        ends = zip(told[::2], told[1::2], strict=False)
        names += [name_of(text, functions) if end == "1" else None for text, end in ends]
    return names


class Functions:
    """The functions of a program by their addresses."""

    def __init__(self, program: Path):
        symbols = sorted((at, name) for name, at in read_elf(program).symbols.items())
        self._at, self._names = [at for at, _ in symbols], [name for _, name in symbols]

    def at(self, offset: int) -> str:
        """The name of the function that an address lies in, or that it is unknown."""
        i = bisect_right(self._at, offset) - 1
        return self._names[i] if i >= 0 else "?"


def name_of(text: str, functions: Functions) -> str:
    """The name of the bug that a report tells of."""
    faults = re.findall(r"^FAULT (\S+)$", text, re.MULTILINE)
    if faults:
        return faults[-1]  # the one before the end
    found = re.search(r"(\S+?):\d+:\d+: runtime error: ([^:\n]+)", text)
    if found:
        return f"{found[2].strip()} in {Path(found[1]).name}"
    error = re.search(r"ERROR: AddressSanitizer: ([\w-]+)", text)
    if error is None:
        return "a signal"  # such as that of abort
    kind = error[1]
    stack = text[error.start() :].split("\n\n")[0]
    frames = [functions.at(int(at, 16)) for at in re.findall(r"#\d+ 0x\w+ .*\+0x(\w+)\)", stack)]
    of_target = [name for name in frames if not NOT_THE_TARGET.search(name)]
    return f"{kind} in {of_target[0]}" if of_target else kind
