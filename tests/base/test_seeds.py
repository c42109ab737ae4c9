"""Which seeds are taken."""

import re

import numpy as np
import pytest

from aloex.base.errors import InputError
from aloex.base.seeds import check_seed


@pytest.mark.parametrize("seed", [0, 2**32 - 1, np.int64(5)])
def test_seeds(seed):
    assert check_seed(seed) == seed and type(check_seed(seed)) is int


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, True, "1", None])
def test_what_is_no_seed(seed):
    message = f"first_seed must be a whole number in 0..2^32 - 1, got {seed!r}"
    with pytest.raises(InputError, match=re.escape(message)):
        check_seed(seed, "first_seed")
