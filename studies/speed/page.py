"""Write docs/speed.md from the rows in results/speed: `python -m studies.speed.page`."""

from pathlib import Path

from studies.results import markdown, read

ROOT = Path(__file__).parents[2]

TEXT = """# Speed

One step of ALOE on 32 bits with the paper's networks: batch 128, `N = 10` trajectories, at most
16 edits, one Gibbs sweep, Adam with clipped gradients. The peer is the same step in plain PyTorch,
eager, laid out as the paper's authors have it (`studies/speed/peer_torch.py`); ours and the peer's
steps alternate in one run. On a GPU both use TF32. The ratio is per problem: seven problems at once
count seven times.

{compare}

Made by `make bench` (the CPU rows) and `python -m studies.speed.speed` on a machine with a GPU. The
CPU was a shared one, so only ratios are shown for it.

What the rows say:

- On a CPU both sides spend most of their time in the same matrix products, so the ratio is about
  the arithmetic that is saved, not about compilation. **With a factorized q0 it is short of the
  factor of 3 that we aim at.** With the MLP q0, shared prefixes save more.
- On a GPU the peer waits for kernel launches. Seven problems under `vmap` take less than twice the
  time of one.
- q0 in bfloat16 keeps parameters in float32 and rounds activations; it is a setting
  (`AutoregressiveMLP(dtype=...)`), not the default.

## How step time grows

Factorized q0, one size changed at a time, the others as above (categories: 8 sites). The exponent
is the slope of log time over log size; the last column is what the arithmetic demands in the long
run. (Lengths of trajectories are geometric, so with `max_edits` their mean grows from 0.84 at 4 to
1 at 32: that, not padding, is its exponent.)

{scaling}

Made by `python -m studies.speed.speed --scaling`.

## Exact log Z over 2^32 states

The paper's energy, every one of the 2^32 states visited.

{log_z}

Made by `python -m studies.speed.speed --log-z`. The float32 row includes its compilation.

## Fuzzing

Mutants of libpng's seeds, 100 edits each. `exact` draws the edits one after the other from the
energy, each given all around it, for many files at once; its peer does one file at a time. `table`
draws them from laws that are computed once and kept; its peer draws any byte. `executor` runs them
in isolated processes with a shared map of coverage; its peer starts libFuzzer's binary for each.

{fuzz}

Made by `python -m studies.speed.fuzz MODEL`, with a model of `aloex fuzz learn --method aloe`.
"""


def render() -> str:
    """The page."""
    rows = lambda name: read(ROOT / "results/speed" / name)
    ms = lambda row, key: "" if row["device"].startswith("cpu") else f"{row[key]:.2f}"
    compare = [
        (r["case"], r["device"], ms(r, "ours_ms"), ms(r, "peer_ms"), f"{r['ratio']:.1f}")
        for r in sorted(rows("summary.json"), key=lambda r: r["device"], reverse=True)
    ]
    listed = lambda values: ", ".join(f"{v:.3g}" for v in values)
    exponents = lambda row: (row["exponent"], row["demanded"])
    scaling = [
        (r["what"], listed(r["values"]), listed(t / r["ms"][0] for t in r["ms"]), *exponents(r))
        for r in rows("scaling.json")
    ]
    log_z = [
        (r["precision"], r["device"], f"{r['log_z']:.6f}", r["seconds"]) for r in rows("log_z.json")
    ]
    whole = lambda row, key: "" if row["device"].startswith("cpu") else f"{row[key]:,}"
    ratio = lambda row: f"{row['ratio']:,.0f}" if row["ratio"] > 100 else f"{row['ratio']:.2g}"
    fuzz = [
        (r["case"], r["device"], whole(r, "ours"), whole(r, "peer"), ratio(r))
        for r in rows("fuzz.json")
    ]
    error = max(r.get("error_against_float32", 0) for r in rows("log_z.json"))
    return TEXT.format(
        compare=markdown(("case", "device", "ours, ms", "PyTorch, ms", "ratio"), compare),
        scaling=markdown(("size", "values", "relative time", "exponent", "demanded"), scaling),
        log_z=markdown(("precision", "device", "log Z", "seconds"), log_z)
        + f"\n\nThe error of TF32 against float32 is {error:.1e} nats.",
        fuzz=markdown(("", "device", "ours in a second", "peer in a second", "ratio"), fuzz),
    )


if __name__ == "__main__":
    (ROOT / "docs/speed.md").write_text(render())
