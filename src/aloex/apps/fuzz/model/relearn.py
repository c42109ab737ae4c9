"""Learn a model again while it is used: from the seeds and from what had new edges.

Whatever it was learned by, it is then learned further by the likelihood of single bytes, which any
law of bytes has, and which is cheap. It starts from the model as it was at first, so the result is
a function of that model and of the inputs.
"""

from collections.abc import Sequence

import numpy as np

from aloex.apps.fuzz.inputs.corpus import Corpus
from aloex.apps.fuzz.model.byte_law import ByteLaw
from aloex.apps.fuzz.model.contexts import Examples
from aloex.apps.fuzz.model.learn import log_prob_of_byte
from aloex.base.errors import Stopped
from aloex.baselines.likelihood import MaximumLikelihood
from aloex.learning import clipped_adam, fit

NUM_STEPS, BATCH_SIZE, LEARNING_RATE = 300, 256, 1e-3


def relearned(model: ByteLaw, inputs: Sequence[bytes], *, num_steps: int = NUM_STEPS) -> ByteLaw:
    """The model after some more steps, on these inputs."""
    adam = clipped_adam(LEARNING_RATE)
    learner = MaximumLikelihood(objective=log_prob_of_byte, optimizer_q=adam, ema_decay=0.99)
    how = {"num_steps": num_steps, "batch_size": BATCH_SIZE, "seed": 0, "progress": False}
    try:
        return fit(learner, learner.init(model), Examples(corpus_of(inputs)), **how).ema_q
    except Stopped:  # an interrupt: the campaign ends as by any other
        raise KeyboardInterrupt from None


def corpus_of(inputs: Sequence[bytes]) -> Corpus:
    """Inputs in memory as a corpus; empty ones are left out."""
    whole = [x for x in inputs if x]
    length = np.array([len(x) for x in whole], np.int64)
    data = np.frombuffer(b"".join(whole), np.uint8)
    return Corpus(data, np.cumsum(length) - length, length, tuple(map(str, range(len(whole)))))
