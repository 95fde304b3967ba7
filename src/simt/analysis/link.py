"""Several files as one program: what one declares `.extern`, another one defines (PTX 1.4 tables 104, 105).

Kernels are known everywhere, other names if they are `.visible` (or `.weak`, or `.common`). Every other name
is its file's own: where two files have it, the later one's gets another name in the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simt.analysis.lower_context import Context, Definition
from simt.diagnostics import Span
from simt.ptx.agreement import difference
from simt.ptx.nodes import Function, Variable

_SHARED_SPACES = ("global", "const", "shared", "tex")
"""State spaces in which a name means one place for the whole program."""
_REPLACEABLE = ("weak", "common")


def resolve(contexts: Sequence[Context]) -> None:
    """Fills `imports` and `names` of every file's context. Reports what does not fit together."""
    exports: dict[str, Definition] = {}
    for context in contexts:
        for node in _definitions(context):
            if _is_exported(node):
                _export(exports, context, node)
    taken = set(exports)
    for context in contexts:
        for node in _declarations(context):
            taken.add(node.name)
            _import(exports, contexts, context, node)
    for context in contexts:
        _rename(context, taken)


def _definitions(context: Context) -> Iterator[Function | Variable]:
    for node in _items(context):
        if node.linkage != "extern" and not (isinstance(node, Function) and node.body is None):
            yield node


def _declarations(context: Context) -> Iterator[Function | Variable]:
    """What the file names but does not define."""
    for name in dict.fromkeys(node.name for node in _items(context)):
        symbol = context.scopes.lookup(name)
        match symbol.node if symbol is not None else None:
            case Variable(linkage="extern") | Function(body=None) as node:
                yield node
            case _:
                pass


def _items(context: Context) -> Iterator[Function | Variable]:
    for item in context.module.items:
        if isinstance(item, Function) or (isinstance(item, Variable) and item.space in _SHARED_SPACES):
            yield item


def _is_exported(node: Function | Variable) -> bool:
    return node.linkage != "" or (isinstance(node, Function) and node.is_entry)


def _export(exports: dict[str, Definition], context: Context, node: Function | Variable) -> None:
    before = exports.setdefault(node.name, Definition(context, node))
    if before.context is context:
        return
    if node.linkage in _REPLACEABLE:
        context.imports[node.name] = before
    elif before.node.linkage in _REPLACEABLE:
        exports[node.name] = before.context.imports[node.name] = Definition(context, node)
    else:
        _error(context, f"`{node.name}` is defined in {_place(before)} already", node.span)


def _import(
    exports: dict[str, Definition], contexts: Sequence[Context], context: Context, node: Function | Variable
) -> None:
    found = exports.get(node.name)
    if found is None:
        hidden = _hidden(contexts, context, node)
        if hidden is not None:
            message = f"`{node.name}` is declared here, but {_place(hidden)} defines it for its own file"
            _error(context, message, node.span, "expected `.visible` there")
        return
    differs = difference(node, found.node, linked=True)
    if differs:
        message = f"`{node.name}` does not agree with its definition in {_place(found)}: {differs}"
        _error(context, message, node.span)
    context.imports[node.name] = found


def _hidden(contexts: Sequence[Context], context: Context, node: Function | Variable) -> Definition | None:
    """A definition in another file that is not visible from here."""
    others = (Definition(c, n) for c in contexts if c is not context for n in _definitions(c))
    return next((d for d in others if d.node.name == node.name and type(d.node) is type(node)), None)


def _rename(context: Context, taken: set[str]) -> None:
    """Gives the file's own names that others have too a name of their own."""
    for node in _definitions(context):
        if _is_exported(node) or node.name in context.names:
            continue
        name = node.name
        while name in taken:
            name += "'"
        taken.add(name)
        context.names[node.name] = name


def _error(context: Context, message: str, span: Span, hint: str | None = None) -> None:
    context.diagnostics.error(message, span, hint)


def _place(definition: Definition) -> str:
    source = definition.context.diagnostics.source
    return f"{source.name} line {source.position(definition.node.span.start)[0]}"
