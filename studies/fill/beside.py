"""The column filler beside another program, on the same tasks from the same examples."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from scipy.stats import binomtest

from studies.fill.exform import Reply
from studies.fill.rate import rate
from studies.fill.tasks import Task

Solver = Callable[[Task, int], Sequence[Reply]]  # a reply for each way to call it, the best first


class Pair(NamedTuple):
    """One task by both."""

    task: Task
    ours: bool
    theirs: bool  # by the first way that answers
    right: tuple[bool, ...]  # by each way
    answered: bool
    cut: bool
    seconds: float  # of the slowest call


def compare(tasks: Iterable[Task], num_examples: int, solver: Solver) -> list[Pair]:
    """Give each task to both, in turns; it is solved if every row after the examples is right."""
    longer = [task for task in tasks if len(task.rows) > num_examples]
    return [_pair(task, num_examples, solver) for task in longer]


def _pair(task: Task, num_examples: int, solver: Solver) -> Pair:
    ours = rate(task, num_examples).solved
    replies = solver(task, num_examples)
    right = tuple(_right(task, num_examples, reply) for reply in replies)
    answers = [i for i, reply in enumerate(replies) if reply.values is not None]
    theirs = bool(answers) and right[answers[0]]
    cut = any(reply.cut for reply in replies)
    seconds = max(reply.seconds for reply in replies)
    return Pair(task, ours, theirs, right, bool(answers), cut, seconds)


def _right(task: Task, num_examples: int, reply: Reply) -> bool:
    """Rows of examples do not count: their outputs were given."""
    values = reply.values
    return values is not None and values[num_examples:] == task.outputs[num_examples:]


def counts(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Tasks solved by each, by both and by one only, with the exact test of McNemar."""
    ours, theirs = sum(pair.ours for pair in pairs), sum(pair.theirs for pair in pairs)
    both = sum(pair.ours and pair.theirs for pair in pairs)
    return {
        "tasks": len(pairs),
        "ours": ours,
        "theirs": theirs,
        "both": both,
        "only_ours": ours - both,
        "only_theirs": theirs - both,
        "ratio": round(ours / theirs, 3) if theirs else None,
        "p": mcnemar(ours - both, theirs - both),
        "theirs_any_way": sum(any(pair.right) for pair in pairs),
        "theirs_no_answer": sum(not pair.answered for pair in pairs),
        "theirs_cut": sum(pair.cut for pair in pairs),
        "theirs_max_seconds": round(max((pair.seconds for pair in pairs), default=0.0), 2),
    }


def mcnemar(only_one: int, only_other: int) -> float:
    """The exact two-sided p value of two programs that are equally good on the tasks of a set.

    Tasks that both or neither solves say nothing; each of the others would fall to either side with
    probability 1/2.
    """
    differing = only_one + only_other
    return float(binomtest(only_one, differing, 0.5).pvalue) if differing else 1.0
