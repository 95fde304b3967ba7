"""Directed rounding by the CPU, on vectors cut into pieces of its registers' size.

With AVX-512 each instruction carries its own rounding. With AVX and FMA the rounding mode is a field of
a control register (MXCSR): one piece of inline assembly sets it, computes, and restores it, so that no
other instruction can come in between.
"""

from __future__ import annotations

from collections.abc import Callable

from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, Value, spell
from simt.engine.llvm_narrow import NarrowIntegers
from simt.isa.algebra import Rounding
from simt.ptx.types import F32, Type

_CONTROL = {"rn": 0, "rm": 1, "rp": 2, "rz": 3}
"""The rounding field of MXCSR (bits 13 and 14) and of instructions with embedded rounding."""
_GROUP = 4
"""Pieces in one piece of assembly: three operands of each fit the sixteen registers."""


class LlvmRounding(NarrowIntegers):
    """Adds correctly rounded f32 and f64 add, sub, mul, div, fma and sqrt in every direction."""

    def embedded(self, name: str, t: Type, rounding: Rounding, *values: Value) -> Value:
        """An AVX-512 instruction with its own rounding, on all lanes."""
        lanes = 512 // t.bits
        piece = spell(element_type(t), lanes)
        mnemonic = f"{'vfmadd' if name == 'fma' else name}.{_suffix(t)}.512"
        parameters = (*(piece for _ in values), "i32 immarg")
        function = self.module.declare(f"llvm.x86.avx512.{mnemonic}", piece, parameters)
        control = 8 | _CONTROL[rounding]  # 8: exceptions suppressed

        def call(*pieces: Value) -> Value:
            operands = ", ".join(p.typed for p in pieces)
            return self.emit(f"call {piece} {function}({operands}, i32 {control})", pieces[0].type, lanes)

        return self.piecewise(lanes, call, *values)

    def rounded_integer(self, source: Type, a: Value, rounding: Rounding) -> Value:
        """An integer of 32 bits as an f32, by AVX-512's instruction with its own rounding."""
        name = f"llvm.x86.avx512.{'s' if source.is_signed else 'u'}itofp.round.v16f32.v16i32"
        function = self.module.declare(name, "<16 x float>", ("<16 x i32>", "i32 immarg"))

        def call(piece: Value) -> Value:
            text = f"call <16 x float> {function}({piece.typed}, i32 {8 | _CONTROL[rounding]})"
            return self.emit(text, "float", 16)

        return self.piecewise(16, call, a)

    def in_mode(self, name: str, t: Type, rounding: Rounding, *values: Value) -> Value:
        """AVX instructions under another rounding mode, on all lanes."""

        def run(builder: Builder, *parameters: Value) -> Value:
            inner = LlvmRounding(builder, self.module, parameters[0].width, self.features)
            return inner.mode_body(name, t, rounding, parameters)

        return self.outlined(f"{name}.{rounding}.{t.name}", element_type(t), run, *values)

    def mode_body(self, name: str, t: Type, rounding: Rounding, values: tuple[Value, ...]) -> Value:
        """The body of a function that computes under another rounding mode."""
        lanes = 256 // t.bits
        slots = tuple(self.builder.emit("alloca i32, align 4") for _ in range(2))
        columns = [self.cut(v, lanes) for v in values]
        results: list[Value] = []
        for start in range(0, len(columns[0]), _GROUP):
            group = [c[start : start + _GROUP] for c in columns]
            results += self._assembly(f"{name}{_suffix(t)}", rounding, slots, group)
        return self.join(results, values[0].width)

    def _assembly(
        self, mnemonic: str, rounding: Rounding, slots: tuple[str, ...], columns: list[list[Value]]
    ) -> list[Value]:
        """One piece of assembly on some pieces: `columns` holds the pieces of each operand."""
        count, first = len(columns[0]), columns[0][0]
        tied = columns[2] if len(columns) == 3 else []
        sources = [*columns[0], *(columns[1] if len(columns) > 1 else [])]
        # Operands: results, a scratch register, the two slots, the tied addends, the sources.
        base = count + 3 + len(tied)
        body = [
            _instruction(mnemonic, i, [base + j * count + i for j in range(len(sources) // count)])
            for i in range(count)
        ]
        result = f"{{ {', '.join([first.spelled] * count)}, i32 }}"
        constraints = ["=&x"] * count + ["=&r", "=*m", "=*m"] + [str(i) for i in range(len(tied))]
        constraints += ["x"] * len(sources) + ["~{dirflag}", "~{fpsr}", "~{flags}"]
        operands = [f"ptr elementtype(i32) {s}" for s in slots] + [v.typed for v in (*tied, *sources)]
        text = "\\0A".join((*_enter(count, rounding), *body, f"ldmxcsr ${count + 1}"))
        call = f'call {result} asm sideeffect "{text}", "{",".join(constraints)}"({", ".join(operands)})'
        name = self.builder.emit(call)
        return [
            self.emit(f"extractvalue {result} {name}, {i}", first.type, first.width) for i in range(count)
        ]

    # -- pieces of vectors ---------------------------------------------------------------------

    def piecewise(self, lanes: int, call: Callable[..., Value], *values: Value) -> Value:
        """Applies `call` to pieces of `lanes` lanes, and joins the results to the operands' width."""
        values = self.unify(*values)
        columns = [self.cut(v, lanes) for v in values]
        results = [call(*pieces) for pieces in zip(*columns, strict=True)]
        return self.join(results, values[0].width)

    def cut(self, a: Value, lanes: int) -> list[Value]:
        """The pieces of a vector, the last one filled up; a scalar is lane 0 among zeros."""
        if a.width == 1:
            wide = spell(a.type, lanes)
            return [self.emit(f"insertelement {wide} zeroinitializer, {a.typed}, i64 0", a.type, lanes)]
        return [self._slice(a, start, lanes) for start in range(0, a.width, lanes)]

    def join(self, pieces: list[Value], width: int) -> Value:
        """The reverse of `cut`."""
        if width == 1:
            return self.emit(f"extractelement {pieces[0].typed}, i64 0", pieces[0].type, 1)
        while len(pieces) > 1:
            pieces = [self._pair(pieces[i : i + 2]) for i in range(0, len(pieces), 2)]
        return self._slice(pieces[0], 0, width)

    def _slice(self, a: Value, start: int, lanes: int) -> Value:
        """`lanes` lanes from `start` on; those past the end are arbitrary."""
        if start == 0 and lanes == a.width:
            return a
        return self._shuffle(a, a, [i if i < a.width else None for i in range(start, start + lanes)])

    def _pair(self, pieces: list[Value]) -> Value:
        if len(pieces) == 1:
            return pieces[0]
        a, b = pieces
        b = self._slice(b, 0, a.width)
        return self._shuffle(a, b, list(range(2 * a.width)))

    def _shuffle(self, a: Value, b: Value, lanes: list[int | None] | list[int]) -> Value:
        mask = ", ".join("i32 poison" if i is None else f"i32 {i}" for i in lanes)
        text = f"shufflevector {a.typed}, {b.typed}, <{len(lanes)} x i32> <{mask}>"
        return self.emit(text, a.type, len(lanes))


def _suffix(t: Type) -> str:
    return "ps" if t == F32 else "pd"


def _enter(count: int, rounding: Rounding) -> tuple[str, ...]:
    """Saves MXCSR in the first slot and loads it with the rounding field set. Other fields stay."""
    scratch, old, new = f"${count}", f"${count + 1}", f"${count + 2}"
    return (
        f"stmxcsr {old}",
        f"movl {old}, {scratch}",
        f"andl $$-24577, {scratch}",  # clears bits 13 and 14
        f"orl $${_CONTROL[rounding] << 13}, {scratch}",
        f"movl {scratch}, {new}",
        f"ldmxcsr {new}",
    )


def _instruction(mnemonic: str, result: int, sources: list[int]) -> str:
    """In the order of AT&T syntax: last source first, result last. A tied addend is the result's register."""
    name = mnemonic.replace("fma", "fmadd231")
    return f"v{name} {', '.join(f'${s}' for s in reversed(sources))}, ${result}"
