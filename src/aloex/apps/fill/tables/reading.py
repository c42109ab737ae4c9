"""Reading all of a table, block by block: texts of records, which are rows, what columns hold."""

from array import array
from collections.abc import Sequence
from itertools import zip_longest

from aloex.apps.fill.tables.blocks import Block
from aloex.apps.fill.tables.records import Record, is_blank, unquote


class Reading:
    """What has been read of a table so far: see `Table`."""

    def __init__(self, delimiter: str, has_header: bool):
        self.delimiter, self.expects_header = delimiter, has_header
        self.header: Record | None = None
        self.texts: list[str] = []
        self.starts, self.places = array("q"), array("q")
        self.has_text: list[bool] = []
        self.has_blank: list[bool] = []

    def add(self, block: Block) -> None:
        """Read some more records."""
        full = [i for i, fields in enumerate(block.fields) if _is_full(fields)]
        if self.expects_header and full:
            self.expects_header = False
            i = full.pop(0)
            self.header = Record(block.lines[i], block.fields[i], block.ends[i])
        self._look_at([block.fields[i] for i in full], block.has_quotes)
        self.places.extend([len(self.texts) + i for i in full])
        self.starts.extend(block.lines)
        self.texts += block.texts(self.delimiter)

    def _look_at(self, rows: Sequence[Sequence[str]], has_quotes: bool) -> None:
        """Note which columns have texts and blanks; a row without a column has a blank there."""
        if not rows:
            return
        number = max(map(len, rows))
        new = number - len(self.has_text)
        self.has_text += [False] * new
        self.has_blank += [len(self.places) > 0] * new
        self.has_blank[number:] = [True] * (len(self.has_blank) - number)
        for i, column in enumerate(zip_longest(*rows, fillvalue="")):
            if self.has_text[i] and self.has_blank[i]:
                continue
            cells = [unquote(field) for field in column] if has_quotes else column
            self.has_text[i] = self.has_text[i] or any(map(str.strip, cells))
            self.has_blank[i] = self.has_blank[i] or not all(map(str.strip, cells))


def _is_full(fields: list[str]) -> bool:
    return fields[0][:1].isalnum() or not is_blank(fields)  # the first is quick and usual
