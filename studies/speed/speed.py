"""Time of one ALOE step on 32 bits against the same step in plain PyTorch, in one run.

    python -m studies.speed.speed            # the peer comparison on this machine's device
    python -m studies.speed.speed --scaling  # how step time grows with each size
    python -m studies.speed.speed --log-z    # exact log Z over all 2^32 states, on a GPU

Rows go to results/speed/. On a CPU both sides get two threads. Ours and the peer's steps alternate
in blocks, so both see the same noise, and the ratio is that of the medians.
"""

import argparse
import os
import shutil
import statistics
import time
from pathlib import Path

# Without a GPU, two threads for everyone. Set before JAX starts its own.
if hasattr(os, "sched_setaffinity") and shutil.which("nvidia-smi") is None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from aloex import energies, exact, kernels, proposals, samplers, spaces
from aloex.learning.aloe import ALOE, State
from studies.results import save

RESULTS = Path(__file__).parents[2] / "results" / "speed"
BATCH, DIM = 128, 32


def learner(space, *, num_trajectories: int = 10, max_edits: int = 16) -> ALOE:
    """The paper's settings, its proposal without repeated positions included."""
    proposal = proposals.Inverse(space=space, max_edits=max_edits, repeats=False)
    return ALOE(kernels.Gibbs(space), proposal, num_trajectories=num_trajectories)


def models(key, space, q0: str = "factorized", max_edits: int = 16, **q0_settings):
    """The paper's networks."""
    keys = jax.random.split(key, 4)
    bits = isinstance(space, spaces.Bits)
    start = samplers.Factorized if q0 == "factorized" else samplers.AutoregressiveMLP
    editor = samplers.Flip if bits else samplers.PositionValue
    q = samplers.LocalSearch(
        start(space, key=keys[0], **q0_settings),
        editor(space, key=keys[1]),
        samplers.Stop(space, key=keys[2]),
        max_edits=max_edits,
    )
    return energies.MLP(space, key=keys[3]), q


class Ours:
    """A compiled step for `num_problems` problems at once under vmap, as a program runs it."""

    def __init__(self, num_problems: int = 1, *, space=None, batch=BATCH, n=10, max_edits=16, **q):
        space = space or spaces.Bits(DIM)
        aloe = learner(space, num_trajectories=n, max_edits=max_edits)
        keys = jax.random.split(jax.random.key(0), num_problems)
        state = eqx.filter_vmap(lambda k: aloe.init(*models(k, space, max_edits=max_edits, **q)))(
            keys
        )
        draw = jax.vmap(jax.vmap(space.sample))
        x = draw(jax.random.split(jax.random.key(1), (num_problems, batch)))
        if num_problems == 1:
            state, x = jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, (state, x))
        self.arrays, static = eqx.partition(state, eqx.is_array)

        def step(key, arrays):
            state: State = eqx.combine(arrays, static)
            if num_problems == 1:
                state, info = aloe.step(key, state, x)
            else:
                keys = jax.random.split(key, num_problems)
                state, info = eqx.filter_vmap(aloe.step)(keys, state, x)
            return eqx.filter(state, eqx.is_array), info

        self.step = jax.jit(step, donate_argnums=1)
        self.keys = jax.random.split(jax.random.key(2), 64)

    def run(self, num_steps: int) -> float:
        """Milliseconds per step."""
        begin = time.perf_counter()
        for i in range(num_steps):
            self.arrays, info = self.step(self.keys[i % 64], self.arrays)
        jax.block_until_ready((self.arrays, info))
        return 1e3 * (time.perf_counter() - begin) / num_steps


class Peer:
    """The same step in PyTorch, eager (studies/speed/peer_torch.py)."""

    def __init__(self, q0: str, device: str):
        import torch
        from peer_torch import Step

        torch.manual_seed(0)
        torch.set_num_threads(2)
        torch.set_float32_matmul_precision("high")  # TF32 on a GPU, as JAX has it there
        self.torch, self.step = torch, Step(q0=q0, device=device)
        self.x = torch.randint(2, (BATCH, DIM), device=device).float()

    def run(self, num_steps: int) -> float:
        """Milliseconds per step."""
        begin = time.perf_counter()
        for _ in range(num_steps):
            self.step(self.x)
        if self.x.is_cuda:
            self.torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - begin) / num_steps


def alternate(ours: Ours, peer: Peer, num_blocks: int, steps: tuple[int, int]):
    """Median milliseconds of ours and of the peer, run in turns."""
    ours.run(3), peer.run(3)  # compile, warm up
    times = [(ours.run(steps[0]), peer.run(steps[1])) for _ in range(num_blocks)]
    return tuple(statistics.median(t) for t in zip(*times, strict=True))


def compare() -> None:
    """All cases of this machine's device, into results/speed/summary.json."""
    if jax.default_backend() == "cpu":
        device, torch_device, blocks, steps = "cpu, 2 threads", "cpu", 11, {"factorized": (8, 4)}
        cases = [
            ("factorized q0 + editor", "factorized", 1, {}),
            ("mlp q0 + editor", "mlp", 1, {}),
        ]
    else:
        device, torch_device, blocks = jax.devices()[0].device_kind, "cuda", 7
        steps = {"factorized": (50, 10), "mlp": (20, 5)}
        wide = {"lookahead": 2}
        cases = [
            ("factorized q0 + editor", "factorized", 1, {}),
            ("mlp q0 + editor", "mlp", 1, wide),
            ("mlp q0 + editor, 7 problems at once", "mlp", 7, wide),
            (
                "mlp q0 + editor, 7 problems at once, q0 in bfloat16",
                "mlp",
                7,
                {**wide, "dtype": jnp.bfloat16},
            ),
        ]
    rows = []
    for case, q0, num_problems, settings in cases:
        ours, peer = Ours(num_problems, q0=q0, **settings), Peer(q0, torch_device)
        ours_ms, peer_ms = alternate(ours, peer, blocks, steps.get(q0, (2, 1)))
        row = {
            "case": case,
            "device": device,
            "num_problems": num_problems,
            "ours_ms": round(ours_ms, 3),
            "peer_ms": round(peer_ms, 3),
            "ratio": round(num_problems * peer_ms / ours_ms, 2),  # per problem
            "seed": 0,
        }
        print(row, flush=True)
        rows.append(row)
    save(RESULTS / "summary.json", rows, keys=("case", "device"))


SCALING = {  # what grows, the values, and the exponent that the arithmetic demands
    "dim": ([16, 32, 64, 128], 1),
    "num_values": ([4, 8, 16, 32], 1),
    "batch": ([64, 128, 256, 512], 1),
    "num_trajectories": ([10, 20, 40, 80], 1),
    "max_edits": ([4, 8, 16, 32], 0),
}


def scaling() -> None:
    """Step time against each size, all others as in the paper, with the fitted exponent."""
    rows = []
    for what, (values, demanded) in SCALING.items():
        times = []
        for value in values:
            space = spaces.Bits(value if what == "dim" else DIM)
            if what == "num_values":
                space = spaces.Categorical(8, value)
            settings = {
                "batch": value if what == "batch" else BATCH,
                "n": value if what == "num_trajectories" else 10,
                "max_edits": value if what == "max_edits" else min(16, space.dim),
            }
            ours = Ours(space=space, q0="factorized", **settings)
            ours.run(2)
            times.append(statistics.median(ours.run(4) for _ in range(7)))
        exponent = float(np.polyfit(np.log(values), np.log(times), 1)[0])
        device = jax.devices()[0].device_kind
        row = {
            "what": what,
            "device": device,
            "values": values,
            "ms": [round(t, 2) for t in times],
            "exponent": round(exponent, 2),
            "demanded": demanded,
        }
        print(row, flush=True)
        rows.append(row)
    save(RESULTS / "scaling.json", rows, keys=("what", "device"))


def log_z() -> None:
    """Exact log Z of the paper's energy over 2^32 states in TF32 and in float32."""
    space = spaces.Bits(DIM)
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
    save(RESULTS / "log_z.json", rows, keys=("precision", "device"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--log-z", action="store_true")
    arguments = parser.parse_args()
    (scaling if arguments.scaling else log_z if arguments.log_z else compare)()
