"""Recipes: what a built target remembers, and how it is built again."""

import json

import pytest

from aloex.apps.fuzz.target import Target, TargetRecipe, build_command, build_target
from aloex.base.errors import InputError

CODE = "int LLVMFuzzerTestOneInput(const char *data, long size) { return LIMIT; }\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in, with a harness that needs a flag."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.c").write_text(CODE)
    return tmp_path


def build(here, out=None):
    recipe = TargetRecipe.of_files([here / "mine.c"], flags=["-DLIMIT=0"], libraries=["m"])
    return build_target(recipe, out, sanitizers=False)


def test_a_harness_is_built_again_by_its_name(clang, here):
    built = build(here)
    assert build_command(built, "--coverage") == "aloex fuzz build mine --coverage"
    recipe = TargetRecipe.load("mine")
    assert (recipe.flags, recipe.libraries) == (["-DLIMIT=0"], ["m"])
    again = build_target(recipe, sanitizers=False, coverage=True)
    assert again.library == built.library
    assert again.coverage is not None


def test_a_target_built_elsewhere_is_built_again_by_its_folder(clang, here):
    built = build(here, here / "else where")
    command = build_command(built, "--afl")
    assert command == f"aloex fuzz build '{here}/else where' --afl"
    again = build_target(TargetRecipe.load(here / "else where"), sanitizers=False)
    assert again.library == built.library


def test_a_name_that_is_another_targets_is_not_advised(clang, here):
    (here / "libpng.c").write_text(CODE)
    recipe = TargetRecipe.of_files([here / "libpng.c"], flags=["-DLIMIT=0"])
    built = build_target(recipe, sanitizers=False)
    assert build_command(built) == "aloex fuzz build build/targets/libpng"
    assert TargetRecipe.load("build/targets/libpng").flags == ["-DLIMIT=0"]
    assert TargetRecipe.load("libpng").package == "libpng1.6"


def test_a_folder_is_read_anew_each_time(clang, here):
    folder = here / "targets/own"
    folder.mkdir(parents=True)
    (folder / "mine.c").write_text(CODE)
    toml = folder / "target.toml"
    toml.write_text('harness = ["mine.c"]\nflags = ["-DLIMIT=0"]\n')
    built = build_target(TargetRecipe.load("own"), sanitizers=False)
    assert build_command(built) == "aloex fuzz build own"
    toml.write_text('harness = ["mine.c"]\nflags = ["-DLIMIT=1-1"]\n')
    assert TargetRecipe.load("build/targets/own").flags == ["-DLIMIT=1-1"]


def test_a_library_of_the_users_is_built_from_its_harness(here):
    command = build_command(Target(name="x", library=here / "x.so"), "--coverage")
    assert command == "aloex fuzz build --harness FILE --coverage"


@pytest.mark.parametrize("content", ["{", "[]", json.dumps({"colour": "red"})])
def test_a_damaged_memory_is_told(here, content):
    (here / "recipe.json").write_text(content)
    with pytest.raises(InputError, match=r"recipe.json is damaged: .*; build the target anew"):
        TargetRecipe.load(here)


def test_commands_that_run_a_file_keep_to_the_limits(here):
    library = Target(name="x", library=here / "x.so")
    assert library.command("f") == ["aloex", "fuzz", "replay", str(here / "x.so"), "f"]
    limits = {"timeout": 1.5, "memory_mb": 64}
    assert library.command("f", **limits)[-4:] == ["--timeout", "1.5", "--memory", "64"]
    binary = Target(name="x", library=here / "x.so", asan=here / "asan", fuzzer=here / "fuzzer")
    assert binary.command("f") == [str(here / "asan"), "f"]
    assert binary.command("f", **limits)[1:] == ["-timeout=2", "-malloc_limit_mb=64", "f"]
