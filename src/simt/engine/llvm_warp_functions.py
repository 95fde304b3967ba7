"""Long meanings as functions of their own: `warp_function` of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simt.analysis.shape import WARP
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, Value, spell
from simt.engine.llvm_lanes import LaneAlgebra
from simt.engine.llvm_seldom import SeldomAlgebra
from simt.ptx.types import Type

LANES = Value(f"<{', '.join(f'i32 {lane}' for lane in range(WARP))}>", "i32", WARP)


class _Inside(LaneAlgebra):
    """The algebra within such a function: all that it sees is columns."""

    def lane(self) -> Value:
        return LANES

    def seldom(
        self, p: Value, usual: tuple[Value, ...], function: Callable[..., tuple[Value, ...]], *operands: Value
    ) -> tuple[Value, ...]:
        """The function is called: in place, it would share what the usual way computes, and keep that in
        registers."""
        columns, like = [self.vector(operand) for operand in operands], [self.vector(v) for v in usual]
        name, whole = function_of(self, function, [v.type for v in like], columns)

        def test(inner: SeldomAlgebra, *values: Value) -> str:
            return inner.some(values[len(like)])

        def rare(inner: SeldomAlgebra, *values: Value) -> list[Value]:
            return called(inner, name, whole, [v.type for v in like], values[len(like) + 1 :])

        return tuple(self.unless(test, rare, len(like), *like, p, *columns))


class WarpFunctionAlgebra(LaneAlgebra):
    """`LaneAlgebra` with functions of their own."""

    def warp_function(
        self, function: Callable[..., tuple[Value, ...]], results: tuple[Type, ...], *operands: Value
    ) -> tuple[Value, ...]:
        columns = [self.vector(operand) for operand in operands]
        types = [element_type(t) for t in results]
        name, whole = function_of(self, function, types, columns)
        return tuple(called(self, name, whole, types, columns))


def called(
    m: SeldomAlgebra, name: str, whole: str, types: Sequence[str], columns: Sequence[Value]
) -> list[Value]:  # fmt: skip
    """The results of such a function."""
    call = m.builder.emit(f"call {whole} @{name}({', '.join(c.typed for c in columns)})")
    return [m.emit(f"extractvalue {whole} {call}, {i}", t, WARP) for i, t in enumerate(types)]


def function_of(
    m: LaneAlgebra, function: Callable[..., tuple[Value, ...]], types: Sequence[str], columns: Sequence[Value]
) -> tuple[str, str]:
    """The name of such a function, and the type of all its results."""
    whole = f"{{ {', '.join(spell(t, WARP) for t in types)} }}"
    name, is_new = m.module.of_key((function, whole), "simt.warp")
    if is_new:
        m.module.define(name, _defined(m, function, name, whole, columns))
    return name, whole


def _defined(
    m: LaneAlgebra,
    function: Callable[..., tuple[Value, ...]],
    name: str,
    whole: str,
    columns: Sequence[Value],
) -> str:
    """The text of the function."""
    builder = Builder()
    inner = _Inside(builder, m.module, m.features, m.block, m.environment)
    inner.folds_columns = True  # which lanes exchange what is known
    parameters = [Value(f"%a{i}", c.type, WARP) for i, c in enumerate(columns)]
    text = "poison"
    for i, value in enumerate(function(inner, *parameters)):
        text = builder.emit(f"insertvalue {whole} {text}, {inner.vector(value).typed}, {i}")
    typed = ", ".join(p.typed for p in parameters)
    head = f"define internal {whole} @{name}({typed}) noinline {m.module.attributes} {{"
    return "\n".join((head, *builder.complete(), f"  ret {whole} {text}", "}"))
