"""Time of one ALOE step on 32 bits against the same step in PyTorch, in one run.

There are two peers, both eager: one laid out as the paper's authors have it, and one vectorised.
Blocks of steps of ours and of the peers alternate, so all see the same noise, and a ratio is that
of the medians. On a CPU all get as many threads as asked for; with one thread it is the time of the
processor that counts, which other programs on the machine disturb little.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from studies.results import save
from studies.speed.ours import BATCH, DIM, Ours

KEYS = ("case", "device")


class Case(NamedTuple):
    """What is timed."""

    name: str
    q0: str
    num_problems: int = 1
    settings: dict[str, Any] = {}  # noqa: RUF012 (nobody changes it)


class Blocks(NamedTuple):
    """How often, and how many steps at a time."""

    number: int
    ours: int
    peer: int


class Peer:
    """The same step in PyTorch, eager."""

    def __init__(self, layout: str, q0: str, device: str, threads: int):
        # Of the extra `bench`, which development does not need.
        import torch  # pyright: ignore[reportMissingImports]

        from studies.speed import peer_torch, peer_vectorised

        kind = {"authors": peer_torch.Step, "vectorised": peer_vectorised.Step}[layout]
        torch.manual_seed(0)
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("high")  # TF32 on a GPU, as JAX has it there
        self.torch, self.step = torch, kind(q0=q0, device=device)
        self.x = torch.randint(2, (BATCH, DIM), device=device).float()

    def run(self, num_steps: int, clock: Callable[[], float] = time.perf_counter) -> float:
        """Milliseconds per step."""
        begin = clock()
        for _ in range(num_steps):
            self.step(self.x)
        if self.x.is_cuda:
            self.torch.cuda.synchronize()
        return 1e3 * (clock() - begin) / num_steps


def cases() -> list[Case]:
    """Those of this machine's device."""
    factorized = Case("factorized q0 + editor", "factorized")
    if jax.default_backend() == "cpu":
        return [factorized, Case("mlp q0 + editor", "mlp")]
    wide, seven = {"lookahead": 2}, "mlp q0 + editor, 7 problems at once"
    return [
        factorized,
        Case("mlp q0 + editor", "mlp", 1, wide),
        Case(seven, "mlp", 7, wide),
        Case(f"{seven}, q0 in bfloat16", "mlp", 7, {**wide, "dtype": jnp.bfloat16}),
    ]


def blocks_of(case: Case) -> Blocks:
    """As many as show a median within some minutes."""
    if jax.default_backend() == "cpu":
        return Blocks(11, 8, 4) if case.q0 == "factorized" else Blocks(11, 2, 1)
    return Blocks(7, 50, 10) if case.q0 == "factorized" else Blocks(7, 20, 5)


def measure(case: Case, blocks: Blocks, threads: int = 2) -> dict[str, Any]:
    """A row: median milliseconds of a step of ours and of both peers, run in turns."""
    on_cpu = jax.default_backend() == "cpu"
    clock = time.process_time if on_cpu and threads == 1 else time.perf_counter
    device = f"cpu, {threads} thread{'s' * (threads > 1)}"
    ours = Ours(case.num_problems, q0=case.q0, **case.settings)
    authors, vectorised = (
        Peer(layout, case.q0, "cpu" if on_cpu else "cuda", threads)
        for layout in ("authors", "vectorised")
    )
    for each in (ours, authors, vectorised):
        each.run(3)  # compile, warm up
    turns = [
        [
            ours.run(blocks.ours, clock),
            authors.run(blocks.peer, clock),
            vectorised.run(blocks.peer, clock),
        ]
        for _ in range(blocks.number)
    ]
    mine, peer, quick = (statistics.median(column) for column in zip(*turns, strict=True))
    return {
        "case": case.name,
        "device": device if on_cpu else jax.devices()[0].device_kind,
        "num_problems": case.num_problems,
        "ours_ms": round(mine, 3),
        "peer_ms": round(peer, 3),
        "vectorised_ms": round(quick, 3),
        "ratio": round(case.num_problems * peer / mine, 2),  # per problem
        "vectorised_ratio": round(case.num_problems * quick / mine, 2),
        "seed": 0,
    }


def compare(out: Path, num_blocks: int | None = None, threads: int = 2) -> None:
    """All cases of this machine's device, into summary.json."""
    for case in cases():
        blocks = blocks_of(case)
        blocks = blocks if num_blocks is None else blocks._replace(number=num_blocks)
        row = measure(case, blocks, threads)
        print(row, flush=True)
        save(out / "summary.json", [row], KEYS, quiet=True)
    print(f"wrote {out / 'summary.json'}")
