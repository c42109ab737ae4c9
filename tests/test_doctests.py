"""Examples in docstrings run, and every exported name has one, with Args and Returns."""

import ast
import doctest
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import aloex

SOURCE = Path(aloex.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples() -> dict[str, doctest.DocTest]:
    """Every docstring with an example, by file and name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text, name = ast.get_docstring(node), getattr(node, "name", "module")
                if text and ">>>" in text:
                    key = f"{path.relative_to(SOURCE)}:{name}"
                    line = getattr(node, "lineno", 0)
                    found[key] = doctest.DocTestParser().get_doctest(text, {}, key, str(path), line)
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    module = name.partition(":")[0].removesuffix(".py").removesuffix("/__init__")
    EXAMPLES[name].globs.update(vars(importlib.import_module(f"aloex.{module.replace('/', '.')}")))
    result = doctest.DocTestRunner(optionflags=FLAGS).run(EXAMPLES[name], out=said.append)
    assert result.attempted > 0 and result.failed == 0, "".join(said)


def names_of(module: ModuleType) -> list[str]:
    """What a module exports: what it lists, or what it defines without an underscore."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return listed
    own = lambda value: getattr(value, "__module__", None) == module.__name__
    return [name for name, value in vars(module).items() if name[0] != "_" and own(value)]


def exported() -> dict[str, object]:
    """Functions and classes behind the names in `aloex.__all__`."""
    found = {}
    for name in aloex.__all__:
        value = getattr(aloex, name)
        if isinstance(value, ModuleType):
            parts = {f"{name}.{part}": getattr(value, part) for part in names_of(value)}
        else:
            parts = {name: value}
        kind = lambda v: inspect.isclass(v) or inspect.isroutine(v) or hasattr(v, "__wrapped__")
        found |= {part: v for part, v in parts.items() if kind(v)}
    return found


def lacks(value: object) -> list[str]:
    """What a docstring does not have: an example always, Args and Returns where there are any."""
    text = inspect.getdoc(value) or ""
    parts = [] if issubclass_of(value, Exception) else [">>>"]
    if not inspect.isclass(value):
        signature = inspect.signature(value)
        parts += ["Args:"] if signature.parameters else []
        parts += ["Returns:"] if signature.return_annotation not in (None, "None") else []
    return [part for part in parts if part not in text]


def issubclass_of(value: object, kind: type) -> bool:
    return inspect.isclass(value) and issubclass(value, kind)


def test_every_exported_name_has_args_returns_and_an_example():
    incomplete = {name for name, value in exported().items() if lacks(value)}
    assert incomplete == set(), "these need Args, Returns and an example"


def test_every_exported_name_is_there():
    assert len(exported()) > 40
    for name in aloex.__all__:
        getattr(aloex, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        aloex.nothing  # noqa: B018
    assert importlib.import_module("aloex.base.errors") is aloex.errors
