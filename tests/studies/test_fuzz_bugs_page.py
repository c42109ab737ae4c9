"""The page on planted bugs says what is in its rows."""

import re
from collections import Counter
from math import inf

import pytest
from matplotlib.colors import to_hex
from scipy.stats import mannwhitneyu

from aloex.base.errors import InputError
from fuzz_targets import ROOT
from studies import results
from studies.fuzz import bugs_page, old_library, planted
from studies.fuzz.__main__ import app
from studies.fuzz.faults import OLD, PLANTED
from studies.fuzz.seconds import KEYS
from studies.fuzz.seconds_page import FUZZERS, STYLES

ROWS, PAGE = ROOT / "results/fuzz/bugs.json", ROOT / "docs/fuzz_planted.md"
SECONDS = 20.0  # of the rows on the page
HARNESSES = [planted.HOME / name / "harness.c" for name in planted.NAMES]
ALL = [fault for faults in PLANTED.values() for fault in faults]
STARTED = {
    "aloex": "python -m aloex fuzz run TARGET --seed {seed}",
    "libfuzzer": "libfuzzer -seed={seed} TARGET/seeds",
    "aflpp": "afl-fuzz -s {seed} -- TARGET/rivals/afl",
}


def row(target, fuzzer, trial, found, **more):
    numbers = {"target": target, "fuzzer": fuzzer, "seconds": 60.0, "trial": trial, "found": found}
    told = {"reported": len(found), "split": 0, "merged": 0} if fuzzer == "aloex" else {}
    versions = {"aloex": "9.8"} | ({"afl-fuzz": "7.6c"} if fuzzer == "aflpp" else {})
    numbers |= {"started": STARTED[fuzzer].format(seed=1 + trial), "versions": versions}
    source = {"machine": "a machine", "command": "python -m studies.fuzz bugs --cores 0"}
    return {**source, **numbers, **told, **more}


def made(hit, sets=PLANTED, trials=8):
    """Rows in which every trial of a fuzzer hits some faults, each at a second."""
    return [
        row(target, fuzzer, trial, {f: at for f, at in hit[fuzzer].items() if f in faults})
        for target, faults in sets.items()
        for fuzzer in FUZZERS
        for trial in range(trials)
    ]


def same(*names, at=3.0):
    """What is hit if all fuzzers hit the same."""
    return {fuzzer: dict.fromkeys(names, at) for fuzzer in FUZZERS}


def rendered(rows):
    """The page without its breaks of lines."""
    return " ".join(bugs_page.render(rows, 60.0).split())


def test_the_command_writes_the_page_and_its_figure(tmp_path):
    path, page = tmp_path / "rows/bugs.json", tmp_path / "docs/p.md"
    rows = made(same(*ALL)) + made(same(*OLD["cares"]), OLD)
    results.save(path, rows, KEYS)
    app(["bugs-page", "--results", str(path), "--out", str(page)], standalone_mode=False)
    assert page.read_text() == bugs_page.render(results.read(path), 60.0)
    assert len(page.read_text().splitlines()) <= 150
    drawn = (tmp_path / "docs/images/fuzz/planted.png").read_bytes()
    assert drawn == (tmp_path / "rows/planted.png").read_bytes() and len(drawn) > 10_000
    assert "</svg>" in (tmp_path / "rows/planted.svg").read_text()


def test_the_page_is_written_from_the_committed_rows():
    assert PAGE.read_text() == bugs_page.render(results.read(ROWS), SECONDS)
    assert len(PAGE.read_text().splitlines()) <= 150


def test_rows_name_no_path_of_a_machine():
    for row in results.read(ROWS):
        assert "/" not in row["versions"]["source"] + row["started"].split()[0]


def test_how_they_were_started():
    """As the text says: with forks, with a log of compares, without dictionary and options."""
    found = bugs_page.shown(results.read(ROWS), SECONDS)
    assert {fuzzer for _, fuzzer in found} == set(FUZZERS)
    for (_, fuzzer), some in found.items():
        for words in (row["started"].split() for row in some):
            assert ("-fork=1" in words) == (fuzzer == "libfuzzer")
            assert ("-c" in words) == ("TARGET/rivals/afl" in words) == (fuzzer == "aflpp")
            assert "-x" not in words and not any("dict" in word for word in words)
            assert fuzzer != "aloex" or "--sanitizer" not in words


def test_every_fault_is_described_once():
    assert {name: {*faults} for name, faults in PLANTED.items()} == {
        path.parent.name: {*planted.faults(path)} for path in HARNESSES
    }
    assert len({*ALL}) == len(ALL)
    assert {name: {*faults} for name, faults in OLD.items()} == {
        name: {*old_library.known(name).values()} for name in old_library.NAMES
    }


def test_what_the_text_says_of_the_targets():
    text = "".join(path.read_text() for path in HARNESSES)
    places = Counter(re.findall(r'\bFAULT\("(\w+)"', text))
    assert {name for name, number in places.items() if number > 1} == {"undone", "parent"}
    assert max(len(path.read_text().splitlines()) for path in HARNESSES) <= 160


def test_numbers_of_a_fault_and_of_a_fuzzer():
    """8 trials of Aloex, the first without a hit; the median of 8 is between two of them."""
    rows = made({"aloex": {"run": 5.0, "list": 1.0}, "libfuzzer": {}, "aflpp": {"run": 2.5}})
    first, *rest = [r for r in rows if (r["target"], r["fuzzer"]) == ("tiles", "aloex")]
    first["found"] = {}
    for trial, other in enumerate(rest, start=1):
        other["found"] = {"run": float(trial)}
    others = row("tiles", "aloex", 0, {"run": 0.5}), row("libpng", "aloex", 0, {})
    others[0]["fuzzer"] = "aloex:--keep 1"  # a variant, which the page is not about
    page = rendered([*rows, *({**r, "command": "of others"} for r in others)])
    run = PLANTED["tiles"]["run"]
    assert f"| tiles | `run` | {run} | 7 of 8, 4.5 s | 0 of 8 | 8 of 8, 2.5 s |" in page
    assert "| Aloex | 1.9 | 1 to 2 | 8 | | |" in page
    assert "| libFuzzer | 0.0 | 0 to 0 | 8 | " in page and "of the 19 planted faults" in page
    assert "Versions: Aloex 9.8, AFL++ 7.6c. Machine: a machine." in page
    assert page.count("python -m studies.fuzz bugs --cores 0") == 1 and "of others" not in page


@pytest.mark.parametrize(
    ("ours", "libfuzzer", "aflpp", "said"),
    [
        (5, 3, 3, "ahead of libFuzzer (p {0}) and AFL++ (p {0})"),
        (3, 5, 5, "behind libFuzzer (p {0}) and AFL++ (p {0})"),
        (4, 5, 3, "behind libFuzzer (p {0}), ahead of AFL++ (p {0})"),
        (4, 4, 3, "not told apart from libFuzzer (p 1), ahead of AFL++ (p {0})"),
        (4, 5, 4, "behind libFuzzer (p {0}), not told apart from AFL++ (p 1)"),
    ],
)
def test_who_is_ahead(ours, libfuzzer, aflpp, said):
    """All trials of one above all of the other; by Holm p is doubled for the smaller of two."""
    p_value = 2 * mannwhitneyu([5] * 8, [3] * 8).pvalue
    number = {"aloex": ours, "libfuzzer": libfuzzer, "aflpp": aflpp}
    page = rendered(made({f: dict.fromkeys(ALL[:n], 3.0) for f, n in number.items()}))
    assert f"**Planted faults:** Aloex is {said.format(f'{p_value:.2g}')}." in page
    assert "for the 2 such comparisons" in page


def test_single_faults_are_ahead_behind_or_level():
    hit = same("run", "list", "name", at=9.0)
    hit["aloex"] |= {"list": 8.0, "name": 9.5, "faces": 60.0}
    hit["libfuzzer"] |= {"again": 1.0, "run": 8.0}
    page = rendered(made(hit))
    assert (
        "- Beside libFuzzer: ahead at 2 (`list`, `faces`), behind at 2 (`run`, `again`), "
        "level at 15. - Beside AFL++: ahead at 2 (`list`, `faces`), behind at none, level at 17."
    ) in page


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([9.0, 9.0, inf], [1.0, inf, inf], 1),
        ([1.0, inf], [50.0, 60.0, 60.0], -1),
        ([1.0, inf], [9.0, inf], 0),  # neither has a median
        ([1.0, 2.0], [1.5, 2.5], 0),
        ([1.0, 2.0], [1.5, 3.0], 1),
        ([1.5, 3.0], [1.0, 2.0], -1),
        ([inf], [inf, inf], 0),
    ],
)
def test_more_trials_count_before_seconds(ours, theirs, expected):
    assert bugs_page.standing(ours, theirs) == expected


def test_what_nobody_hits_is_said():
    assert "- Each fault is hit by some fuzzer." in rendered(made(same(*ALL)))
    page = rendered(made(same(*ALL[2:])))
    assert "- Hit by no fuzzer in any trial: `histogram`, `keyword`." in page
    histogram = PLANTED["tiles"]["histogram"]
    assert f"| tiles | `histogram` | {histogram} | 0 of 8 | 0 of 8 | 0 of 8 |" in page


def test_the_old_library_is_left_out_without_rows():
    rows = made(same(*ALL))
    page = rendered(rows)
    assert "cares" not in page and "CVE" not in page and "old library" not in page
    hit = {"aloex": {}, "libfuzzer": {"CVE-2016-5180": 2.0}, "aflpp": {}}
    page = rendered(rows + made(hit, OLD))
    p_value = 4 * mannwhitneyu([0] * 8, [1] * 8).pvalue
    said = f"Aloex is behind libFuzzer (p {p_value:.2g}), not told apart from AFL++ (p 1)."
    assert f"**The old library:** {said}" in page and "for the 4 such comparisons" in page
    assert "| 0 of 8 | 8 of 8, 2 s | 0 of 8 |" in page and "behind at 1 (`CVE-2016-5180`)" in page
    assert "Hit by no fuzzer in any trial: `CVE-2017-1000381`." in page
    assert "fuzz plant cares" in page and "pycares 2.0.1" in page


def test_other_failures_are_told_without_their_numbers():
    rows = made(same(*ALL))
    assert rendered(rows).count("No other failure was seen.") == 1
    shifts = [f"left shift of {n} by 24 places in a_2.c" for n in (200, 201)]
    rows[0]["found"] |= dict.fromkeys(shifts, 1.0)
    rows[1]["found"] |= {shifts[1]: 1.0, "SEGV in show": 2.0}
    page = rendered(rows)
    assert "- tiles, `SEGV in show`: Aloex in 1 of 8 trials" in page
    assert "- tiles, `left shift of N by N places in a_2.c`: Aloex in 2 of 8 trials" in page
    assert "No other failure" not in page


def test_bugs_told_apart():
    rows = made(same("run", "list", "faces"))
    mine = [r for r in rows if (r["target"], r["fuzzer"]) == ("tiles", "aloex")]
    mine[0] |= {"reported": 5, "split": 1}
    mine[1] |= {"split": 2, "merged": 1, "found": {"SEGV in show": 1.0}}
    page = rendered(rows)
    assert "| tiles | 8 | 0.9 | 1.5 | 0.4 | 0.1 |" in page
    assert "| ledger | 8 | 0.0 | 0.0 | 0.0 | 0.0 |" in page
    assert "In 2 of 40 runs of 60 s a fault is split, in 1 some are merged." in page


def test_trials_that_lack_a_target_are_not_counted():
    rows = made(same(*ALL))
    page = rendered([r for r in rows if (r["target"], r["trial"]) != ("mesh", 0)])
    assert "| Aloex | 19.0 | 19 to 19 | 7 |" in page
    with pytest.raises(InputError, match=r"no trial of aflpp with 60 s has rows of tiles, .*mesh;"):
        rendered([r for r in rows if (r["target"], r["fuzzer"]) != ("mesh", "aflpp")])
    with pytest.raises(InputError, match="no trial of aloex with 9 s"):
        bugs_page.render(rows, 9.0)


def test_how_a_fuzzer_was_started_without_what_differs():
    text = bugs_page.render(made(same(*ALL)), 60.0)
    block = "\n".join(STARTED[fuzzer].format(seed="…") for fuzzer in FUZZERS)
    assert f"```text\n{block}\n```" in text
    lines = [{"fuzzer": "aflpp", "started": s} for s in ("a -G 40 x1", "a -G 50 y1", "a -G 40")]
    assert bugs_page.started(lines, "aflpp") == ["a -G … …", "a -G 40"]


def test_each_fault_is_in_the_figure():
    """A line for the range and a mark at the median: open, at the edge, where most miss it."""
    rows = made(same(*ALL, at=4.0)) + made(same(*OLD["cares"]), OLD)
    for r in rows[:8:2]:  # half of Aloex's trials on the first target
        r["found"] = {"keyword": 8.0}
    axes = bugs_page.figure(rows, 60.0).axes
    assert [ax.get_title(loc="left") for ax in axes] == [*PLANTED, *OLD]
    labels = [label.get_text() for ax in axes for label in ax.get_yticklabels()]
    assert labels == [*ALL, *OLD["cares"]]
    marks = [line for line in axes[0].lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert [mark.get_xdata()[0] for mark in marks] == [96.0, 6.0, 96.0, 96.0]
    fills = [to_hex(mark.get_markerfacecolor()).upper() for mark in marks]
    assert fills == ["#FFFFFF", STYLES["aloex"]["color"], "#FFFFFF", "#FFFFFF"]
    ranges = [[*map(float, line.get_xdata())] for line in axes[0].lines if line.get_ls() == "-"]
    assert [4.0, 96.0] in ranges and [4.0, 8.0] in ranges
    without = bugs_page.figure(made(same()), 60.0).axes
    assert [ax.get_title(loc="left") for ax in without] == [*PLANTED]
