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

    def rarely(self, t: Type, p: Value, usual: Value, other: Callable[..., Value], *operands: Value) -> Value:
        """`other` is a function that is called: in place, it would share what the usual way computes, and
        keep that in registers for the few lanes that need it."""

        def called(inner: SeldomAlgebra, *values: Value) -> Value:
            name, _ = self.module.of_key((other, len(values), values[0].width), "rare")

            def run(builder: Builder, *parameters: Value) -> Value:
                return other(self.pure(builder, parameters[0].width), *parameters)

            return inner.outlined(name, element_type(t), run, *values)

        return super().rarely(t, p, usual, called, *operands)


class WarpFunctionAlgebra(LaneAlgebra):
    """`LaneAlgebra` with functions of their own."""

    def warp_function(
        self, function: Callable[..., tuple[Value, ...]], results: tuple[Type, ...], *operands: Value
    ) -> tuple[Value, ...]:
        columns = [self.vector(operand) for operand in operands]
        types = [element_type(t) for t in results]
        whole = f"{{ {', '.join(spell(t, WARP) for t in types)} }}"
        name, is_new = self.module.of_key((function, results), "simt.warp")
        if is_new:
            self.module.define(name, self._defined(function, name, whole, columns))
        call = self.builder.emit(f"call {whole} @{name}({', '.join(c.typed for c in columns)})")
        return tuple(
            self.emit(f"extractvalue {whole} {call}, {i}", t, WARP) for i, t in enumerate(types)
        )  # fmt: skip

    def _defined(
        self, function: Callable[..., tuple[Value, ...]], name: str, whole: str, columns: Sequence[Value]
    ) -> str:
        """The text of the function."""
        builder = Builder()
        inner = _Inside(builder, self.module, self.features, self.block, self.environment)
        parameters = [Value(f"%a{i}", c.type, WARP) for i, c in enumerate(columns)]
        text = "poison"
        for i, value in enumerate(function(inner, *parameters)):
            text = builder.emit(f"insertvalue {whole} {text}, {inner.vector(value).typed}, {i}")
        typed = ", ".join(p.typed for p in parameters)
        head = f"define internal {whole} @{name}({typed}) noinline {self.module.attributes} {{"
        return "\n".join((head, *builder.complete(), f"  ret {whole} {text}", "}"))
