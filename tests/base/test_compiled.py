"""Compiled programs are kept between commands, where the user has not said otherwise."""

import os

import pytest

from aloex.base import compiled
from commands import python


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """The environment of a user with an empty folder of caches."""
    for name in (compiled.FOLDER, *compiled.OTHERS):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_jax_keeps_programs_in_a_folder_for_this_kind_of_processor(caches, monkeypatch):
    program = (
        "from aloex.base.compiled import keep_compiled_programs\nkeep_compiled_programs()\n"
        "import jax\nprint(jax.config.jax_compilation_cache_dir)\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
        "jax.jit(lambda x: x + 1)(1.0)\n"
    )
    done = python(program)
    [folder] = (caches / "aloex").iterdir()
    assert done.stdout.strip() == str(folder), done.stderr
    assert any(path.name.endswith("-cache") for path in folder.iterdir())
    here = compiled._machine()
    monkeypatch.setattr(compiled.Path, "read_text", lambda path: "flags\t\t: of another processor")
    assert folder.name == here != compiled._machine()


def test_a_folder_that_the_user_chose_stays(caches, monkeypatch):
    monkeypatch.setenv(compiled.FOLDER, "mine")
    compiled.keep_compiled_programs()
    assert os.environ[compiled.FOLDER] == "mine" and not any(caches.iterdir())


def test_without_a_folder_to_write_to_nothing_is_kept(caches, monkeypatch):
    (caches / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches / "file"))
    compiled.keep_compiled_programs()
    assert compiled.FOLDER not in os.environ
