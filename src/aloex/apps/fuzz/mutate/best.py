"""The mutator that settles all by how much of a byte its model knows.

    known = 1 - (-log p of a byte held out) / log 256,   1: the model is sure, 0: bytes are noise.

Four kinds of mutants take turns (`one_of.py`), with trust = known^1.5:

    share        bytes are                                      numbers are changed
    known / 2    those of the seed, but for one                 in all of them, at sure places
    trust / 4    the model's, never the one that was there      in half of them, at sure places
    trust / 4    the model's, as in the paper: 100 edits        in half of them, at sure places
                 which may leave a byte as it is
    the rest     any other byte                                 in half of them, anywhere

Places are sure where the model is (`sure.py`); the first kind changes the structure alone. Of the
second and the last 0.4 or 0.8% / trust of the bytes are edited: a format with little to know, such
as an entropy-coded stream, gains little by likely bytes, and is not broken by many edits.
"""

import math
from typing import Any

from aloex.apps.fuzz.model.byte_law import ByteLaw
from aloex.apps.fuzz.mutate.certainty import Sure
from aloex.apps.fuzz.mutate.learned import LearnedByte
from aloex.apps.fuzz.mutate.mixture import OneOf
from aloex.apps.fuzz.mutate.numbers import EditsAndNumbers, Numbers
from aloex.apps.fuzz.mutate.resample import NUM_EDITS
from aloex.base.errors import InputError

POWER = 1.5
LEVELS, SHARES = (0.0, 0.5, 1.0), (0.004, 0.008)
MAX_SHARE = 0.1  # of the bytes to edit: with more no target was found to cover more
MIN_KNOWN = 0.05  # also of a model that learned nothing


def best(model: ByteLaw, *, seed: int = 0, **how: Any) -> OneOf:
    """See the top of this file; `how` as of `RandomEdits`: edits, keep, repair."""
    share = known(model)
    trust = share**POWER
    edited = lambda *edits: {"edits": edits, **how}
    few = edited(*(min(part / trust, MAX_SHARE) for part in SHARES))
    draw, redraw = LearnedByte(model, LEVELS), LearnedByte(model, (1.0,), stay=True)
    places = Sure(model)
    mutators = (
        Numbers(**edited(1), places=places, share=1.0),
        EditsAndNumbers(draw, **few, places=places),
        EditsAndNumbers(redraw, **edited(NUM_EDITS), places=places),
        Numbers(**few),
    )
    weights = share / 2, trust / 4, trust / 4, 1 - (share + trust) / 2
    return OneOf(mutators, weights, seed)


def known(model: ByteLaw) -> float:
    """How much of a byte the model knows, in (0, 1], by the files that were held out."""
    log_prob = model.settings.held_out
    if log_prob is None:
        raise InputError(
            "the model does not tell how well it knows files that it was not learned from; learn "
            "it again with some held out: aloex fuzz learn CORPUS --held-out 0.1"
        )
    return min(max(1 + log_prob / math.log(256), MIN_KNOWN), 1.0)
