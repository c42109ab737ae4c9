"""One way to run an outside tool: output comes back, and every failure is one clear line."""

import sys

import pytest

from aloex.apps.fuzz.tools import ToolError, find_llvm, find_tool, run_tool


def python(program: str, **options):
    return run_tool([sys.executable, "-c", program], **options)


def test_output_and_environment_come_back(tmp_path):
    log = tmp_path / "log"
    program = "import os, sys; print(os.getcwd(), os.environ['GREETING']); sys.stderr.write('err')"
    found = python(program, cwd=tmp_path, env={"GREETING": "hello"}, log=log)
    assert (found.stdout, found.stderr, found.status) == (f"{tmp_path} hello\n", "err", 0)
    assert log.read_text().startswith("$ ") and log.read_text().endswith("hello\nerr")


def test_a_failure_names_the_tool_the_command_and_the_last_lines(tmp_path):
    program = "import sys\nfor i in range(9): print('line', i)\nsys.exit(3)"
    with pytest.raises(ToolError) as error:
        python(program)
    message = str(error.value)
    assert message.startswith("python") and "failed: line 8" in message
    assert "command: " in message and "import sys" in message
    assert "last lines: line 6 | line 7 | line 8" in message
    with pytest.raises(ToolError, match=rf"failed: .*all output: {tmp_path}/log"):
        python("raise SystemExit('why')", log=tmp_path / "log")
    assert "why" in (tmp_path / "log").read_text()
    assert python("raise SystemExit(3)", check=False).status == 3


def test_the_line_that_says_most_is_told():
    program = "print('x.c:1: error: unknown type'); print('later'); raise SystemExit(1)"
    with pytest.raises(ToolError, match=r"failed: x\.c:1: error: unknown type"):
        python(program)
    program = "print('ld: final link failed: No space left on device'); "
    program += "print('clang: error: linker command failed'); raise SystemExit(1)"
    with pytest.raises(ToolError, match="failed: ld: final link failed: No space left on device"):
        python(program)


def test_tools_that_hang_or_are_missing(monkeypatch, tmp_path):
    with pytest.raises(ToolError, match=r"took longer than 0.2 seconds \(command: "):
        python("import time; time.sleep(60)", timeout=0.2)
    with pytest.raises(ToolError, match="cannot run no-such-tool: No such file"):
        run_tool(["no-such-tool"])
    assert python("print(input())", check=False).status != 0  # there is nothing to read
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="first is missing; install it: apt-get install its"):
        find_tool("first", "second", package="its-package")
    with pytest.raises(ToolError, match="llvm-cov-19 is missing; install it: apt-get install llvm"):
        find_llvm("llvm-cov")
