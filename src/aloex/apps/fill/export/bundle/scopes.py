"""Which names in a piece of code belong to its module, by Python's rules of scope."""

import ast
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Reference(NamedTuple):
    """A name that is looked up in the module, and the f-string around it, if any."""

    node: ast.Name
    inside: ast.JoinedStr | None


def references(node: ast.AST, left_out: Container[ast.AST] = ()) -> Iterator[Reference]:
    """All names of a piece of code that belong to its module or to Python itself.

    Args:
        node: the piece of code.
        left_out: parts of it that are not looked at.

    Returns:
        The names, in the order of the tree.

    >>> [found.node.id for found in references(ast.parse("lambda x: f(x, y)"))]
    ['f', 'y']
    """
    return _walk(node, frozenset(), None, left_out)


def attributes(node: ast.AST, left_out: Container[ast.AST] = ()) -> set[str]:
    """The names behind a dot."""
    found = {node.attr} if isinstance(node, ast.Attribute) else set[str]()
    for child in ast.iter_child_nodes(node):
        if child not in left_out:
            found |= attributes(child, left_out)
    return found


def bound_names(statements: Iterable[ast.AST]) -> set[str]:
    """The names that statements give a value in their own scope."""
    found: set[str] = set()
    for node in statements:
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, Comprehension):
            found |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        elif not isinstance(node, ast.Lambda):
            found |= _bound_by(node) | bound_names(ast.iter_child_nodes(node))
    return found


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            return {node.id}
        case ast.alias():
            return {(node.asname or node.name).partition(".")[0]}
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return {name}
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return {name}
        case _:
            return set()


def _walk(
    node: ast.AST,
    local: frozenset[str],
    inside: ast.JoinedStr | None,
    left_out: Container[ast.AST],
) -> Iterator[Reference]:
    if isinstance(node, ast.Name):
        if node.id not in local:
            yield Reference(node, inside)
        return
    inner = local
    if isinstance(node, ast.JoinedStr):
        inside = inside or node
    elif isinstance(node, Function | ast.Lambda):
        inner |= _arguments(node.args)
        inner |= bound_names(node.body) if isinstance(node.body, list) else set()
    elif isinstance(node, ast.ClassDef):
        inner |= bound_names(node.body)
    elif isinstance(node, Comprehension):
        inner |= bound_names(each.target for each in node.generators)
    for child in _children(node):
        if child not in left_out:
            seen = inner if _sees_names_of(node, child) else local
            yield from _walk(child, seen, inside, left_out)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node; those of a function's arguments, too, which are evaluated outside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arguments):
            yield from (each for each in [*child.defaults, *child.kw_defaults] if each)
            yield from (a.annotation for a in _all_arguments(child) if a.annotation)
        else:
            yield child


def _sees_names_of(parent: ast.AST, child: ast.AST) -> bool:
    """Whether a part of a function, a class or a comprehension is inside its scope."""
    if isinstance(parent, ast.Lambda):
        return child is parent.body
    if isinstance(parent, Function):
        return child in parent.body
    if isinstance(parent, ast.ClassDef):  # methods do not see the names of their class
        return child in parent.body and not isinstance(child, Function)
    return True


def _all_arguments(args: ast.arguments) -> list[ast.arg]:
    several = [each for each in (args.vararg, args.kwarg) if each]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *several]


def _arguments(args: ast.arguments) -> set[str]:
    return {each.arg for each in _all_arguments(args)}
