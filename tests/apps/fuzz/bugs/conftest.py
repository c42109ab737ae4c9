import math

import pytest

from aloex.apps.fuzz.bugs import bugs
from aloex.apps.fuzz.target import Target, TargetRecipe, build_target
from fuzz_targets import HERE


@pytest.fixture(autouse=True)
def enough_time(monkeypatch):
    """Bugs are told apart at once, however slow the machine; a test of the bound sets its own."""
    monkeypatch.setattr(bugs, "FREE_SECONDS", math.inf)
    monkeypatch.setattr(bugs, "MAX_AT_ONCE", math.inf)


@pytest.fixture(scope="session")
def undefined(clang, tmp_path_factory) -> Target:
    """undefined.c with sanitizers, and two files of one name."""
    sources = ["near/sum.c", "far/sum.c"]
    recipe = TargetRecipe(
        name="undefined", folder=HERE, harness=["undefined.c"], sources=sources, max_len=64
    )
    return build_target(recipe, tmp_path_factory.mktemp("undefined"))
