"""Numbers, dates, times and durations that are found from two examples."""

import pytest

from aloex.apps.fill import Program
from aloex.apps.fill.fill.column import fill_column
from exported_programs import assert_same

# "cell + cell = output; ..."
TASKS = {
    "a number beside a date": (
        "2023-01-16 07:42 318.6 kWh = 07:00 319; "
        "2023-01-16 09:15 320.2 kWh = 09:00 320; "
        "2023-01-17 12:30 352.5 kWh = 12:00 353"
    ),
    "minutes": ("95 min = 1:35; 142 min = 2:22; 60 min = 1:00"),
    "seconds": ("3661 = 01:01:01; 754 = 00:12:34; 59 = 00:00:59"),
    "hours": ("1.5 = 1:30; 7.25 = 7:15; 0.75 = 0:45"),
    "to words": ("90 = 1h 30m; 135 = 2h 15m; 65 = 1h 5m"),
    "units left out": ("PT1H30M = 1 h 30 min; PT2H15M = 2 h 15 min; PT45M = 45 min"),
    "to minutes": ("2h 15m = 135; 1h 05m = 65; 0h 40m = 40"),
    "to seconds": ("1:02:03 = 3723; 0:12:34 = 754; 0:00:59 = 59"),
    "to quarters of an hour": ("7:52 = 7.75; 8:10 = 8.25; 4:31 = 4.50"),
    "in one cell": ("8:30 - 17:00 = 8.5; 9:00 - 12:45 = 3.75; 10:00 - 18:00 = 8"),
    "two times": ("8:30 + 17:15 = 8:45; 9:00 + 12:45 = 3:45; 22:00 + 6:30 = 8:30"),
    "two dates": (
        "T-1 + 2021-03-01 + 2021-03-04 = T-1: 3 d; "
        "T-2 + 2021-03-02 + 2021-03-12 = T-2: 10 d; "
        "T-3 + 2021-03-29 + 2021-04-02 = T-3: 4 d"
    ),
    "age": (
        "1990-05-12 + 2021-03-05 = 30; 1985-01-30 + 2021-03-05 = 36; 2000-03-05 + 2021-03-05 = 21"
    ),
    "later time": ("09:00 + 45 = 09:00-09:45; 10:30 + 90 = 10:30-12:00; 14:50 + 20 = 14:50-15:10"),
    "later by a duration": ("09:00 + 1h 30m = 10:30; 13:45 + 30m = 14:15; 22:00 + 2h = 00:00"),
    "later date": (
        "2021-03-05 + Net 30 = 04/04/2021; "
        "2021-04-10 + Net 14 = 04/24/2021; "
        "2021-12-20 + Net 20 = 01/09/2022"
    ),
    "half-year": (
        "2022-03-08 = Jan-Jun 2022; 2022-09-21 = Jul-Dec 2022; 2023-06-30 = Jan-Jun 2023"
    ),
    "half-year's number": ("2019-03-15 = H1 2019; 2019-08-02 = H2 2019; 2020-06-30 = H1 2020"),
    "half-month": ("2020-04-03 = Apr 1-15; 2020-04-21 = Apr 16-30; 2020-07-28 = Jul 16-31"),
    "24 hours": ("14:20 = 14-15 Uhr; 09:05 = 9-10 Uhr; 23:10 = 23-24 Uhr"),
    "shifts": ("07:35 = 06:00-14:00; 15:10 = 14:00-22:00; 03:48 = 22:00-06:00"),
    "week to Friday": ("2021-03-03 = 5 Mar; 2021-03-09 = 12 Mar; 2021-04-03 = 9 Apr"),
    "hour with seconds": (
        "2023-04-11 13:27:55 = 2023-04-11 13:00:00; "
        "2023-04-11 14:02:10 = 2023-04-11 14:00:00; "
        "2023-04-30 17:45:08 = 2023-04-30 17:00:00"
    ),
    "four digits": ("0830 = 8:30 AM; 1415 = 2:15 PM; 0005 = 12:05 AM"),
    "month's number": ("3 + 2021 = Mar 2021; 11 + 2020 = Nov 2020; 8 + 2019 = Aug 2019"),
    "spreadsheet": ("44260 = 05.03.2021; 43831 = 01.01.2020; 44562 = 01.01.2022"),
    "Unix": ("1614953000 = 2021-03-05; 1609459200 = 2021-01-01; 1622540000 = 2021-06-01"),
    "letters read": ("1.2K = 1200; 15.7K = 15700; 3M = 3000000; 842 = 842"),
    "letters written": ("1234567 = 1.2M; 845300 = 845.3K; 2500 = 2.5K; 912 = 912"),
    "units": ("1.5 GB = 1500 MB; 320 MB = 320 MB; 500 KB = 0.5 MB"),
    "ranges in thousands": ("31200 = 25k-50k; 76000 = 75k-100k; 54999 = 50k-75k"),
    "ordinals": ("Floor 2 = 2nd floor; Floor 13 = 13th floor; Floor 21 = 21st floor"),
    "century": ("1843 = 19th century; 1912 = 20th century; 2004 = 21st century"),
    "sum": ("34 + 18 + 25 = 77; 28 + 20 + 30 = 78; 31 + 12 + 0 = 43"),
    "mean": ("4 + 5 + 6 = 5.0; 3 + 3 + 4 = 3.3; 1 + 2 + 2 = 1.7"),
    "change": ("40.00 + 44.00 = +10%; 25.00 + 20.00 = -20%; 80.00 + 92.00 = +15%"),
    "discount": (
        "50.00 + 10% = 45.00; 80.00 + 25% = 60.00; 64.00 + 25% = 48.00; 200.00 + 5% = 190.00"
    ),
    "tax": ("100.00 + 19% = 119.00; 50.00 + 7% = 53.50; 200.00 + 19% = 238.00"),
    "thousands, no decimals": (
        "125 = 125,000; 48.5 = 48,500; 7 = 7,000; 95 = 95,000; 1200 = 1,200,000"
    ),
}


@pytest.mark.parametrize("name", TASKS)
def test_it_is_found_from_two_examples(name):
    pairs = [line.split(" = ") for line in TASKS[name].split("; ")]
    rows, outputs = [tuple(cells.split(" + ")) for cells, _ in pairs], [each for _, each in pairs]
    columns = [f"column {i}" for i in range(len(rows[0]))]
    filled = fill_column(rows, [*outputs[:2], *[None] * (len(rows) - 2)], columns)
    assert filled.values == outputs, filled.program.explain()
    again = Program.from_json(filled.program.to_json())
    assert [again.run(row) for row in rows] == outputs
    assert_same(filled.program, rows)
