"""What the tasks of a set are like."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aloex.apps.programs.language import ConstPos, ConstStr, RegexTok, SubStr, tokenize
from aloex.apps.programs.language.canonical import ANCHORS
from aloex.apps.programs.tasks.tasks import Task


def statistics(tasks: Sequence[Task]) -> dict[str, Any]:
    """Numbers, lengths and shares."""
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


def _share(items: Sequence[Any], test: Callable[[Any], bool]) -> float:
    return sum(map(test, items)) / max(len(items), 1)
