"""What the tests share: a corpus, and targets, built once; skipped where there is no compiler."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aloex.apps.fuzz.native.compiled import HERE as NATIVE
from aloex.apps.fuzz.target import Target, TargetRecipe, build_target, debian, find_clang
from aloex.apps.fuzz.tools import cache_folder
from aloex.base.errors import InputError
from aloex.base.locks import folder_lock

HERE = Path(__file__).parent / "targets"
ROOT = HERE.parents[1]
SEEDS = {"a": b"--------", "b": b"abcdefghijkl"}


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
    return build_target(recipe, tmp_path_factory.mktemp("tiny"), coverage=True)


@pytest.fixture(scope="session")
def stairs(clang, tmp_path_factory) -> Target:
    """stairs.c, without what tells bugs apart at a cost."""
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"], max_len=4096)
    return build_target(recipe, tmp_path_factory.mktemp("stairs"), sanitizers=False)


@pytest.fixture(scope="session")
def faults(clang, tmp_path_factory) -> Target:
    """faults.c, with sanitizers; in a folder whose name needs quotes in a shell."""
    recipe = TargetRecipe(name="faults", folder=HERE, harness=["faults.c"], max_len=4096)
    return build_target(recipe, tmp_path_factory.mktemp("it's $HOME (1)"))


def build_small(name: str, out: Path, **options: Any) -> Target:
    """A target of one file, without sanitizers unless asked."""
    flags = [f"-I{NATIVE}"]
    recipe = TargetRecipe(name=name, folder=HERE, harness=[f"{name}.c"], flags=flags, max_len=64)
    return build_target(recipe, out, **{"sanitizers": False, **options})


def with_seeds(target: Target) -> Target:
    """The target in its folder, with two seeds."""
    folder = target.library.parent / "seeds"
    folder.mkdir()
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
    built = replace(target, seeds=folder)
    built.save(folder.parent)
    return built


@pytest.fixture(scope="session")
def wild(clang, tmp_path_factory) -> Target:
    """wild.c, which writes into memory that its worker shares, and crashes on the empty input."""
    return build_small("wild", tmp_path_factory.mktemp("wild"))


@pytest.fixture(scope="session")
def secrets(clang, tmp_path_factory) -> Target:
    """secrets.c, with branches behind values that random bytes do not hit."""
    return build_small("secrets", tmp_path_factory.mktemp("secrets"))


@pytest.fixture(scope="session")
def quiet(clang, tmp_path_factory) -> Target:
    """quiet.c, whose fault only a sanitizer sees."""
    return build_small("quiet", tmp_path_factory.mktemp("quiet"), sanitizers=True)


@pytest.fixture(scope="session")
def heavy(clang, tmp_path_factory) -> Target:
    """heavy.c, which costs as much as its input says."""
    return build_small("heavy", tmp_path_factory.mktemp("heavy"), sanitizers=True)


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
