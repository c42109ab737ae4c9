"""The page of a report: one file that needs nothing else, in light and dark, wide and narrow."""

from pathlib import Path
from typing import Any

from aloex import __version__
from aloex.apps.fuzz.campaign import Record, clock
from aloex.apps.fuzz.report import charts
from aloex.base.html import html_page, render
from aloex.base.words import count

FOLDER = Path(__file__).parent
REFRESH = 60  # seconds after which the page of a campaign that runs loads itself again
MAX_FILES, MAX_FRAMES = 40, 12  # source files, and frames of a stack, that are shown
HASHES = ("library", "seeds", "tokens")  # settings that say nothing to a reader


def page(record: Record, numbers: dict[str, Any], *, is_final: bool) -> str:
    """The page of a campaign with these numbers."""
    of_seeds = numbers["edges_of_seeds"]
    curve = lambda label, points, is_log: charts.curve_chart(
        f"edges over {label}", label, points, dashed=of_seeds, is_log=is_log
    )
    body = render(
        (FOLDER / "report.html.j2").read_text(),
        n=numbers,
        is_final=is_final,
        max_frames=MAX_FRAMES,
        clock=clock,
        bugs=sorted(numbers["bugs"], key=lambda bug: -bug["inputs"]),
        operators=with_bars(numbers["operators"]),
        at_once=with_bars(numbers["operators_at_once"]),
        sources=numbers["sources"][:MAX_FILES],
        other_sources=numbers["sources"][MAX_FILES:],
        settings=shown_settings(numbers),
        count=count,
        short=short,
        over_inputs=curve("inputs", [(x.inputs, x.edges) for x in record.curve], True),
        over_time=curve("seconds", [(x.seconds, x.edges) for x in record.curve], False),
    )
    css = charts.CSS + (FOLDER / "report.css").read_text()
    return html_page(f"Fuzzing {numbers['target']}", body, css, refresh=0 if is_final else REFRESH)


def shown_settings(numbers: dict[str, Any]) -> dict[str, Any]:
    """The settings that say something to a reader, then the versions."""
    settings = {name: x for name, x in numbers["settings"].items() if name not in HASHES}
    settings["guides"] = [guide.lower() for guide in settings["guides"]]
    return {**settings, "Aloex": __version__, "Python": numbers["versions"]["python"]}


def short(file: str) -> str:
    """A path in a narrow column: of one outside the target's folder, its end."""
    parts = Path(file).parts
    return (
        file if not Path(file).is_absolute() or len(parts) <= 3 else "/".join(("...", *parts[-2:]))
    )


def with_bars(arms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Operators with the length of a bar: their share of the largest share."""
    longest = max((arm["share"] for arm in arms), default=0) or 1
    return [{**arm, "bar": round(100 * arm["share"] / longest)} for arm in arms]
