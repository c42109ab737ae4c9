"""A statement as text, with other names and without some of its parts; comments stay."""

import ast
import re
from collections.abc import Set as AbstractSet

from aloex.apps.fill.export.bundle.scopes import Function, Reference, references
from aloex.apps.fill.export.bundle.source import Edit, Source

INDENT = "    "


def edited(
    where: Source, statement: ast.stmt, names: dict[str, str], left_out: AbstractSet[ast.AST]
) -> str:
    """The text of a statement.

    Args:
        where: its module.
        statement: the statement.
        names: names of the module -> new names.
        left_out: methods, and keys and values of tables.
    """
    renamed = _renamed(where, statement, names, left_out)
    cuts = [edit for node in ast.walk(statement) for edit in _cuts(where, node, left_out, renamed)]
    outside = [edit for edit in renamed if not any(c.start <= edit.start < c.end for c in cuts)]
    return where.text(*where.lines_of(statement), [*cuts, *outside]).rstrip()


def expression_text(where: Source, node: ast.expr, names: dict[str, str]) -> str:
    """The text of an expression with other names."""
    return where.text(*where.where(node), _renamed(where, node, names, frozenset()))


def _renamed(
    where: Source, node: ast.stmt | ast.expr, names: dict[str, str], left_out: AbstractSet[ast.AST]
) -> list[Edit]:
    names = {old: new for old, new in names.items() if new != old}
    found = [each for each in references(node, left_out) if each.node.id in names]
    edits = [
        Edit(*where.where(each.node), names[each.node.id]) for each in found if not each.inside
    ]
    # Python 3.11 does not know where in an f-string a name is: those are written anew as a whole.
    for string in {each.inside: None for each in found if each.inside}:
        inside = [each for each in found if each.inside is string]
        edits.append(Edit(*where.where(string), _f_string(string, inside, names)))
    if isinstance(node, Function | ast.ClassDef) and node.name in names:
        start, end = where.where(node)
        head = re.match(r"(?:async )?(?:def|class) +", where.text(start, end))
        start += len(head[0]) if head else 0
        edits.append(Edit(start, start + len(node.name.encode()), names[node.name]))
    return edits


def _f_string(string: ast.JoinedStr, inside: list[Reference], names: dict[str, str]) -> str:
    old = [each.node.id for each in inside]
    for each in inside:
        each.node.id = names[each.node.id]
    text = ast.unparse(string)
    for each, name in zip(inside, old, strict=True):
        each.node.id = name
    return text


def _cuts(
    where: Source, node: ast.AST, left_out: AbstractSet[ast.AST], renamed: list[Edit]
) -> list[Edit]:
    """Edits that leave out methods of a class or entries of a table."""
    if isinstance(node, ast.ClassDef) and not left_out.isdisjoint(node.body):
        if left_out >= {*node.body}:
            start, end = where.lines_of(node.body[0])[0], where.lines_of(node.body[-1])[1]
            return [Edit(start, end, f"{INDENT}pass\n")]
        ends = [where.lines_of(each)[1] for each in node.body]
        starts = [where.lines_of(node.body[0])[0], *ends]
        places = zip(node.body, starts, ends, strict=False)
        return [Edit(start, end, "") for each, start, end in places if each in left_out]
    if isinstance(node, ast.Dict) and not left_out.isdisjoint(node.values):
        entries = [
            where.text(where.where(key)[0], where.where(value)[1], renamed)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None and key not in left_out
        ]
        lines = "".join(f"{INDENT}{entry},\n" for entry in entries)
        return [Edit(*where.where(node), f"{{\n{lines}}}" if entries else "{}")]
    return []
