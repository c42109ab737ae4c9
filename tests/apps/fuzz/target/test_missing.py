"""A missing library or header is named, with the package that has it."""

import pytest

from aloex.apps.fuzz.target import TargetRecipe, build_target
from aloex.apps.fuzz.target.missing import what_is_missing
from aloex.base.errors import InputError


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "clang++-19 failed: /usr/bin/ld: cannot find -lz: No such file or directory (command",
            "the library z: -lz cannot be found; apt-get install zlib1g-dev",
        ),
        ("/usr/bin/ld: cannot find -lxml2", "apt-get install libxml2-dev"),
        ("ld.lld: error: unable to find library -lpng", "apt-get install libpng-dev"),
        (
            "cannot find -lodd: No such",
            "apt-get install libodd-dev, or whichever package has libodd.so",
        ),
        (
            "clang-19 failed: /a/b.c:1:10: fatal error: 'zlib.h' file not found",
            "the header zlib.h, which b.c includes and which cannot be found; apt-get install z",
        ),
        (
            "b.c:1:10: fatal error: 'my/own.h' file not found",
            "install the package that has it, or name its folder: --include FOLDER (include in tar",
        ),
        (
            "/usr/bin/ld: /a/b.c:3: undefined reference to `crc32' (command: clang++-19",
            'crc32, which is in the library z: --library z (libraries = ["z"] in target.toml)',
        ),
        ("ld.lld: error: undefined symbol: xmlReadMemory", "in the library xml2: --library xml2"),
        ("undefined reference to `sqrtf'", "--library m"),
        ("undefined reference to `inflateInit2_'", "--library z"),
        (
            "undefined reference to `compress_block'",
            "compress_block, which no file defines: name the file that does with --sources",
        ),
        (
            "ld: cannot find /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a",
            "clang's runtime libraries; install them: apt-get install clang-19 libclang-rt-19-dev",
        ),
    ],
)
def test_what_is_missing_is_named(tmp_path, message, words):
    found = what_is_missing(message, tmp_path)
    assert found is not None and words in found


def test_other_failures_are_left_as_they_are(tmp_path):
    assert what_is_missing("b.c:1:1: error: unknown type name 'this'", tmp_path) is None


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ("src/inner/own.h", 'name its folder: include = ["src"]'),
        ("src/other/own.h", "install the package that has it"),
        ("src/own.h.in", "it is made from src/own.h.in: name the commands that make it"),
        ("other_system/inner/own.h own.h.in", "it is made from own.h.in: name the commands that"),
        ("own.h.cmake", "it is made from own.h.cmake: name the commands that make it"),
    ],
)
def test_a_header_of_the_source_tree_is_found(tmp_path, there, words):
    for name in there.split():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = what_is_missing("b.c:1:9: fatal error: 'inner/own.h' file not found", tmp_path)
    assert found is not None and found.split("; ", 1)[1].startswith(words)


CODE = "int LLVMFuzzerTestOneInput(const char *data, long size) { return 0; }\n"


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        (["int one;\n"], "f needs a file that defines LLVMFuzzerTestOneInput: name it with --har"),
        ([f"{CODE}int f(void) {{ return 1; }}\n", "int f(void) { return 2; }\n"],
         'f needs one f, but both f.c and 1.c define it; leave one out'),
    ],
)  # fmt: skip
def test_the_linkers_own_messages_are_understood(clang, tmp_path, codes, words):
    paths = [tmp_path / ("f.c" if i == 0 else f"{i}.c") for i in range(len(codes))]
    for path, code in zip(paths, codes, strict=True):
        path.write_text(code)
    with pytest.raises(InputError) as error:
        build_target(TargetRecipe.of_files(paths), tmp_path / "out", sanitizers=False)
    assert str(error.value).startswith(words)


def test_the_pattern_that_takes_a_file_away_is_named(tmp_path):
    message = (
        f"/usr/bin/ld: b.o: in function `main': {tmp_path}/src/b.c:3: "
        f"multiple definition of `main'; o/1.a.o:{tmp_path}/src/a.c:7: first defined here"
    )
    assert what_is_missing(message, tmp_path) == (
        'one main, but both a.c and b.c define it; leave one out: sources = [..., "!src/b.c"]'
    )


@pytest.mark.parametrize(
    ("include", "library", "words"),
    [
        ("<stddef.h>", "none-such", "f needs the library none-such: -lnone-such cannot be found; "),
        ('"none.h"', "m", "f needs the header none.h, which f.c includes"),
    ],
)
def test_the_compilers_own_messages_are_understood(clang, tmp_path, include, library, words):
    (tmp_path / "f.c").write_text(f"#include {include}\n{CODE}")
    recipe = TargetRecipe.of_files([tmp_path / "f.c"], libraries=[library])
    with pytest.raises(InputError) as error:
        build_target(recipe, tmp_path / "out")
    assert str(error.value).startswith(words)
    assert str(tmp_path / "out/build.log") in str(error.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return crc32(0, data, size);", "f needs crc32, which is in the library z: --library z"),
        ("__builtin_trap();", "f has no branch to count, so no input differs from another"),
    ],
)
def test_what_a_build_of_ours_lacks_is_told_as_such(clang, tmp_path, body, words):
    declared = "unsigned long crc32(unsigned long, const void *, unsigned);\n"
    code = f"int LLVMFuzzerTestOneInput(const char *data, long size) {{ {body} }}\n"
    (tmp_path / "f.c").write_text(declared + code)
    with pytest.raises(InputError) as error:
        build_target(TargetRecipe.of_files([tmp_path / "f.c"]), tmp_path / "out", sanitizers=False)
    assert str(error.value).startswith(words)
