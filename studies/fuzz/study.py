"""The study: how much do the mutants of each method cover, with the same seeds and inputs?

A trial is a sequence of mutants of the seeds; nothing that they cover is fed back. What they have
covered is read off after the first 1,000, 10,000, ... of them, alone and together with the seeds.
Fuzzers that go on from what they found are compared in `equal.py`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import Outcomes
from aloex.apps.fuzz.target import Target
from aloex.base.errors import require
from studies import results
from studies.fuzz.mutators import PLAIN_MUTATORS, Mutator, RandomEdits
from studies.fuzz.rivals import libfuzzer

KEYS = ("target", "method", "mode", "edits", "inputs", "trial", "with_seeds")
COUNTS = (300, 1000, 3000, 10_000)
SWEEP = (1, 3, 10, 30, 100)  # edits of a mutant
# methods of `learn`
LEARNED = ("aloe", "aloe-window", "cd", "ade", "rnn-ebm", "learn-and-fuzz", "masked")
UNION = "union"  # half of the inputs by libFuzzer, half by `best`, each on its own
NUM_JUNK = 200  # random inputs, which tell what lies before a target's first check
NUM_CHECKED = 1000  # mutants of which it is told how many pass it
CHUNK = 10_000  # mutants in memory

Make = Callable[[int, int | float], Mutator]  # from the trial's seed and the number of edits
Row = dict[str, Any]


class Line(NamedTuple):
    """A method with its settings, of which there are several trials."""

    method: str
    mode: str  # how it chooses: "plain", or the name of a recipe
    edits: int | float  # below 1: a share of the bytes; 0: it decides itself
    make: Make
    learned: Mapping[str, float] = MappingProxyType({})  # of its model: what the file tells


def lines(methods: Iterable[str], sweep: Sequence[int | float] = SWEEP) -> list[Line]:
    """The lines of mutators by name, for every number of edits."""
    found = []
    for name in methods:
        known = ", ".join(PLAIN_MUTATORS)
        require(name in PLAIN_MUTATORS, f"no method {name!r}; choose one of {known}")
        make = lambda seed, edits, name=name: PLAIN_MUTATORS[name](seed=seed, edits=(edits,))
        found += [Line(name, "plain", edits, make) for edits in sweep]
    return found


def model_lines(
    model: Path,
    sweep: Sequence[int | float] = SWEEP,
    modes: Sequence[str] | None = None,
) -> list[Line]:
    """The lines of a model that `aloex fuzz learn` wrote, named by how it was learned."""
    # JAX loads slowly.
    from aloex.apps.fuzz.model import VISIBLE_FRACTIONS, load_model
    from studies.fuzz.mutators.best import best
    from studies.fuzz.mutators.resample import NUM_EDITS, Resample
    from studies.fuzz.mutators.sampler import ModelSampler

    learned = load_model(model)
    about = {"training_seconds": learned.settings.seconds, "held_out": learned.settings.held_out}
    about = {name: value for name, value in about.items() if value is not None}
    visible = {"mixed": VISIBLE_FRACTIONS, "place": (0.0,), "context": (1.0,)}

    def of_mode(mode: str) -> list[Line]:
        method = f"{'libfuzzer+' if mode == UNION else ''}{learned.settings.method}"
        line = lambda edits, make: Line(method, mode, edits, make, about)
        if mode == "paper":
            make = lambda seed, edits: Resample(learned, seed=seed, edits=(edits,))
            return [line(NUM_EDITS, make)]
        if mode in ("best", UNION):
            guided = best(learned)  # its tables serve all trials
            return [line(0, lambda seed, _: replace(guided, seed=seed))]
        choose = ModelSampler(learned, visible[mode])
        make = lambda seed, edits: RandomEdits(choose, seed=seed, edits=(edits,))
        return [line(edits, make) for edits in sweep]

    known = (*visible, "best", "paper", UNION)
    for mode in modes or ():
        require(mode in known, f"no mode {mode!r}; choose one of {', '.join(known)}")
    usual = [mode for mode in known if mode != UNION]
    if learned.settings.held_out is None:
        usual.remove("best")  # which must know how far to trust the model
    return [line for mode in modes or usual for line in of_mode(mode)]


def make(
    target: Target,
    todo: Iterable[Line],
    summary: Path,
    *,
    trials: int,
    first_trial: int = 0,
    counts: Sequence[int] = COUNTS,
    tell: Callable[[str], None] = lambda line: None,
    **limits: Any,
) -> None:
    """Run the trials that are missing in the file `summary`; may be stopped and repeated."""
    counts = sorted(counts)
    require(len(counts) > 0 and counts[0] >= 1, f"numbers of inputs must be positive, got {counts}")
    require(trials >= 1, f"there must be at least one trial, got {trials}")
    require(first_trial >= 0, f"trials are numbered from 0, got {first_trial} for the first")
    there = {tuple(r[k] for k in KEYS) for r in results.read(summary)} if summary.exists() else ()
    bench = Bench(target, **limits)
    for trial in range(first_trial, first_trial + trials):
        for line in todo:
            wanted = [(target.name, *line[:3], n, trial, True) for n in counts]
            if all(key in there for key in wanted):
                continue
            rows = bench.run(line, trial, counts)
            results.save(summary, rows, KEYS, quiet=True)
            last = rows[-1]
            tell(f"{', '.join(map(str, line[:3]))} edits, trial {trial}: {last['edges']} edges")


class Bench:
    """A target with its seeds and what they cover."""

    def __init__(self, target: Target, **limits: Any):
        self.target, self.limits, self.seeds = target, limits, target.read_seeds()
        require(len(self.seeds) > 0, f"{target.name} has no seeds; the study needs some")
        with self._executor() as executor:
            executor.run(self.seeds)
            self.covered = executor.seen.copy()
        self.before_check = self._junk()

    def run(self, line: Line, trial: int, counts: Sequence[int]) -> list[Row]:
        """The rows of a trial."""
        head: Row = {"target": self.target.name, "method": line.method, "mode": line.mode}
        head |= {"edits": line.edits, "trial": trial, **line.learned}
        mutator = line.make(trial, line.edits)
        if line.mode == UNION:
            return [head | self._union(mutator, trial, n) for n in counts]
        return [head | row for row in self._mutants(mutator, counts)]

    def _mutants(self, mutator: Mutator, counts: Sequence[int]) -> list[Row]:
        rows, done, seconds = [], 0, 0.0
        passing = self.passing(mutator.mutate(self.seeds, 0, min(NUM_CHECKED, counts[-1])).inputs)
        with self._executor() as executor:
            for stop in _stops(counts):
                start = time.monotonic()
                executor.run(mutator.mutate(self.seeds, done, stop - done).inputs)
                seconds, done = seconds + time.monotonic() - start, stop
                if stop in counts:
                    both = [(False, executor.seen), (True, executor.seen | self.covered)]
                    extra = {"inputs": stop, "passing": passing, "seconds": round(seconds, 3)}
                    rows += [row_of(seen, with_seeds, **extra) for with_seeds, seen in both]
        return rows

    def _union(self, mutator: Mutator, trial: int, n: int) -> Row:
        start = time.monotonic()
        corpus, rest = libfuzzer(self.target, n // 2, seed=trial + 1), n - n // 2
        with self._executor() as executor:
            executor.run(corpus)
            for i in range(0, rest, CHUNK):
                executor.run(mutator.mutate(self.seeds, i, min(CHUNK, rest - i)).inputs)
            extra = {"inputs": n, "seconds": round(time.monotonic() - start, 3)}
            return row_of(executor.seen | self.covered, True, **extra)

    def _executor(self) -> Executor:
        return Executor(self.target, **self.limits)

    def _junk(self) -> np.ndarray:
        """Edges of random bytes, as long as the seeds, and of nothing."""
        rng = np.random.default_rng(0)
        sizes = [len(self.seeds[i]) for i in rng.integers(len(self.seeds), size=NUM_JUNK)]
        with self._executor() as executor:
            executor.run([b"", *(rng.bytes(size) for size in sizes)])
            return executor.seen > 0

    def passing(self, inputs: Any) -> float:
        """The share of inputs that go where random bytes do not."""
        with self._executor() as executor:
            outcomes = executor.run(inputs, full=True)
        n = len(outcomes.status)
        return round(sum(self._passes(outcomes, i) for i in range(n)) / max(n, 1), 4)

    def _passes(self, outcomes: Outcomes, i: int) -> bool:
        return not self.before_check[outcomes.edges_of(i)].all()


def _stops(counts: Sequence[int]) -> list[int]:
    """Where to pause: at every count, and in between to save memory."""
    return sorted({*counts, *range(CHUNK, counts[-1], CHUNK)})


def row_of(seen: np.ndarray, with_seeds: bool, **more: Any) -> Row:
    """What is counted of the edges that were seen."""
    edges, features = int(np.count_nonzero(seen)), int(np.bitwise_count(seen).sum())
    return {"with_seeds": with_seeds, "edges": edges, "features": features, **more}
