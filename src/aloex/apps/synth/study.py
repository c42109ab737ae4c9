"""What the version space alone achieves on the frozen tasks, and how the tasks are made up."""

import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from aloex.apps.synth.best import best
from aloex.apps.synth.dsl import ConstPos, ConstStr, RegexTok, SubStr, tokenize
from aloex.apps.synth.dsl.canonical import ANCHORS
from aloex.apps.synth.fill import SURE
from aloex.apps.synth.sample import Sampler
from aloex.apps.synth.score import Prior, Score, Simple
from aloex.apps.synth.tasks import Task, generate
from aloex.apps.synth.version_space import VersionSpace
from aloex.apps.synth.written import Written

Examples = Sequence[tuple[str, str]]

# How each model scores programs, given the public examples.
MODELS: dict[str, Callable[[Examples], Score]] = {
    "version space, simple score": lambda examples: Simple(),
    "version space, generator's prior": lambda examples: Prior([x for x, _ in examples]),
}
NUM_VOTES = 100


def evaluate(tasks: Sequence[Task], model: str, num_public: int) -> dict:
    """Accuracy on all ten pairs of each task, from its first `num_public` pairs.

    Top-k: one of the k best programs that fit the public pairs writes all the others, too. Times
    are of this process, for building the space and finding the ten best.
    """
    make, right, seconds, sure = MODELS[model], [], [], []
    solved = voted = 0
    for task in tasks:
        public, private = task.examples[:num_public], task.examples[num_public:]
        began = time.process_time()
        score = make(public)
        space = VersionSpace(public)
        found = best(space, 10, score)
        seconds.append(time.process_time() - began)
        if not found:
            right.append([False])
            continue
        solved += 1
        written, wanted = Written([x for x, _ in private]), [y for _, y in private]
        right.append([written(program) == wanted for _, program in found])
        drawn = Sampler(space, score).draw(np.random.default_rng(0), NUM_VOTES)
        columns = zip(*map(written, drawn), strict=True)
        votes = [Counter(column).most_common(1)[0] for column in columns]
        agreed = [text for text, _ in votes] == wanted
        voted += agreed
        if all(number >= SURE * NUM_VOTES for _, number in votes):
            sure.append(agreed)
    n, ms = len(tasks), 1000 * np.array(seconds)
    return {
        "model": model,
        "public_examples": num_public,
        "n_tasks": n,
        "solved": solved / n,
        "top1": sum(row[0] for row in right) / n,
        "top10": sum(any(row) for row in right) / n,
        "vote": voted / n,
        "sure": len(sure) / n,
        "sure_right": sum(sure) / max(len(sure), 1),
        "ms_mean": float(ms.mean()),
        "ms_median": float(np.median(ms)),
        "ms_99": float(np.quantile(ms, 0.99)),
    }


def solved(tasks: Sequence[Task]) -> dict:
    """How many tasks have a program that fits the public pairs."""
    number = sum(bool(VersionSpace(task.public)) for task in tasks)
    return {"n_tasks": len(tasks), "solved": number}


def speed(num_tasks: int = 100_000, repeats: int = 5) -> dict:
    """Tasks that the generator makes in a second of one core; the best of some runs."""
    generate(10, seed=0)  # compiles
    seconds = []
    for repeat in range(repeats):
        began = time.process_time()
        generate(num_tasks, seed=100 + repeat)
        seconds.append(time.process_time() - began)
    rate = lambda value: round(num_tasks / value)
    return {
        "tasks_per_second": rate(min(seconds)),
        "tasks_per_second_median": rate(float(np.median(seconds))),
        "n_tasks": num_tasks,
        "repeats": repeats,
    }


def statistics(tasks: Sequence[Task]) -> dict:
    """What the tasks of a set are like."""
    programs = [task.program for task in tasks]
    exprs = [expr for program in programs for expr in program]
    positions = [p for expr in exprs if isinstance(expr, SubStr) for p in (expr.p1, expr.p2)]
    kinds = Counter(type(pos).__name__ for pos in positions)
    lengths = lambda side: [len(pair[side]) for task in tasks for pair in task.examples]
    tokens = [len(tokenize(program)) for program in programs]
    public = [sum(len(x) + len(y) for x, y in task.public) for task in tasks]
    sizes = Counter(map(len, programs))
    return {
        "n_tasks": len(tasks),
        "expressions": {str(n): sizes[n] / len(tasks) for n in range(1, 11)},
        "expressions_mean": float(np.mean([len(program) for program in programs])),
        "tokens_mean": float(np.mean(tokens)),
        "tokens_max": max(tokens),
        "input_mean": float(np.mean(lengths(0))),
        "input_max": max(lengths(0)),
        "output_mean": float(np.mean(lengths(1))),
        "output_max": max(lengths(1)),
        "public_text_mean": float(np.mean(public)),
        "const_str": sum(isinstance(expr, ConstStr) for expr in exprs) / len(exprs),
        "positions": {kind: number / len(positions) for kind, number in sorted(kinds.items())},
        "anchors": _share(positions, lambda p: isinstance(p, RegexTok) and p.regex in ANCHORS),
        "k_zero": _share(positions, lambda p: not isinstance(p, ConstPos) and p.k == 0),
    }


def _share(items: Sequence, test: Callable) -> float:
    return sum(map(test, items)) / max(len(items), 1)
