"""What the demo does, from top to bottom: data, training, exact checks, report."""

import json
import math
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from aloex import exact
from aloex.apps.demo import data
from aloex.apps.demo.report import write_report
from aloex.learning import Model, learn
from aloex.spaces import Bits

SPACE = Bits(2 * data.BITS)
NUM_TRAIN, NUM_TEST, NUM_FLOOR = 100_000, 100_000, 4_000_000


class Findings(NamedTuple):
    """Everything the report shows; log likelihoods are exact, in nats, with standard errors."""

    model: Model
    train: np.ndarray  # cells
    log_p: np.ndarray  # of every state under f
    scores: dict[str, tuple[float, float]]  # minus log likelihood of test data, and its error
    metrics: list[dict]
    paths: list[np.ndarray]  # points of some runs of the local search
    edits: np.ndarray  # how many edits each of 4000 runs made
    draws: dict[str, np.ndarray]  # points drawn from q and from q then Gibbs


def run(out: Path, *, num_steps: int, seed: int) -> Path:
    """Train (or go on with the run in `out`), check, and write the report; returns its path."""
    rng = np.random.default_rng(seed)
    train = data.to_cells(data.pinwheel(rng, NUM_TRAIN))
    test = data.to_cells(data.pinwheel(rng, NUM_TEST))
    folder = out / "run"
    model = learn(
        data.encode(train),
        num_steps=num_steps,
        seed=seed,
        folder=folder,
        resume=(folder / "config.json").exists(),
        q_hidden=(256, 256),
        f_hidden=(256, 256),
    )
    return write_report(out, examine(model, train, test, folder, rng, seed))


def examine(model: Model, train, test, folder: Path, rng, seed: int) -> Findings:
    """Exact likelihoods by enumeration of all 65,536 states, and draws to look at."""
    log_p = np.asarray(exact.log_p(model.f, SPACE))
    log_q = np.asarray(exact.log_marginal(model.q, SPACE))
    log_q0 = np.asarray(jax.vmap(model.q.q0.log_prob)(SPACE.enumerate()))
    state = data.encode(test) @ (2 ** np.arange(SPACE.dim - 1, -1, -1))
    scores = {
        "uniform over all states": (SPACE.dim * math.log(2), 0.0),
        "start of the search, q0 (independent bits)": _mean_score(log_q0[state]),
        "the whole local search, q": _mean_score(log_q[state]),
        "the energy, f": _mean_score(log_p[state]),
        "floor: entropy of the data": _entropy(rng),
    }
    keys = jax.random.split(jax.random.key(seed), 4000)
    runs = jax.vmap(model.q.sample)(keys)
    edits = np.asarray(runs.num_edits)
    longest = np.argsort(-edits, kind="stable")[:400:25]
    points = lambda bits: data.to_points(data.decode(bits))
    return Findings(
        model=model,
        train=train,
        log_p=log_p,
        scores=scores,
        metrics=[json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()],
        paths=[points(np.asarray(runs.x[i])[: edits[i] + 1]) for i in longest],
        edits=edits,
        draws={
            "q": points(np.asarray(runs.last)),
            "f": points(model.sample(4000, seed=seed, num_sweeps=20)),
        },
    )


def _mean_score(log_probs: np.ndarray) -> tuple[float, float]:
    return -float(log_probs.mean()), float(log_probs.std() / np.sqrt(len(log_probs)))


def _entropy(rng) -> tuple[float, float]:
    """Entropy of the quantised data from many draws, with Miller and Madow's correction."""
    cells = data.to_cells(data.pinwheel(rng, NUM_FLOOR))
    counts = np.unique(cells @ [2**data.BITS, 1], return_counts=True)[1]
    p = counts / NUM_FLOOR
    entropy = -np.sum(p * np.log(p)) + (len(counts) - 1) / (2 * NUM_FLOOR)
    spread = np.sqrt(np.sum(p * np.log(p) ** 2) - np.sum(p * np.log(p)) ** 2)
    return float(entropy), float(spread / np.sqrt(NUM_FLOOR))
