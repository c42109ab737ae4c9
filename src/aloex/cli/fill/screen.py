"""What `aloex fill` prints: cells of any length and script, in lines that stay readable."""

import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len

from aloex.base.words import count

if TYPE_CHECKING:
    from aloex.cli.fill.job import Job

MAX_ROWS = 20  # doubtful ones that are shown
MAX_CELL = 60  # columns of the screen for a cell
MAX_NAME = 40  # for the name of a column
MAX_NAMES = 5  # of columns that are not read
MAX_WORDS = 800  # for a program
MAX_OTHERS = 3  # other answers of a row
MIN_SHARE = 0.01  # of the votes, for an answer that is shown
JOINER = "\u200d"  # joins emoji
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def make_printable() -> None:
    """Let terminals that cannot show a character show its code, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # tests have streams without
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def shown(text: str, width: int = MAX_CELL) -> str:
    """A text for one line of the screen: cut, no control characters, right-to-left kept inside."""
    short = DIRECTIONS.sub("", text[: 4 * width])
    short = "".join(_visible(char) for char in short)
    if cell_len(short) > width or len(text) > 4 * width:
        short = _cut(short, width - 3) + "..."
    if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in short):
        short = f"\u2068{short}\u2069"  # so that what follows is not written from right to left
    return short


def _visible(char: str) -> str:
    hidden = unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs", "Cn")
    return char.encode("unicode_escape").decode("ascii") if hidden else char


def _cut(text: str, width: int) -> str:
    """The first characters; none is cut off from the marks and joiners that belong to it."""
    end = len(text)
    while cell_len(text[:end]) > width:
        end -= 1
    while end > 0 and _belongs(text[end : end + 1], text[end - 1]):
        end -= 1
    return text[:end]


def _belongs(char: str, before: str) -> bool:
    is_mark = char != "" and (char == JOINER or unicodedata.category(char) in ("Mn", "Me", "Mc"))
    return is_mark or before == JOINER


def show(job: "Job", file: TextIO) -> None:
    """Print the program, the rows in doubt, and what to do next."""
    filled, doubtful = job.filled, job.filled.in_doubt
    print(f"program: {shown(filled.program.explain(), MAX_WORDS)}", file=file)
    print(f"         from {count(len(filled.examples), 'example')}", file=file)
    if job.table.header_guessed:
        is_header = job.table.header is not None
        kind, other = ("a header", "--no-header") if is_header else ("data", "--header")
        print(f"         the first row is taken for {kind}; if it is not: {other}", file=file)
    if not job.target_told and job.marks is None and job.target != len(job.table.names) - 1:
        name = shown(job.table.names[job.target], MAX_NAME)
        print(f"         {name} is filled, the only column that is partly empty", file=file)
    if job.unread:
        print(f"         {_unread(job)}; name others: --source", file=file)
    print(f"{count(job.num_filled, 'row')} filled, {len(doubtful):,} in doubt", file=file)
    for i in doubtful[:MAX_ROWS]:
        print(_line(job, i), file=file)
    if len(doubtful) > MAX_ROWS:
        print(f"  and {count(len(doubtful) - MAX_ROWS, 'more row')}: see --json", file=file)


def _unread(job: "Job") -> str:
    """Which columns are not read."""
    names = [shown(job.table.names[i], MAX_NAME) for i in job.unread[:MAX_NAMES]]
    more = len(job.unread) - len(names)
    words = ", ".join(names) + (f" and {more:,} more" if more else "")
    return f"{count(len(job.unread), 'column')} not read: {words}"


def _line(job: "Job", i: int) -> str:
    """A row in doubt, with its other answers."""
    answer = job.filled.answers[i]
    cells = row_shown(job.cells_read(i))
    own = {} if answer.text is None else {answer.text: answer.confidence}
    others = {text: share for text, share in answer.others.items() if share >= MIN_SHARE}
    likeliest = list({**own, **others}.items())[: MAX_OTHERS + 1]
    texts = [f"{shown(text) or 'nothing'} ({int(100 * share)}%)" for text, share in likeliest]
    answers = ["no answer", *texts] if answer.text is None else texts
    return f"  line {job.table.lines[i]}: {cells} -> {', or '.join(answers)}"


def row_shown(cells: Sequence[str]) -> str:
    """The cells of a row in one line."""
    return " | ".join(shown(cell) if cell.strip() else "(empty)" for cell in cells)


def lines_in_words(lines: Sequence[int]) -> str:
    """line 3; lines 3, 7 and 9."""
    words = [str(line) for line in lines[:MAX_ROWS]]
    if len(lines) > MAX_ROWS:
        words.append(f"{len(lines) - MAX_ROWS} more")
    if len(words) == 1:
        return f"line {words[0]}"
    return f"lines {', '.join(words[:-1])} and {words[-1]}"
