"""The bundle of our own source: names are found by Python's rules, and nothing is lost."""

import ast
import pkgutil
import symtable

import pytest

from aloex.apps.fill import expressions
from aloex.apps.fill.export.bundle import Bundle
from aloex.apps.fill.export.bundle.edits import edited
from aloex.apps.fill.export.bundle.scopes import references
from aloex.apps.fill.export.bundle.source import source
from exported_programs import names_of

PREFIX = expressions.__name__ + "."
MODULES = [m.name for m in pkgutil.walk_packages(expressions.__path__, PREFIX) if not m.ispkg]


def names_by_symtable(table: symtable.SymbolTable) -> set[str]:
    """All names that are looked up in the module, as Python itself says."""
    is_module = table.get_type() == "module"
    own = {s.get_name() for s in table.get_symbols() if is_module or s.is_global()}
    return own.union(*map(names_by_symtable, table.get_children()))


@pytest.mark.parametrize("module", MODULES)
def test_references_are_those_of_python(module):
    assert len(MODULES) >= 15
    for statement in source(module).statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        text = source(module).text(*source(module).lines_of(statement))
        found = {each.node.id for each in references(statement)}
        name = getattr(statement, "name", None)  # a definition names itself
        assert found | {name} == names_by_symtable(symtable.symtable(text, "x", "exec")) | {name}


@pytest.mark.parametrize("module", MODULES)
def test_text_without_edits_is_the_text(module):
    where = source(module)
    for statement in where.statements:
        whole = where.text(*where.lines_of(statement)).rstrip()
        assert edited(where, statement, {}, frozenset()) == whole


@pytest.mark.parametrize("module", MODULES)
def test_other_names_change_nothing_else(module):
    """Every definition is renamed; what is left is the same code."""
    where = source(module)
    new = {name: f"{name}_renamed" for name in where.definitions}
    for statement in where.statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        tree = ast.parse(edited(where, statement, new, frozenset()))
        back = ast.unparse(tree).replace("_renamed", "")
        assert back == ast.unparse(ast.Module([statement], []))


def test_names_of_two_modules_are_kept_apart():
    bundle = Bundle()
    names = [bundle.use(PREFIX + module, "in_words") for module in ("patterns", "numbers.words")]
    assert names == ["in_words", "words_in_words"]
    imports, definitions = bundle.write()
    made = names_of("\n".join([*imports, *definitions]))
    assert made["in_words"]("=a") == '"a"'
    style = {"decimals": 2, "mark": ".", "group": "", "lakhs": False, "width": 0}
    words = made["words_in_words"](**style, plus=False, negative="-")
    assert words == ["with 2 decimals"]


def test_methods_that_nothing_calls_are_left_out():
    bundle = Bundle()
    bundle.use(PREFIX + "slices", "Slice")
    bundle.use_method("run")
    imports, definitions = bundle.write()
    made = names_of("\n".join([*imports, *definitions]))
    assert hasattr(made["Slice"], "run") and hasattr(made["Position"], "find")
    assert not hasattr(made["Slice"], "explain") and not hasattr(made["Position"], "to_json")


def test_other_packages_are_refused():
    bundle = Bundle()
    bundle.use("numpy", "array")
    with pytest.raises(NotImplementedError, match="numpy is not in the standard library"):
        bundle.write()
