"""Calls of functions that stand in our tables, such as `CASES`, written out where they are used."""

import ast
from types import ModuleType

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.bundle import Bundle

PRIMARY = ast.Call | ast.Name | ast.Subscript | ast.Attribute | ast.Constant | ast.JoinedStr


def call_entry(
    body: Body, module: ModuleType, table: str, key: str, *args: str, in_loop: bool = False
) -> str:
    """Code that calls a function of a table.

    Args:
        body: where the code stands.
        module: the module of the table.
        table: a dict of functions, or of tuples that begin with one.
        key: the function's key.
        args: the arguments, as code.
        in_loop: the arguments change inside of an expression, so no variable can have them.

    Returns:
        The body of a lambda with the arguments in it, or the call of a function or method.
    """
    function = _function(body.bundle, module, table, key)
    match function:
        case ast.Lambda():
            return _inlined(body, module, function, args, in_loop)
        case ast.Attribute(value=ast.Name(id="str")):
            return f"{args[0]}.{function.attr}({', '.join(args[1:])})"
        case ast.Name() if body.bundle.names_in(module.__name__, function):
            return f"{body.helper(module.__name__, function.id)}({', '.join(args)})"
        case ast.Name():  # of Python itself: sorted
            return f"{function.id}({', '.join(args)})"
        case _:
            raise NotImplementedError(f"{table}[{key!r}] is no function that can be written")


def may_be_none(body: Body, module: ModuleType, table: str, key: str) -> bool:
    """Whether a function of a table may return None, as far as its code tells."""
    function = _function(body.bundle, module, table, key)
    if not isinstance(function, ast.Lambda):
        return True
    constants = [node.value for node in ast.walk(function) if isinstance(node, ast.Constant)]
    return None in constants or calls_helpers(body, module, table, key)


def calls_helpers(body: Body, module: ModuleType, table: str, key: str) -> bool:
    """Whether a function of a table uses others of ours."""
    function = _function(body.bundle, module, table, key)
    return function is not None and bool(body.bundle.names_in(module.__name__, function))


def _function(bundle: Bundle, module: ModuleType, table: str, key: str) -> ast.expr | None:
    entry = bundle.entry(module.__name__, table, key)
    return entry.elts[0] if isinstance(entry, ast.Tuple) else entry


def _inlined(
    body: Body, module: ModuleType, function: ast.Lambda, args: tuple[str, ...], in_loop: bool
) -> str:
    names = [each.arg for each in function.args.args]
    given: dict[str, str] = {}
    for name, arg in zip(names, args, strict=True):
        uses = [n for n in ast.walk(function.body) if isinstance(n, ast.Name) and n.id == name]
        given[name] = body.variable(arg, name) if len(uses) > 1 and not in_loop else arg
    code = body.expression(module.__name__, function.body, given)
    return code if isinstance(function.body, PRIMARY) else f"({code})"
