"""The page on coverage by the clock says what is in its rows."""

from functools import cache
from statistics import median

import numpy as np
import pytest

from fuzz_targets import ROOT
from studies import results
from studies.fuzz import seconds, seconds_page
from studies.fuzz.__main__ import app
from studies.fuzz.compare import Versus, versus
from studies.fuzz.seconds_page import EARLY, FUZZERS, TARGETS

RESULTS = ROOT / "results/fuzz"
RIVALS = ("libfuzzer", "aflpp")


@cache
def rows():
    return seconds.by_fuzzer(results.read(RESULTS / "seconds.json"), 60.0)


@cache
def edges():
    return seconds_page.edges_of(rows())


@cache
def page():
    """The page without its breaks of lines."""
    return " ".join((ROOT / "docs/fuzz_seconds.md").read_text().split())


def at(target, fuzzer, moment):
    return median(seconds_page.edges_at(rows()[target, fuzzer], moment))


def made(edges, target="libpng", fuzzer="aloex", **more):
    """Rows of a fuzzer, a trial for each number of edges."""
    return [
        {
            **{"target": target, "fuzzer": fuzzer, "seconds": 60.0, "trial": trial},
            **{
                "edges": value,
                "executions": 600,
                "curve": [[30.0, 1, 1], [60.0, value, 9]],
                **more,
            },
        }
        for trial, value in enumerate(edges)
    ]


def test_the_page_and_its_figure_are_written_from_the_committed_rows(tmp_path):
    (tmp_path / "rows").mkdir()
    for name in ("seconds.json", "leave_one_out.json", "speed.json", "anatomy.json"):
        (tmp_path / "rows" / name).write_bytes((RESULTS / name).read_bytes())
    of = lambda name: str(tmp_path / "rows" / name)
    words = ["--results", of("seconds.json"), "--left-out", of("leave_one_out.json")]
    words += ["--speed", of("speed.json"), "--anatomy", of("anatomy.json")]
    app(["seconds-page", *words, "--out", str(tmp_path / "docs/p.md")], standalone_mode=False)
    assert (tmp_path / "docs/p.md").read_text() == (ROOT / "docs/fuzz_seconds.md").read_text()
    drawn = (tmp_path / "docs/images/fuzz/seconds.png").read_bytes()
    assert drawn == (tmp_path / "rows/seconds.png").read_bytes() and len(drawn) > 10_000
    assert "</svg>" in (tmp_path / "rows/seconds.svg").read_text()


def test_the_page_is_short():
    assert len((ROOT / "docs/fuzz_seconds.md").read_text().splitlines()) <= 150


@cache
def all_tests():
    """Of ours against the others, each p adjusted for all of them."""
    found = results.read(RESULTS / "seconds.json")
    times = seconds_page.durations(found)
    return seconds_page.tests_of({s: seconds.by_fuzzer(found, s) for s in times})


def test_who_is_ahead():
    """What the list says, by hand."""
    told = all_tests()
    assert len(told) == 6 * len({case[1] for case, _ in told})
    for ((target, after), _), test in told.items():
        assert test.p_value < 0.05 and test.a12 > 0.5
        if after == 60:
            assert (test.a12 == 1.0) == (target != "mpeg2dec")  # every trial above every other
    assert page().count("after 60 s Aloex is ahead of libFuzzer") == 3
    assert "not told apart from libFuzzer" not in page() and "behind" not in page()


def test_one_trial_of_libfuzzer_stood_still():
    """On mpeg2dec; the others say the same."""
    found = rows()["mpeg2dec", "libfuzzer"]
    early = lambda row: next(edges for at, edges, _ in row["curve"] if at == EARLY)
    (still,) = [row for row in found if row["edges"] == early(row)]
    assert still["edges"] == 931 and "at 931 edges" in page()
    others = [row["edges"] for row in found if row is not still]
    assert versus(edges()["mpeg2dec", "aloex"], others).p_value * 6 < 0.05


def test_all_come_near_the_same_ceiling_on_mpeg2dec_and_aloex_sooner():
    ends = [median(edges()["mpeg2dec", fuzzer]) for fuzzer in FUZZERS]
    assert max(ends) < 1.02 * min(ends)
    assert at("mpeg2dec", "aloex", EARLY) > 1.2 * max(at("mpeg2dec", r, EARLY) for r in RIVALS)


def test_how_they_were_started():
    for (target, fuzzer), some in rows().items():
        for words in (row["started"].split() for row in some):
            assert ("-fork=1" in words) == (fuzzer == "libfuzzer" and target != "libpng")
            assert ("-c" in words) == (fuzzer == "aflpp")
            dictionary = {"libfuzzer": "-dict=TARGET/tokens.dict", "aflpp": "TARGET/tokens.dict"}
            assert fuzzer == "aloex" or dictionary[fuzzer] in words
    assert {row["machine"] for some in rows().values() for row in some} == {"x86_64, 16 cores"}


def test_coverage_still_rises_at_the_end():
    rises = {key for key in rows() if at(*key, 60.0) > 1.01 * at(*key, 30.0)}
    assert rises >= {("openjpeg", fuzzer) for fuzzer in FUZZERS}


def test_what_each_guide_is_worth():
    """What the list says, by hand."""
    found = seconds.by_fuzzer(results.read(RESULTS / "leave_one_out.json"), 60.0)
    assert len(found) == 21 and {len(some) for some in found.values()} == {7, 8}
    worth = seconds.against_ours(seconds_page.edges_of(found), seconds_page.WHOLE)
    told = {(t, seconds_page.name_of(f)): v.a12 for (t, f), v in worth.items() if v.p_value < 0.05}
    assert set(told) == {
        ("openjpeg", "with a model"),
        ("mpeg2dec", "without `stack`"),
        ("mpeg2dec", "without `tokens`"),
    }
    assert min(told.values()) > 0.9  # all of them lower the coverage
    models = [some for (_, fuzzer), some in found.items() if "--model" in fuzzer]
    for model, target in zip(models, [some[0]["target"] for some in models], strict=True):
        whole = found[target, seconds_page.WHOLE]
        assert seconds_page.rate(model) < 0.5 * seconds_page.rate(whole)
        assert median(row["edges"] for row in model) < median(row["edges"] for row in whole)


@pytest.mark.parametrize(
    ("p_values", "said"),
    [
        ((0.049, 0.001), "ahead of libFuzzer (p 0.049) and AFL++ (p 0.001)"),
        ((0.05, 0.001), "not told apart from libFuzzer (p 0.05), ahead of AFL++ (p 0.001)"),
    ],
)
def test_words_for_a_test(p_values, said):
    case = ("libpng", 60.0)
    tests = {(case, r): Versus(p, 0.9) for r, p in zip(RIVALS, p_values, strict=True)}
    others = {(("mpeg2dec", 60.0), "aflpp"): Versus(0, 1), (("libpng", 9.0), "aflpp"): Versus(0, 1)}
    assert seconds_page.verdict(case, tests | others) == said
    assert seconds_page.verdict(case, {(case, "aflpp"): Versus(0.01, 0.5)})[:6] == "behind"
    lines = seconds_page.said([9.0, 60.0], tests | others)
    assert (
        lines[0]
        == f"**libpng:** after 9 s Aloex is ahead of AFL++ (p 0); after 60 s Aloex is {said}."
    )


def test_p_values_are_adjusted_for_all_of_the_page():
    """Each of four tests has p 0.1: all of three above all of three, in 20 orders."""
    some = [*made((4, 5, 6)), *(r for f in RIVALS for r in made((1, 2, 3), fuzzer=f))]
    some += [{**row, "seconds": 300.0} for row in some]
    found = {s: seconds.by_fuzzer(some, s) for s in seconds_page.durations(some)}
    assert {key: test.p_value for key, test in seconds_page.tests_of(found).items()} == {
        (("libpng", s), rival): pytest.approx(0.4) for rival in RIVALS for s in (60.0, 300.0)
    }


def test_a_table_of_times():
    speed = [
        {"case": "outside", "target": t, "trial": i, "outside": 0.1 * i, "costly": 0.01, **time}
        for t in TARGETS
        for i in (1, 2, 4)
        for time in [{"time_of_costly": 0.5}]
    ] + [{"case": "workers", "target": t, "trial": 1, "ratio": 1.756} for t in TARGETS]
    some = [r for t in TARGETS for r in made((1,), t, executions=900)]
    some += [r for t in TARGETS for r in made((1,), t, "libfuzzer", executions=600)]
    lines = seconds_page.times_table(speed, seconds.by_fuzzer(some, 60.0)).splitlines()[2:]
    cells = "20% | 1.0% take 50% | 1.76 | 1.50 |"
    assert lines == [f"| {name} | {cells}" for name in TARGETS.values()]


def test_what_one_reaches_and_the_other_does_not():
    function = lambda name, ours, theirs: {"name": name, "edges": 9, "ours": ours, "theirs": theirs}
    some = [function("a", 0, 2), function("b", 3, 0), function("c", 1, 5), function("d", 4, 4)]
    some += [function(name, 1, 2) for name in "efg"]
    rows = [{"target": "mpeg2dec", "both": 1234, "ours": 3, "theirs": 9, "functions": some}]
    rows += [{"target": "libpng", "both": 5, "ours": 0, "theirs": 0, "functions": []}]
    assert seconds_page.apart_table(rows).splitlines()[2:] == [
        "| libpng | 5 | 0 | 0 | 0 | 0 |",
        "| mpeg2dec | 1,234 | 3 | 9 | 1 | 1 |",
    ]
    assert [*seconds_page.apart_in_words(rows)] == [
        "libpng: none.",
        "mpeg2dec: `c` 5 against 1, `a` 2 against 0, `e` 2 against 1, `f` 2 against 1, and 1 more.",
    ]


def test_where_the_anatomy_was_done():
    rows = results.read(RESULTS / "anatomy.json")
    assert {row["target"] for row in rows} == {*TARGETS} and len(rows) == len(TARGETS)
    assert {row["machine"] for row in rows} == {"x86_64, 2 cores"}
    assert len({row["seconds"] for row in rows}) == 1


def test_a_table_of_what_is_left_out():
    some = made((3, 1), fuzzer="aloex:--sanitizer none")
    some += made((7,), "mpeg2dec", "aloex:--sanitizer none --leave-out stack")
    some += made((9, 8), fuzzer="aloex:--sanitizer none --model m/{target}.safetensors")
    found = seconds.by_fuzzer(some, 60.0)
    worth = seconds.against_ours(seconds_page.edges_of(found), seconds_page.WHOLE)
    assert seconds_page.left_out_table(found, worth).splitlines()[2:] == [
        "| as it is | 2 | – | – |",
        "| without `stack` | – | – | 7 |",
        "| with a model | 8.5 (p 0.33) | – | – |",
    ]
    told = {key: test._replace(p_value=0.01) for key, test in worth.items()}
    assert [*seconds_page.worth_in_words(told)] == [
        "libpng: with a model Aloex covers more edges (p 0.01)."
    ]
    assert [*seconds_page.worth_in_words(worth)] == []


def test_lines_of_the_figure():
    """A panel for each target and time with medians at each moment."""
    rows = [r for t in TARGETS for f in FUZZERS for r in made((1, 5, 6), t, f)]
    rows += [{**row, "seconds": 300.0} for row in rows]
    panels = seconds_page.figure(rows).axes
    assert [ax.get_title() for ax in panels] == 2 * [*TARGETS.values()]
    for ax in panels:
        assert [list(np.asarray(line.get_ydata())) for line in ax.lines] == [[1, 5]] * 3
        assert len({line.get_linestyle() for line in ax.lines}) == 3
        assert len({line.get_color() for line in ax.lines}) == 3
