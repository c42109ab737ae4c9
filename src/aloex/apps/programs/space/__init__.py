"""All programs that fit some examples: counted, scored, ranked, drawn, compared by outputs."""

from aloex.apps.programs.space.behaviours import Behaviour, behaviours
from aloex.apps.programs.space.k_best import best
from aloex.apps.programs.space.rank import for_inputs, unseen
from aloex.apps.programs.space.sample import Sampler
from aloex.apps.programs.space.score import FEWEST, TABLES, Flat, Prior, Score, Simple
from aloex.apps.programs.space.version_space import VersionSpace, table_space

__all__ = [
    "FEWEST",
    "TABLES",
    "Behaviour",
    "Flat",
    "Prior",
    "Sampler",
    "Score",
    "Simple",
    "VersionSpace",
    "behaviours",
    "best",
    "for_inputs",
    "table_space",
    "unseen",
]
