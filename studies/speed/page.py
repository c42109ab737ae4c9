"""The page on speed, docs/speed.md, from the committed rows."""

from pathlib import Path
from typing import Any

from studies.results import markdown, read
from studies.speed import kernels_page
from studies.speed.growth import exponent
from studies.template import fill

Row = dict[str, Any]
FACTORIZED, MLP = "factorized q0 + editor", "mlp q0 + editor"
SEVEN = f"{MLP}, 7 problems at once"


def render(results: Path) -> str:
    """The page."""
    rows = lambda name: read(results / name)
    compared, log_z = rows("summary.json"), rows("log_z.json")
    return fill(
        Path(__file__).with_name("page.md.j2"),
        compare=_compare(compared),
        on_cpu=_on_cpu(compared),
        on_gpu=_on_gpu(compared),
        seven=seven(compared),
        scaling=_scaling(rows("scaling.json")),
        kernels=kernels_page.values(rows("kernels.json")),
        log_z=_log_z(log_z),
        error=f"{max(row.get('error_against_float32', 0) for row in log_z):.1e}",
        fuzz=_fuzz(rows("fuzz.json")),
    )


def on(rows: list[Row], *, cpu: bool) -> dict[str, Row]:
    """The rows of a CPU or of a GPU, by case."""
    return {row["case"]: row for row in rows if row["device"].startswith("cpu") == cpu}


def seven(rows: list[Row]) -> str:
    """The time of seven problems at once on a GPU, in times that of one."""
    of = on(rows, cpu=False)
    return f"{of[SEVEN]['ours_ms'] / of[MLP]['ours_ms']:.1f}"


def _on_cpu(rows: list[Row]) -> dict[str, str] | None:
    """What the text says of the vectorised peer on a CPU, once it was measured there."""
    of = on([row for row in rows if "vectorised_ratio" in row], cpu=True)
    if not {FACTORIZED, MLP} <= set(of):
        return None
    ratio = lambda case: f"{of[case]['vectorised_ratio']:.1f}"
    return {"factorized": ratio(FACTORIZED), "mlp": ratio(MLP)}


def _on_gpu(rows: list[Row]) -> dict[str, str] | None:
    """The same of a GPU: the smallest ratio of all."""
    of = on(rows, cpu=False)
    if not of or not all("vectorised_ratio" in row for row in of.values()):
        return None
    ratios = [row[name] for row in of.values() for name in ("ratio", "vectorised_ratio")]
    return {"least": f"{int(min(ratios))}"}


def _is_cpu(row: Row) -> bool:
    return row["device"].startswith("cpu")


def _compare(rows: list[Row]) -> str:
    ms = lambda row, key: "" if _is_cpu(row) else f"{row[key]:.2f}" if key in row else "–"
    ratio = lambda row, key: f"{row[key]:.1f}" if key in row else "–"
    head = ("case", "device", "ours, ms", "authors' layout, ms", "ratio", "vectorised, ms", "ratio")
    peers = (("peer_ms", "ratio"), ("vectorised_ms", "vectorised_ratio"))
    lines = [
        [r["case"], r["device"], ms(r, "ours_ms")]
        + [cell for time, times in peers for cell in (ms(r, time), ratio(r, times))]
        for r in sorted(rows, key=lambda r: r["device"], reverse=True)
    ]
    return markdown(head, lines)


def _scaling(rows: list[Row]) -> str:
    listed = lambda values: ", ".join(f"{v:.3g}" for v in values)
    lines = [
        (
            r["what"],
            listed(r["values"]),
            listed(t / r["ms"][0] for t in r["ms"]),
            str(exponent(r["values"], r["ms"])),
            r["demanded"],
        )
        for r in rows
    ]
    return markdown(("size", "values", "relative time", "exponent", "demanded"), lines)


def _log_z(rows: list[Row]) -> str:
    lines = [(r["precision"], r["device"], f"{r['log_z']:.6f}", r["seconds"]) for r in rows]
    return markdown(("precision", "device", "log Z", "seconds"), lines)


def _fuzz(rows: list[Row]) -> str:
    whole = lambda row, key: "" if _is_cpu(row) else f"{row[key]:,}"
    ratio = lambda row: f"{row['ratio']:,.0f}" if row["ratio"] > 100 else f"{row['ratio']:.2g}"
    lines = [(r["case"], r["device"], whole(r, "ours"), whole(r, "peer"), ratio(r)) for r in rows]
    return markdown(("", "device", "ours in a second", "peer in a second", "ratio"), lines)
