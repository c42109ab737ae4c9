"""Dictionaries: the syntax of AFL and libFuzzer, and each mistake by its line."""

from pathlib import Path

import pytest

from aloex.apps.fuzz import target
from aloex.apps.fuzz.inputs import read_dictionary
from aloex.base.errors import InputError

BUILTIN = sorted((Path(target.__file__).parent / "builtin").glob("*/*.dict"))


def read(tmp_path, text):
    path = tmp_path / "some.dict"
    path.write_text(text)
    return read_dictionary(path)


def test_tokens_in_the_order_of_the_file(tmp_path):
    text = (
        '# a comment\n\n"IHDR"\nname="a b"\n  x@2 = "\\x00\\xfF\\\\"  # more\n'
        '"say \\"hi\\""\r\n"#no=comment"\n"IHDR"\n'
    )
    assert read(tmp_path, text) == [b"IHDR", b"a b", b"\0\xff\\", b'say "hi"', b"#no=comment"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("IHDR", 'a line must be "token" or name="token", got IHDR'),
        ('"IHDR', "a line must be"),
        ('name: "x"', "a line must be"),
        ('"a" "b"', "within the quotes"),
        ('""', "a token must have at least one byte"),
        ('"\\x0"', "must be one of"),
        ('"\\n"', "must be one of"),
        ('"a\\"', "must be one of"),
        ('"caf\u00e9"', "write the byte \\xc3 so"),
        ('"a\tb"', "write the byte \\x09 so"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path, line, words):
    with pytest.raises(InputError) as error:
        read(tmp_path, f'"fine"\n# fine\n{line}\n')
    assert str(error.value).startswith(f"{tmp_path}/some.dict:3: ")
    assert words in str(error.value)


def test_of_a_file_that_is_no_text_little_is_shown(tmp_path):
    (tmp_path / "binary.dict").write_bytes(bytes(range(128, 256)) * 1000)
    with pytest.raises(InputError, match=r'a line must be "token" or .*, got .*\.\.\.$') as error:
        read_dictionary(tmp_path / "binary.dict")
    assert len(str(error.value)) < 160 + len(str(tmp_path))


def test_a_dictionary_that_is_empty_or_missing(tmp_path):
    with pytest.raises(InputError, match="there is no token in the dictionary"):
        read(tmp_path, "# nothing\n")
    with pytest.raises(InputError, match=r"cannot read the dictionary .*none: No such file"):
        read_dictionary(tmp_path / "none")


@pytest.mark.parametrize("path", BUILTIN, ids=lambda path: path.name)
def test_the_dictionaries_that_come_with_aloex_fit_into_mutants(path):
    tokens = read_dictionary(path)
    assert len(tokens) > 40
    assert max(map(len, tokens)) <= 31


def test_each_built_in_target_has_a_dictionary():
    assert [path.stem for path in BUILTIN] == ["libpng", "mpeg2dec", "openjpeg"]
