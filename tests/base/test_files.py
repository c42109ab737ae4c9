"""Files that are never half written, and messages about those that cannot be written."""

import os
import resource
import threading
from pathlib import Path

import pytest

from aloex.base.errors import AloexError
from aloex.base.files import UNFINISHED, State, naming, whole_file, write_file


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("durable", [False, True])
def test_an_interrupt_before_the_rename_leaves_the_old_file(tmp_path, monkeypatch, durable):
    """It fails if the file itself is opened for writing, that is, without the rename."""
    path = tmp_path / "table.csv"
    path.write_text("old")

    def interrupted(*_):
        assert path.read_text() == "old"  # whatever was written went elsewhere
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(Interrupted):
            write_file(path, "new", durable=durable)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    write_file(path, b"new", durable=durable)
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("durable, steps", [(False, ["rename"]), (True, ["sync 4", "rename"])])
def test_a_durable_file_is_on_the_disk_before_the_rename(tmp_path, monkeypatch, durable, steps):
    taken, replace = [], os.replace
    size = lambda file: os.fstat(file).st_size
    monkeypatch.setattr(os, "fsync", lambda file: taken.append(f"sync {size(file)}"))
    monkeypatch.setattr(os, "replace", lambda *paths: taken.append("rename") or replace(*paths))
    write_file(tmp_path / "file", "text", durable=durable)
    assert taken == steps


def test_a_reader_never_sees_half_a_file(tmp_path):
    path, done, seen = tmp_path / "file", threading.Event(), set()
    contents = {"a" * 200_000, "b" * 200_000}
    write_file(path, min(contents))

    def read():
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(200):
        for content in contents:
            write_file(path, content)
    done.set()
    reader.join()
    assert seen <= contents


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, OSError])
def test_an_end_in_the_middle_leaves_nothing_behind(tmp_path, error):
    with pytest.raises((error, AloexError)), whole_file(tmp_path / "file") as file:
        file.write(b"half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_several_write_one_file_at_once(tmp_path):
    """It fails if they share the name of the file that is not whole yet."""
    path = tmp_path / "file"
    with whole_file(path) as first:
        first.write(b"first")
        with whole_file(path) as second:
            first.flush()
            second.write(b"2nd")
        assert path.read_bytes() == b"2nd"
        assert [each.suffix for each in tmp_path.iterdir() if each != path] == [UNFINISHED]
    assert path.read_bytes() == b"first" and list(tmp_path.iterdir()) == [path]


def test_a_file_that_has_changed_since_it_was_read_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_text("read")
    state = State.of(path)
    with whole_file(path, state=state) as file:
        file.write(b"new")
    assert path.read_text() == "new"
    changed = pytest.raises(AloexError, match="file has changed since it was read: it is left")
    with changed, whole_file(path, state=state) as file:  # another one has this name now
        file.write(b"newer")
    state = State.of(path)
    with changed, whole_file(path, state=state) as file:
        path.write_text("theirs")
    assert path.read_text() == "theirs" and list(tmp_path.iterdir()) == [path]
    with changed, whole_file(path, state=State.of(path)) as file:
        path.unlink()
    assert list(tmp_path.iterdir()) == []


def test_what_may_not_be_read_is_not_told_how_to_be_written():
    denied = PermissionError(13, "Permission denied")
    reading = pytest.raises(AloexError, match=r"cannot read x: .* denied; .*let you read it")
    with reading, naming("x", "read"):
        raise denied
    writing = pytest.raises(AloexError, match=r"cannot write x: .* denied; .*may write to")
    with writing, naming("x"):
        raise denied


def test_links_and_modes_stay(tmp_path):
    link, real = tmp_path / "link", tmp_path / "real"
    link.symlink_to("real")
    mask = os.umask(0o027)
    try:
        write_file(link, "new")
    finally:
        os.umask(mask)
    assert link.is_symlink() and real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640  # as any new file
    real.chmod(0o600)
    with whole_file(link) as file:
        assert os.fstat(file.fileno()).st_mode & 0o777 == 0o600  # before there is text in it
    assert real.stat().st_mode & 0o777 == 0o600 and link.is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    os.chown(path, 1234, 5678)
    write_file(path, "new")
    about = path.stat()
    assert (about.st_uid, about.st_gid, about.st_mode & 0o777) == (1234, 5678, 0o640)


def test_a_name_as_long_as_can_be(tmp_path):
    for name in ("x" * 255, "漢" * 85):
        write_file(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"


def test_a_reader_that_has_left_is_no_error_to_explain():
    with pytest.raises(BrokenPipeError), naming("standard output"):
        raise BrokenPipeError


def test_a_pipe_is_written_to_and_stays(tmp_path):
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_text()), daemon=True)
    reader.start()
    write_file(path, "filled")
    reader.join(10)
    assert got == ["filled"] and path.is_fifo()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/dev/full", r"cannot write /dev/full: No space left on device; free some space"),
        ("none/file", r"cannot write .*none/file: No such file or directory; check the path"),
        ("there/file", r"cannot write .*there/file: Not a directory; .*choose another path"),
        ("/proc/aloex", r"cannot write /proc/aloex: "),
        ("loop", r"cannot write .*loop: Too many .*; the link leads back to itself; choose"),
    ],
)
def test_what_cannot_be_written_is_told_with_its_path(tmp_path, path, message):
    (tmp_path / "there").write_text("a file")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(AloexError, match=message):
        write_file(tmp_path / Path(path), "text")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    """Half a file on a full disk would take what is left of it."""
    path = tmp_path / "x.bin"
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))  # Python ignores SIGXFSZ
    try:
        with pytest.raises(AloexError, match=r"x\.bin: File too large; free some space"):
            write_file(path, bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert list(tmp_path.iterdir()) == []
