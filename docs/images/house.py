"""Draws house.svg, the rooms of Aloex and who may import whom: `python docs/images/house.py`."""

from pathlib import Path

# Storeys from the roof to the ground; a room may use what lies below it, never what is beside it.
CORE = [
    [("baselines", "PCD, CD, ADE, likelihood, VAE")],
    [("learning", "Algorithm 1: f and q learn from each other; negatives, fit, Model")],
    [("mcmc", "chains of an energy: algorithms, warm-up, draws, their summary")],
    [("runs", "folders, checkpoints, devices"), ("metrics", "MMD, NLL, their errors")],
    [("log_z", "log Z: importance, annealed, SMC, RAISE; what each bounds")],
    [("proposals", "s_x: searches that end in x, and their weights")],
    [
        ("samplers", "q: q0, editor, stop"),
        ("kernels", "k_f: MCMC steps"),
        ("energies", "f"),
    ],
    [
        ("nets", "dense, recurrent, attention"),
        ("exact", "sums over all states"),
        ("differences", "f around x"),
    ],
    [
        ("cursor", "f at x"),
        ("trajectory", "a search"),
        ("diagnostics", "R-hat, ESS"),
        ("importance_weights", ""),
    ],
    [("spaces", "what x is: bits, categories, mixed columns, sequences")],
]
BASE = [("base", "errors, files, locks, signals, progress, pages: no JAX")]
APPS = {
    "fuzz": [
        ["report"],
        ["campaign"],
        ["bugs"],
        ["execute"],
        ["model", "target"],
        ["native"],
        ["inputs", "tools"],
    ],
    "fill": [["fill"], ["search", "tables", "export"], ["expressions"]],
    "programs": [["networks", "energy"], ["space", "tasks"], ["language"]],
    "synthetic": [["demo, draw"], ["train, evaluate"], ["methods"], ["data, density"]],
}
STUDIES = ["studies/", "tables, figures, pages;", "python -m studies.NAME ...;", "not in the wheel"]
WITH_JAX = {"model", "networks", "demo, draw", "train, evaluate", "methods", "data, density"}
JAX, LIGHT, ROOF, INK = "#dbe7f5", "#e2f0e0", "#f3e6d3", "#222222"
WIDTH, STOREY, GAP = 760, 34, 6
SIDE = 200  # of the column on the right
TOP = 24
APP_HEIGHT = 30 + 30 * max(map(len, APPS.values()))


def box(x: float, y: float, width: float, height: float, fill: str, name: str, says: str) -> str:
    """A room with its name and, in smaller letters, what is in it."""
    middle = y + height / 2 + 4.5
    name = f'<tspan font-weight="600">{name}</tspan>' if says else name
    words = f'{name}<tspan font-size="11" fill="#555555" dx="7">{says}</tspan>' if says else name
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}" '
        f'stroke="#8a8a8a"/>\n<text x="{x + width / 2:g}" y="{middle:g}" '
        f'text-anchor="middle">{words}</text>\n'
    )


def row(rooms: list[tuple[str, str]], y: float, fill: str, left: float = 20) -> str:
    """Rooms side by side on one storey."""
    share = (WIDTH + GAP) / len(rooms)
    return "".join(
        box(left + i * share, y, share - GAP, STOREY, fill, name, says)
        for i, (name, says) in enumerate(rooms)
    )


def app(name: str, storeys: list[list[str]], x: float, y: float, width: float) -> str:
    """An application: a house of its own, with its rooms."""
    drawn = box(x, y, width, APP_HEIGHT, "#ffffff", "", "")
    drawn += f'<text x="{x + 10:g}" y="{y + 19:g}" font-weight="600">apps/{name}</text>\n'
    for i, rooms in enumerate(storeys):
        share = (width - 14) / len(rooms)
        for j, room in enumerate(rooms):
            fill = JAX if room in WITH_JAX else LIGHT
            place = (x + 9 + j * share, y + 28 + i * 30, share - 4, 26)
            drawn += box(*place, fill, room, "")
    return drawn


def draw() -> str:
    """The whole picture."""
    y, drawn = TOP, ""
    drawn += row([("cli", "the aloex command: reads options, calls an application")], y, LIGHT)
    y += STOREY + GAP
    share = (WIDTH + GAP) / len(APPS)
    for i, (name, storeys) in enumerate(APPS.items()):
        drawn += app(name, storeys, 20 + i * share, y, share - GAP)
    y += APP_HEIGHT + GAP
    for rooms in CORE:
        drawn += row(rooms, y, JAX)
        y += STOREY + GAP
    drawn += row(BASE, y, LIGHT)
    bottom = y + STOREY
    x = WIDTH + 60
    drawn += box(x, TOP, SIDE, 220, ROOF, "", "")
    for i, line in enumerate(STUDIES):
        weight = 'font-weight="600"' if i == 0 else 'font-size="11"'
        at = f'x="{x + SIDE // 2}" y="{TOP + 90 + 19 * i}"'
        drawn += f'<text {at} text-anchor="middle" {weight}>{line}</text>\n'
    for way in (f"M{x - 4} {TOP + 110}H{WIDTH + 26}", f"M{x + 12} {TOP + 260}V{bottom}"):
        drawn += f'<path d="{way}" stroke="{INK}" marker-end="url(#tip)"/>\n'
    drawn += f'<text x="{x + 26}" y="{TOP + 290}">may import</text>\n'
    legend = [(JAX, "with JAX: aloex[learn]"), (LIGHT, "without JAX: plain install")]
    for i, (fill, words) in enumerate(legend):
        at = bottom - 60 + 26 * i
        drawn += box(x + 26, at, 16, 16, fill, "", "")
        drawn += f'<text x="{x + 48}" y="{at + 12.5:g}" font-size="11">{words}</text>\n'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + SIDE + 80} {bottom + 20}" '
        f'font-family="system-ui, DejaVu Sans, sans-serif" font-size="13" fill="{INK}">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{drawn}</svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw())
