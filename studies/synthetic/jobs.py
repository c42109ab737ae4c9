"""The jobs of the study that take an accelerator for long, in order of value.

A job trains one method on some data sets and seeds at once and evaluates what came out. It is done
when its rows are there, so none is ever run twice. log Z is estimated at first; a second stage,
`exact`, visits all 2^32 states and mends the rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from aloex.apps.synthetic import methods
from aloex.apps.synthetic.data import DATA_SETS
from aloex.apps.synthetic.methods import Settings
from aloex.apps.synthetic.train import Problem
from aloex.base.errors import require
from studies.synthetic import table

SMALL = {  # networks for a rehearsal
    "f_hidden": (4,),
    "q0_hidden": (4,),
    "q_hidden": (4,),
    "q0_head": 4,
}
THREE = (0, 1, 2)
TUNED_ON = ("2spirals", "pinwheel", "checkerboard")


@dataclass(frozen=True)
class Job:
    """What to train, on what, and the table that its rows belong to.

    Args:
        minutes: about what it takes on one H200, evaluation included.
        travels: whether its state is small enough to be carried to another machine. One whose state
            is not begins only where it can also end.
        alone: whether it has the accelerator to itself, because its seconds are compared.
    """

    name: str
    table: str
    method: str
    recipe: str
    data: tuple[str, ...] = DATA_SETS
    seeds: tuple[int, ...] = THREE
    changes: dict[str, Any] = field(default_factory=dict)
    minutes: float = 5
    travels: bool = False
    alone: bool = False
    num_repeats: int = 10  # of MMD

    @property
    def problems(self) -> list[Problem]:
        return [Problem(name, seed) for seed in self.seeds for name in self.data]

    @property
    def exact(self) -> bool:
        """Whether it has a second stage."""
        return self.name + EXACT in NAMES

    @property
    def command(self) -> str:
        """What makes its rows."""
        return f"python -m studies.synthetic jobs --job {self.name}"

    def small(self) -> "Job":
        """The same on fewer sets, for a rehearsal."""
        return replace(self, data=self.data[:2], seeds=self.seeds[:1])

    def settings(self, rehearse: int = 0) -> Settings:
        """Its settings; `rehearse` is a number of steps of tiny networks in their place."""
        recipe = self.recipe.split(" ")[0].rstrip(",")
        if not rehearse:
            return methods.choose(self.method, recipe, **self.changes)
        changes = self.changes | SMALL | {"num_steps": rehearse}
        return methods.choose(self.method, recipe, "quick", **changes)


def tuning(method: str, recipe: str) -> Iterator[Job]:
    """A job for every point of a grid."""
    grid = table.GRIDS[method, recipe]
    lines = table.tuning([(method, recipe)], "paper")
    for number, (line, point) in enumerate(zip(lines, grid, strict=True)):
        yield Job(
            name=f"tune-{method}-{recipe}-{number}",
            table="tuning",
            method=method,
            recipe=line.recipe,
            data=TUNED_ON,
            seeds=(0,),
            changes=point,
            minutes=1,
            travels=True,
            num_repeats=0,  # the likelihood decides
        )


def full(method: str, *seeds: int, **more: Any) -> Job:
    """A method with the paper's settings for all of the paper's steps."""
    name = "-".join(["full", method, *map(str, seeds)])
    return Job(name, "full_length", method, "paper", seeds=seeds, **more)


# One seed a job: the state of seven models can be carried, that of 21 cannot.
CHAINS: dict[str, Any] = {"travels": True, "minutes": 9}
NO_EDITS = {"max_edits": 0}
EXACT = " exact"  # what the name of a job's second stage ends in
QUEUE: tuple[Job | str, ...] = (  # a name is that of a job's second stage
    Job("cd-best", "summary", "cd", "best", travels=True, alone=True, minutes=4),
    full("cd", 0, **CHAINS),
    full("pcd", 0, **CHAINS),
    *tuning("cd", "best"),
    Job("aloe-best-no-edits", "summary", "aloe", "best, max_edits=0", changes=NO_EDITS),
    "cd-best exact",
    Job(
        name="ablation-edits",
        table="ablation",
        method="aloe",
        recipe="best less edits",
        data=TUNED_ON,
        changes={**NO_EDITS, "num_steps": 4800},
        minutes=3,
    ),
    full("autoregressive", 0, minutes=8),
    full("vae", 0, minutes=4),
    "aloe-best-no-edits exact",
    "full-cd-0 exact",
    "full-pcd-0 exact",
    *(full(method, seed, **CHAINS) for seed in THREE[1:] for method in ("cd", "pcd")),
    *(f"full-{method}-{seed}{EXACT}" for seed in THREE[1:] for method in ("cd", "pcd")),
    full("aloe", 0, minutes=19),
    "full-aloe-0 exact",
    full("aloe-fac-edit", 0, minutes=14),
    "full-aloe-fac-edit-0 exact",
    full("aloe-fac-noedit", 0, minutes=7),
    "full-aloe-fac-noedit-0 exact",
    full("aloe", 1, minutes=19),
    "full-aloe-1 exact",
    full("aloe", 2, minutes=19),
    "full-aloe-2 exact",
    full("ade", 0, data=DATA_SETS[:-1], minutes=26),  # it diverges on the checkerboard
    "full-ade-0 exact",
    full("aloe-rnn", 0, minutes=26),
    "full-aloe-rnn-0 exact",
)
JOBS = {item.name: item for item in QUEUE if isinstance(item, Job)}
NAMES = tuple(item.name if isinstance(item, Job) else item for item in QUEUE)


def job_of(name: str) -> Job:
    """The job of that name, or the one of which that is the second stage."""
    require(name in NAMES, f"there is no job {name!r}; choose one of {', '.join(NAMES)}")
    return JOBS[name.removesuffix(EXACT)]
