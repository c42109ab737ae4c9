"""Train a model further while it is used: on the seeds and on the inputs that had new edges.

Whatever method it was learned by, the further training maximises the likelihood of single bytes,
which is cheap and which every model of bytes has. It starts from the model as it was at first, so
the result is a function of that model and of the inputs.
"""

from collections.abc import Sequence

from aloex.apps.fuzz.inputs import corpus_of
from aloex.apps.fuzz.model.byte_model import ByteModel
from aloex.apps.fuzz.model.contexts import Examples
from aloex.apps.fuzz.model.learn import log_prob_of_byte
from aloex.base.errors import Stopped
from aloex.baselines.likelihood import MaximumLikelihood
from aloex.learning import clipped_adam, fit

NUM_STEPS, BATCH_SIZE, LEARNING_RATE = 300, 256, 1e-3


def train_further(
    model: ByteModel, inputs: Sequence[bytes], *, num_steps: int = NUM_STEPS
) -> ByteModel:
    """The model after some further steps on these inputs."""
    adam = clipped_adam(LEARNING_RATE)
    learner = MaximumLikelihood(objective=log_prob_of_byte, optimizer_q=adam, ema_decay=0.99)
    try:
        return fit(
            learner,
            learner.init(model),
            Examples(corpus_of(inputs)),
            num_steps=num_steps,
            batch_size=BATCH_SIZE,
            progress=False,
        ).ema_q
    except Stopped:  # by an interrupt, which ends the campaign
        raise KeyboardInterrupt from None
