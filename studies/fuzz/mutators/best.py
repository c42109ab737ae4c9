"""A mixture of mutators whose weights and edits follow from how much of a byte the model knows.

    known = 1 - (-log p of a byte held out) / log 256,   1: it is certain, 0: bytes are noise,

It has four kinds of mutants, with trust = known^1.5:

    weight       bytes are                                      numbers are changed
    known / 2    those of the seed, but for one                 in all mutants, at certain positions
    trust / 4    the model's, never the one that was there      in half of them, at such positions
    trust / 4    the model's, as in the paper: 100 edits        in half of them, at such positions
                 which may leave a byte as it is
    the rest     any other byte                                 in half of them, anywhere

Certain positions are those of `certainty.py`; the first kind changes the structure alone. In the
second and in the last kind 0.4 or 0.8% / trust of the bytes are edited: a format of which little is
known, such as an entropy-coded stream, gains little by likely bytes, and many edits do not break
it.
"""

import math
from typing import Any

from aloex.apps.fuzz.model import ByteModel
from aloex.base.errors import InputError
from studies.fuzz.mutators.certainty import Certainty
from studies.fuzz.mutators.mixture import Mixture
from studies.fuzz.mutators.numbers import EditsAndNumbers, Numbers
from studies.fuzz.mutators.resample import NUM_EDITS
from studies.fuzz.mutators.sampler import ModelSampler

POWER = 1.5
VISIBLE_FRACTIONS, EDITED = (0.0, 0.5, 1.0), (0.004, 0.008)
MAX_EDITED = 0.1  # of the bytes: with more edits, no target that we tried covered more
MIN_KNOWN = 0.05  # also of a model that learned nothing


def best(model: ByteModel, *, seed: int = 0, **options: Any) -> Mixture:
    """See the top of this file; `options` are those of `RandomEdits`: edits, keep."""
    share = known(model)
    trust = share**POWER

    def edited(*edits: int | float) -> dict[str, Any]:
        return {"edits": edits, **options}

    few = edited(*(min(part / trust, MAX_EDITED) for part in EDITED))
    draw, redraw = ModelSampler(model, VISIBLE_FRACTIONS), ModelSampler(model, (1.0,), stay=True)
    certain = Certainty(model)
    mutators = (
        Numbers(**edited(1), positions=certain, share=1.0),
        EditsAndNumbers(draw, **few, positions=certain),
        EditsAndNumbers(redraw, **edited(NUM_EDITS), positions=certain),
        Numbers(**few),
    )
    weights = share / 2, trust / 4, trust / 4, 1 - (share + trust) / 2
    return Mixture(mutators, weights, seed)


def known(model: ByteModel) -> float:
    """The part of a byte that the model knows, in (0, 1], measured on the files held out."""
    log_prob = model.settings.held_out
    if log_prob is None:
        raise InputError(
            "the model file does not say how well the model knows files that were held out; learn "
            "it again with some held out: aloex fuzz learn CORPUS --held-out 0.1"
        )
    return min(max(1 + log_prob / math.log(256), MIN_KNOWN), 1.0)
