"""Building targets: recipes, the archive's sources, and one line for each mistake."""

import io
import json
import tarfile

import pytest

from aloex.apps.fuzz.execute import Executor, worker
from aloex.apps.fuzz.target import Target, TargetRecipe, build_target, debian
from aloex.apps.fuzz.target import build as building
from aloex.base.errors import InputError

HARNESS = """
#include "limit.h"
int LLVMFuzzerTestOneInput(const unsigned char *data, long size) {
  if (size > LIMIT) load(data);
  return 0;
}
"""


@pytest.fixture
def folder(tmp_path):
    """A target in two files, with a configuration step, seeds, and a name that the worker uses."""
    here = tmp_path / "mine"
    for name in ("src", "inputs"):
        (here / name).mkdir(parents=True)
    (here / "harness.c").write_text(HARNESS)
    (here / "src/load.c").write_text("int load(const unsigned char *d) { return *d == 7; }\n")
    (here / "src/broken.c").write_text("this is no C\n")
    (here / "limit.in").write_text("#define LIMIT 3\nint load(const unsigned char *);\n")
    (here / "inputs/a b").write_bytes(b"seed")
    (here / "inputs/long").write_bytes(bytes(100))
    (here / "target.toml").write_text(
        'configure = [["cp", "{here}/limit.in", "limit.h"]]\n'
        'sources = ["src/*.c", "!src/broken.c"]\nharness = ["harness.c"]\ninclude = ["."]\n'
        'seeds = ["inputs/*"]\nmax_len = 50\n'
    )
    return here


def test_a_folder_of_ones_own(clang, folder, tmp_path):
    built = build_target(TargetRecipe.load(folder), tmp_path / "out")
    assert built == Target.load(tmp_path / "out")
    assert built.name == "mine"
    assert built.read_seeds() == [b"seed"]  # the other is too long
    with Executor(built, workers=1) as executor:
        outcomes = executor.run([b"", b"abc", b"abcd"])
    assert outcomes.num_edges.tolist()[0] == outcomes.num_edges.tolist()[1]
    assert outcomes.new_edges[2] > 0


def test_a_changed_source_is_compiled_again(clang, folder, tmp_path):
    recipe, out = TargetRecipe.load(folder), tmp_path / "out"
    before = build_target(recipe, out).library.read_bytes()
    (folder / "limit.in").write_text("#define LIMIT 4\nint load(const unsigned char *);\n")
    assert build_target(recipe, out).library.read_bytes() != before


def test_an_up_to_date_target_is_not_built_again(libpng, monkeypatch):
    monkeypatch.setattr(building, "build_anew", None)
    assert build_target(TargetRecipe.load("libpng"), libpng.library.parent) == libpng


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("max_len = 50", "max_len = ", "target.toml cannot be read"),
        ("max_len = 50", 'shell = "rm"', "unknown key 'shell'; known: about,"),
        ("max_len = 50", 'max_len = "50"', "max_len must be a number, got '50'"),
        ('[["cp", "{here}/limit.in", "limit.h"]]', '["cp a b"]', "must be a list of commands"),
        ("max_len = 50", 'needs = ["no-such-program:its-package"]', "apt-get install its-package"),
        ('"cp"', '"no-such-program"', "cannot run no-such-program"),
        ("limit.in", "none.in", "cp failed: cp: cannot stat"),
        ("!src/broken.c", "!src/none.c", "no file matches !src/none.c"),
        ('"src/*.c", "!src/broken.c"', '"src/broken.c"', "error: unknown type name 'this'"),
        ('"src/*.c", "!src/broken.c"', "", "undefined reference to `load'"),
    ],
)
def test_mistakes_in_a_recipe_are_one_line(clang, folder, tmp_path, old, new, words):
    path = folder / "target.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        build_target(TargetRecipe.load(folder), tmp_path / "out")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=r"not a built target|there is no target"):
        Target.load(tmp_path / "out")


def test_missing_compilers_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    worker.compiled.cache_clear()
    with pytest.raises(InputError, match="clang is missing; install it: apt-get install clang-19"):
        build_target(TargetRecipe(name="x", folder=tmp_path), tmp_path / "out")
    with pytest.raises(InputError, match="cc is missing; install it: apt-get install"):
        worker.compiled("worker")
    with pytest.raises(InputError, match=r"comes with apt-get, which is missing.*by hand"):
        debian.fetch("hello", tmp_path, tmp_path / "apt")


def test_damaged_targets_are_told(tiny, tmp_path):
    description = json.loads((tiny.library.parent / "target.json").read_text())
    path = tmp_path / "target.json"
    for text, words in (
        ("{", "is damaged"),
        (json.dumps({**description, "more": 1}), "is damaged"),
        (json.dumps(description), "is incomplete"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            Target.load(tmp_path)


def test_the_systems_archives_are_asked_for_sources():
    rest = "# deb x\ndeb-src http://b/debian stable main\n"
    old = "deb [signed-by=/k] http://a/debian stable main\n" + rest
    new = "deb-src [signed-by=/k] http://a/debian stable main\n" + rest
    assert debian.ask_for_sources(old, ".list") == new
    old = "Types: deb\nURIs: http://a/debian\n\nTypes: deb deb-src\nURIs: http://b\n"
    new = "Types: deb-src\nURIs: http://a/debian\n\nTypes: deb-src\nURIs: http://b\n"
    assert debian.ask_for_sources(old, ".sources") == new


def test_tarballs_are_unpacked_but_not_outside(tmp_path):
    archive, inside = tmp_path / "some.tar", tmp_path / "inside"
    for name, is_good in (("top/folder/file", True), ("top/../../../outside", False)):
        with tarfile.open(archive, "w") as tar:
            member = tarfile.TarInfo(name)
            member.size = 1
            tar.addfile(member, io.BytesIO(b"x"))
        if is_good:
            debian.unpack(archive, inside)
            assert (inside / "folder/file").read_bytes() == b"x"
        else:
            with pytest.raises(InputError, match="cannot be unpacked"):
                debian.unpack(archive, inside)
    assert not any(path.name == "outside" for path in tmp_path.parent.rglob("*"))
