"""What the tests share: a corpus, and targets, built once; skipped where there is no compiler."""

from pathlib import Path

import pytest

from aloex.apps.fuzz.target import Target, TargetRecipe, build_target, debian, find_clang
from aloex.apps.fuzz.tools import cache_folder
from aloex.base.errors import InputError
from aloex.base.locks import folder_lock

HERE = Path(__file__).parent / "targets"
ROOT = HERE.parents[1]


@pytest.fixture(scope="session")
def clang() -> str:
    try:
        return find_clang()
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def tiny(clang, tmp_path_factory) -> Target:
    """tiny.c, with all that a build can make of it."""
    recipe = TargetRecipe(name="tiny", folder=HERE, harness=["tiny.c"], max_len=4096)
    return build_target(recipe, tmp_path_factory.mktemp("tiny"), asan=True, coverage=True)


@pytest.fixture(scope="session")
def stairs(clang, tmp_path_factory) -> Target:
    """stairs.c, without what tells bugs apart at a cost."""
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"], max_len=4096)
    return build_target(recipe, tmp_path_factory.mktemp("stairs"))


@pytest.fixture(scope="session")
def libpng(clang) -> Target:
    """libpng, in the usual place; less than half a minute the first time."""
    recipe, out = TargetRecipe.load("libpng"), ROOT / "build/targets/libpng"
    if not Path("/usr/include/zlib.h").exists():
        pytest.skip("zlib's headers are missing: apt-get install zlib1g-dev")
    try:
        with folder_lock(out, wait=True):
            debian.fetch(recipe.package, out, cache_folder() / "apt")
    except InputError as error:
        pytest.skip(str(error))
    return build_target(recipe, out)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    """Every file counts upwards from a place of its own: a byte follows from its neighbours."""
    folder = tmp_path_factory.mktemp("corpus")
    for i in range(20):
        (folder / f"{i}").write_bytes(bytes((k + 13 * i) % 8 for k in range(80)))
    return folder
