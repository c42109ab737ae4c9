"""Which columns are read if there are many and none are named."""

from aloex.apps.fill.tables import columns_to_read

NUM_ROWS, NUM_COLUMNS = 6, 12


def chosen(outputs, target=NUM_COLUMNS, **special):
    """The columns read of twelve with different letters, some of them with cells of their own."""
    letters = "bcdfgh"
    rows = [[f"{letters[k] * (i + 2)}" for i in range(NUM_COLUMNS)] for k in range(NUM_ROWS)]
    for name, cells in special.items():
        for row, cell in zip(rows, cells, strict=True):
            row[int(name.removeprefix("c"))] = cell
    all_outputs = [*outputs, *[None] * (NUM_ROWS - len(outputs))]
    has_text = [True] * NUM_COLUMNS + [True]
    return columns_to_read(target, has_text, all_outputs, lambda i: rows[i])


NAMES = ["Ada King", "Al Bo", "Cy Dee", "Ed Fo", "Jo Pu", "Ky Lo"]
KINDS = ["p", "q", "p", "q", "q", "p"]


def test_few_columns_are_all_read():
    assert columns_to_read(2, [True, False, True, True], ["x"], lambda i: ["y"] * 4) == [0, 3]


def test_the_nearest_on_the_left_are_read_if_nothing_else_tells():
    assert chosen(["1", "2"]) == [4, 5, 6, 7, 8, 9, 10, 11]
    assert chosen(["1", "2"], target=1) == [0, 2, 3, 4, 5, 6, 7, 8]


def test_columns_with_words_of_the_outputs_are_read():
    for outputs in (["KING", "BO"], ["A. K.", "A. B."], ["Kin-7", "Bo-7"]):
        assert chosen(outputs, c0=NAMES) == [0, 5, 6, 7, 8, 9, 10, 11]


def test_columns_with_numbers_of_the_outputs_are_read():
    amounts = ["€1,234.50", "€310", "7", "8", "9", "10"]
    assert 1 in chosen(["1234.5", "310.00"], c1=amounts)
    days = ["2026-03-05", "9 Dec 2025", "7", "8", "9", "10"]
    assert 2 in chosen(["5/3/26", "9/12/25"], c2=days)


def test_columns_with_few_different_cells_are_read():
    assert chosen(["1", "2"], c0=KINDS) == [0, 5, 6, 7, 8, 9, 10, 11]
    assert 0 not in chosen(["1", "2"], c0=["p"] * NUM_ROWS)  # a constant tells nothing
    assert chosen(["King", "Bo"], c1=NAMES, c0=KINDS) == [0, 1, 6, 7, 8, 9, 10, 11]


def test_short_rows_are_read():
    rows = [["x"], ["y"] * 12]
    assert len(columns_to_read(12, [True] * 12, ["x", None], lambda i: rows[i])) == 8
