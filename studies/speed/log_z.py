"""Exact log Z of the paper's energy over 2^32 states, in TF32 and in float32."""

import time
from pathlib import Path

import equinox as eqx
import jax

from aloex import energies, exact, spaces
from studies.results import save


def log_z(out: Path, num_bits: int = 32) -> None:
    """Both precisions, into log_z.json."""
    space = spaces.Bits(num_bits)
    f = energies.MLP(space, key=jax.random.key(0))
    f = jax.tree.map(lambda a: 2 * a if eqx.is_inexact_array(a) else a, f)  # some contrast
    rows = []
    exact.streamed_log_z(f, space)  # compile
    for precision in ("tensorfloat32", "highest"):
        begin = time.perf_counter()
        value = exact.streamed_log_z(f, space, precision=precision)
        seconds = time.perf_counter() - begin
        row = {
            "precision": "float32" if precision == "highest" else precision,
            "device": jax.devices()[0].device_kind,
            "log_z": value,
            "seconds": round(seconds, 2),
            "compiled_before": precision == "tensorfloat32",
        }
        print(row, flush=True)
        rows.append(row)
    rows[0]["error_against_float32"] = abs(rows[0]["log_z"] - rows[1]["log_z"])
    save(out / "log_z.json", rows, keys=("precision", "device"))
