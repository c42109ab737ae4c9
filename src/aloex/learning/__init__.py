"""Learning f and q together (`aloe`), the loop around it (`fit`), the friendly layer (`model`)."""

from aloex.base.errors import Stopped
from aloex.learning.aloe import ALOE
from aloex.learning.batched import Batched
from aloex.learning.build import (
    build_backward,
    build_learner,
    build_networks,
    build_search,
    first_state,
)
from aloex.learning.config import Config
from aloex.learning.data.batches import HostBatches
from aloex.learning.data.columns import Columns
from aloex.learning.fit import fit
from aloex.learning.learn import learn
from aloex.learning.learn_sampler import learn_sampler
from aloex.learning.learned_sampler import (
    LearnedSampler,
    WeightedDraws,
    WeightedEstimate,
    load_sampler,
)
from aloex.learning.model import Model, load
from aloex.learning.sampler_learner import SamplerLearner
from aloex.learning.updates import clipped_adam
from aloex.runs.run_folder import RunFolder

__all__ = [
    "ALOE",
    "Batched",
    "Columns",
    "Config",
    "HostBatches",
    "LearnedSampler",
    "Model",
    "RunFolder",
    "SamplerLearner",
    "Stopped",
    "WeightedDraws",
    "WeightedEstimate",
    "build_backward",
    "build_learner",
    "build_networks",
    "build_search",
    "clipped_adam",
    "first_state",
    "fit",
    "learn",
    "learn_sampler",
    "load",
    "load_sampler",
]
