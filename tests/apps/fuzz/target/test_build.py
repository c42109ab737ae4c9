"""Building targets: recipes, the archive's sources, and one line for each mistake."""

import errno
import io
import json
import shutil
import tarfile
from dataclasses import replace

import pytest

from aloex.apps.fuzz.execute import Executor, worker
from aloex.apps.fuzz.inputs import read_dictionary
from aloex.apps.fuzz.target import Target, TargetRecipe, build_target, debian
from aloex.apps.fuzz.target import build as building
from aloex.apps.fuzz.tools import ToolOutput
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
    before = build_target(recipe, out, sanitizers=False).library.read_bytes()
    (folder / "limit.in").write_text("#define LIMIT 4\nint load(const unsigned char *);\n")
    assert build_target(recipe, out, sanitizers=False).library.read_bytes() != before


def test_what_a_target_was_built_with_it_keeps(clang, folder, tmp_path):
    recipe, out = TargetRecipe.load(folder), tmp_path / "out"
    first = build_target(recipe, out, coverage=True)
    assert (first.coverage, first.asan, first.sanitized) == (
        out / "coverage",
        out / "asan",
        out / "sanitized",
    )
    again = build_target(recipe, out)
    assert again == first
    without = build_target(recipe, out, sanitizers=False)  # unless it is told not to
    assert (without.coverage, without.asan, without.sanitized) == (out / "coverage", None, None)
    assert not (out / "asan").exists() and not (out / "sanitized").exists()


def files_of(out):
    """What a folder holds, without what the tools said."""
    return {
        path.relative_to(out): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.name not in ("build.log", ".lock")
    }


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_a_build_that_fails_leaves_the_old_target_alone(
    clang, folder, tmp_path, monkeypatch, is_interrupted
):
    out = tmp_path / "out"
    build_target(TargetRecipe.load(folder), out, sanitizers=False)
    before = files_of(out)
    if is_interrupted:
        monkeypatch.setattr(building, "gather_seeds", interrupt)
        with pytest.raises(KeyboardInterrupt):
            build_target(TargetRecipe.load(folder), out, sanitizers=False)
    else:
        (folder / "src/load.c").write_text("this is no C\n")
        with pytest.raises(InputError, match=r"load\.c:1.*unknown type name"):
            build_target(TargetRecipe.load(folder), out, sanitizers=False)
    assert files_of(out) == before
    assert Target.load(out).read_seeds() == [b"seed"]


def test_a_full_disk_is_told_with_the_folder(clang, folder, tmp_path, monkeypatch):
    def fill(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(building, "gather_seeds", fill)
    with pytest.raises(OSError) as error:
        build_target(TargetRecipe.load(folder), tmp_path / "out", sanitizers=False)
    assert error.value.filename == str(tmp_path / "out")


def interrupt(*_):
    raise KeyboardInterrupt


def test_what_a_killed_build_left_is_no_obstacle(clang, folder, tmp_path):
    out = tmp_path / "out"
    recipe = TargetRecipe.load(folder)
    build_target(recipe, out, sanitizers=False)
    (out / ".building").mkdir()  # killed while it was unpacking
    (out / ".building/source").symlink_to(out / "source-1")
    (out / "source-1").mkdir()
    (out / "target.json").unlink()  # or at the very end
    shutil.rmtree(out / "seeds")
    built = build_target(recipe, out, sanitizers=False)
    assert built.read_seeds() == [b"seed"]
    assert not (out / ".building").exists() and not (out / "source-1").exists()


def test_files_of_the_user_are_not_replaced(clang, folder, tmp_path):
    recipe = TargetRecipe.load(folder)
    with pytest.raises(InputError, match=r"has files of yours .*\(target.json\).*--out FOLDER"):
        (tmp_path / "target.json").write_text("{}")
        build_target(recipe, tmp_path)
    built = build_target(replace(recipe, seeds=()), tmp_path / "out", sanitizers=False)
    (tmp_path / "out/seeds").mkdir()  # only now
    (tmp_path / "out/seeds/mine").write_text("mine")
    with pytest.raises(InputError, match=r"has files of yours .*\(seeds\)"):
        build_target(recipe, tmp_path / "out")
    assert (tmp_path / "out/seeds/mine").read_text() == "mine"
    assert Target.load(tmp_path / "out") == built


def test_seeds_and_a_dictionary_beside_the_recipe_are_taken(clang, folder, tmp_path):
    (folder / "seeds/more").mkdir(parents=True)
    (folder / "seeds/a b").write_bytes(b"first")
    (folder / "seeds/more/b").write_bytes(b"second")
    (folder / "words.dict").write_text('"abc"\n')
    built = build_target(TargetRecipe.load(folder), tmp_path / "out", sanitizers=False)
    assert sorted(built.read_seeds()) == [b"first", b"second", b"seed"]
    assert built.dictionary is not None
    assert read_dictionary(built.dictionary) == [b"abc"]

    (folder / "more.dict").write_text('"def')
    with pytest.raises(InputError, match=r"several dictionaries \(more\.dict, words\.dict\)"):
        TargetRecipe.load(folder)
    toml = folder / "target.toml"
    toml.write_text(toml.read_text() + 'dictionary = "more.dict"\n')
    with pytest.raises(InputError, match=r"more\.dict:1: a line must be"):
        build_target(TargetRecipe.load(folder), tmp_path / "out")
    (folder / "more.dict").unlink()
    with pytest.raises(InputError, match=r"cannot read the dictionary .*more\.dict: No such file"):
        build_target(TargetRecipe.load(folder), tmp_path / "out")


def test_an_up_to_date_target_is_not_built_again(libpng, monkeypatch):
    monkeypatch.setattr(building, "build_anew", None)
    assert build_target(TargetRecipe.load("libpng"), libpng.library.parent) == libpng


@pytest.fixture
def package(folder, tmp_path, monkeypatch):
    """The recipe of a package, whose archive is at hand."""
    archive = tmp_path / "some.tar"
    with tarfile.open(archive, "w") as tar:
        for path in sorted(folder.rglob("*.[ci]*")):
            tar.add(path, f"some/{path.relative_to(folder)}")
    monkeypatch.setattr(debian, "fetch", lambda *_: archive)
    toml = folder / "target.toml"
    toml.write_text('package = "some"\n' + toml.read_text().replace('seeds = ["inputs/*"]', ""))
    return folder


def test_a_packages_source_stays_where_it_was_compiled(clang, package, tmp_path):
    out = tmp_path / "out"
    for name in ("source", "source-1", "source"):
        (package / "a file that changes the recipe").write_text(name)
        built = build_target(TargetRecipe.load(package), out, sanitizers=False)
        assert built.tree == out / name
        assert list(out.glob("source*")) == [built.tree]
        assert f"{built.tree}/src/load.c".encode() in built.library.read_bytes()
        assert build_target(TargetRecipe.load(package), out, sanitizers=False) == built
    (package / "harness.c").write_text("this is no C\n")
    with pytest.raises(InputError, match=r"harness\.c:1.*unknown type name"):
        build_target(TargetRecipe.load(package), out, sanitizers=False)
    assert list(out.glob("source*")) == [built.tree]
    assert (built.tree / "limit.h").is_file()


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
        ('"src/*.c",', '"lib/load.c",', "mine; there is src/load.c"),
        ('"src/*.c",', '"lib/none.c",', "mine; it has harness.c, inputs/, limit.h, limit.in, src/"),
        (
            "max_len = 50",
            'libraries = ["no-such"]',
            "mine needs the library no-such: -lno-such can",
        ),
        ("max_len = 50", 'sanitizers = ["luck"]', "unsupported argument 'luck' to option '-fsanit"),
        ('"src/*.c", "!src/broken.c"', '"src/broken.c"', "error: unknown type name 'this'"),
        (
            '"src/*.c", "!src/broken.c"',
            "",
            "mine needs load, which no file defines: name the file that does with --sources",
        ),
    ],
)
def test_mistakes_in_a_recipe_are_one_line(clang, folder, tmp_path, old, new, words):
    path = folder / "target.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        build_target(TargetRecipe.load(folder), tmp_path / "out")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="there is no target"):
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


def test_the_source_package_of_a_binary_one_is_named(monkeypatch, tmp_path):
    def run_tool(words, *, cwd=None, **_):
        if "source" in words:
            (cwd / "hello_2.10.orig.tar.gz").touch()
        return ToolOutput("", "")

    monkeypatch.setattr(debian, "run_tool", run_tool)
    (tmp_path / "another_1.orig.tar.gz").touch()
    with pytest.raises(InputError, match=r'libhello-dev is no source .* built from "hello": write'):
        debian.fetch("libhello-dev", tmp_path, tmp_path / "apt")
    assert [path.name for path in tmp_path.glob("*.gz")] == ["another_1.orig.tar.gz"]


def test_a_recipes_own_folder_may_have_headers(clang, folder, tmp_path):
    (folder / "target.toml").write_text(
        'configure = [["mkdir", "-p", "{here}/own"], ["cp", "limit.in", "{here}/own/limit.h"]]\n'
        'sources = ["src/load.c"]\nharness = ["harness.c"]\ninclude = ["{here}/own"]\n'
        'flags = ["-include", "{here}/limit.in"]\n'
    )
    target = build_target(TargetRecipe.load(folder), tmp_path / "out", sanitizers=False)
    assert target.fuzzer is not None and target.fuzzer.exists()


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
