"""Written numbers are found from a few examples, and only those that fit all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.search.numbers.atoms import MAX_EXPRESSIONS, number_expressions
from aloex.apps.fill.search.numbers.columns import column_marks


def answers(cells, outputs):
    """What the expressions found write for all rows, as a set."""
    rows = [cell if isinstance(cell, tuple) else (cell,) for cell in cells]
    found = number_expressions(rows, outputs)
    assert len(found) == len(set(found)) <= MAX_EXPRESSIONS
    for expression in found:
        for row, output in zip(rows, outputs, strict=False):
            text = expression.run(row)
            assert text and text in output
    return {tuple(expression.run(row) for row in rows) for expression in found}


@pytest.mark.parametrize(
    ("cells", "marks"),
    [
        (["1,234.56", "12"], ["."]),
        (["1.234", "0,5"], [","]),
        (["1.234", "1.234.567"], [","]),
        (["1,234", "12,34,567"], ["."]),
        (["1.234", "5"], [".", ","]),  # open: both readings
        (["1,5", "1.5", "2.5"], [".", ","]),  # contradictory: both, the frequent one first
        (["0.500"], ["."]),
        (["12.05.2019", "192.168.0.1"], ["."]),  # no numbers with marks at all
        (["1 234,5", "12 000"], [", ", ","]),
        (["12 345 or 7 8"], ["."]),
        (["", "n/a"], ["."]),
    ],
)
def test_the_column_tells_the_decimal_mark(cells, marks):
    assert column_marks(cells) == marks


@pytest.mark.parametrize(
    ("cells", "outputs", "wanted"),
    [
        # how numbers are written
        (["1234.5", "12", "1000000"], ["$1,234.50"], ("1,234.50", "12.00", "1,000,000.00")),
        (["1.234,50", "12,3", "7"], ["1234.50"], ("1234.50", "12.30", "7.00")),
        (["1234.5", "12.25", "-7"], ["1.234,5", "12,25"], ("1.234,5", "12,25", "-7")),
        (["1234567", "1000"], ["12,34,567"], ("12,34,567", "1,000")),
        (["00123", "007", "0"], ["123"], ("123", "7", "0")),
        (["7", "12", "1234"], ["007"], ("007", "012", "1234")),
        (["-1234.5", "20", "-5"], ["(1,234.50)", "20.00"], ("(1,234.50)", "20.00", "(5.00)")),
        (["(5)", "7", "-2"], ["-5", "7"], ("-5", "7", "-2")),
        (["5-", "7"], ["-5"], ("-5", "7")),
        (["3", "-2", "0"], ["+3", "-2"], ("+3", "-2", "0")),
        (["１２", "３"], ["12"], ("12", "3")),
        (["١٢٫٥", "٣"], ["12.5"], ("12.5", "3")),
        (["a 5 b 1,000", "x 1 y 2 z 3,000", ""], ["1000"], ("1000", "3000", None)),
        # roundings
        (["1.005", "2.344", "-0.001"], ["1.01", "2.34"], ("1.01", "2.34", "0.00")),
        (["2.5", "3.5", "4.5"], ["2", "4"], ("2", "4", "4")),
        (["2.5", "3.5", "4.5"], ["3", "4"], ("3", "4", "5")),
        (["87", "112", "35"], ["90", "110"], ("90", "110", "40")),
        (["87", "112", "3"], ["75", "100"], ("75", "100", "0")),
        (["3.3", "7.8", "1"], ["3.5", "8"], ("3.5", "8", "1")),
        (["30", "50", "7"], ["24", "48"], ("24", "48", "0")),
        (["1260", "8700", "400"], ["1000", "9000"], ("1000", "9000", "0")),
        # ranges
        (["23", "47", "30"], ["20-30", "40-50"], ("30", "50", "40")),
        (["23", "47", "30"], ["20 to 29", "40 to 49"], ("29", "49", "39")),
        (["23", "47", "30"], ["[20,30)"], ("30", "50", "40")),
        (["3", "17", "20"], ["1-10", "11-20"], ("1", "11", "11")),
        (["20", "47", "30"], ["10-20", "40-50"], ("10", "40", "20")),
        (["0.37", "0.82"], ["0.25-0.50"], ("0.25", "0.75")),
        (["1250", "870", "4500"], ["$1,000-$2,000", "$0-$1,000"], ("2,000", "1,000", "5,000")),
        (["1250", "870", "4500"], ["$1,000-$2,000", "$0-$1,000"], ("1,000", "0", "4,000")),
        # scaling and arithmetic
        (["2048 KB", "512 KB", "1536 KB"], ["2 MB", "0.5 MB"], ("2", "0.5", "1.5")),
        (["INV-009", "INV-010", "INV-099"], ["INV-010", "INV-011"], ("010", "011", "100")),
        (["0.25", "0.5", "0.125"], ["25%", "50%"], ("25", "50", "12.5")),
        (["1500 m", "2300 m", "12 m"], ["1.5 km", "2.3 km"], ("1.5", "2.3", "0.012")),
        (["20", "36.6", "100"], ["68 F", "98 F"], ("68", "98", "212")),
        (["212", "99.5", "32"], ["100", "37.5"], ("100", "37.5", "0")),
        (["10.99", "25.49", "7"], ["13.19", "30.59"], ("13.19", "30.59", "8.40")),
        (["90 min", "150 min", "45 min"], ["1.5 h", "2.5 h"], ("1.5", "2.5", "0.75")),
        (["1999", "2005", "2010"], ["21", "15"], ("21", "15", "10")),
        (["-5", "3", "-2"], ["5.0", "3.0"], ("5.0", "3.0", "2.0")),
        ([("3", "4"), ("10", "20"), ("7", "8")], ["7", "30"], ("7", "30", "15")),
        ([("9.50", "3"), ("2.25", "4")], ["28.50"], ("28.50", "9.00")),
        ([("3", "4"), ("10", "20"), ("7", "9")], ["75%", "50%"], ("75", "50", "78")),
        ([("1", "3"), ("10", "20")], ["0.33"], ("0.33", "0.50")),
    ],
)  # fmt: skip
def test_what_is_found(cells, outputs, wanted):
    assert wanted in answers(cells, outputs)


def test_all_roundings_that_fit_are_kept():
    found = answers(["2.7", "3.9", "5.5", "-1.2"], ["3"])
    assert {("3", "4", "6", "-1"), ("3", "4", "6", "-2")} <= found


def test_a_factor_without_rounding_comes_first():
    first, *_ = number_expressions([("2048 KB",), ("512 KB",), ("1536 KB",)], ["2 MB", "0.5 MB"])
    assert first.explain(["size"]) == "the first number of size divided by 1024"


def test_both_readings_of_an_open_column_are_kept():
    found = answers(["1.500", "2.000"], ["1.5", "2"])
    assert ("1.5", "2") in found
    assert ("1500", "2000") in answers(["1.500", "2.000"], ["1500"])


@pytest.mark.parametrize(
    ("cells", "outputs"),
    [
        (["12", "7"], ["12"]),  # a part of the cell, copied
        (["-5 C", "7 C"], ["-5"]),
        (["abc", "7"], ["12"]),  # no number in an example
        (["12", "7"], ["twelve"]),
        (["12", "7"], [""]),
        (["12", "7"], []),
        (["12", "7"], ["5" * 300]),
        ([("12", "0")], ["x1"]),  # 12 / 0 is no number
    ],
)
def test_nothing_is_found(cells, outputs):
    assert answers(cells, outputs) == set()


def test_a_copy_that_differs_in_another_row_is_kept():
    assert answers(["12.50", "7.5"], ["12.50"]) == {("12.50", "7.50")}


@given(
    st.lists(
        st.tuples(
            st.text("0123456789.,-+() $%'x", max_size=30),
            st.text("0123456789.,-+() $%'x", max_size=30),
            st.text("0123456789.,-+() $%'x", max_size=30),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_texts_give_few_expressions_that_fit(triples):
    rows = [triple[:2] for triple in triples]
    outputs = [triple[2] for triple in triples[:2]]
    answers([*rows, ("", "")], outputs)


def test_tables_of_many_numbers_give_few_expressions():
    rows = [tuple(f"{i * j}.{j} of {i + j} and {i}" for j in range(1, 9)) for i in range(1, 40)]
    outputs = ["1-10, 100 200 (5)", "0-10, 200 300 (5)", "0-10, 300 400 (5)"]
    assert 0 < len(answers(rows, outputs)) <= MAX_EXPRESSIONS
