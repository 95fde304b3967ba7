"""Code that runs seldom, in functions of their own, and tests that ask for it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial

from simt.engine.host import only_avx2
from simt.engine.llvm_builder import Builder, Value, spell
from simt.engine.llvm_rounding import LlvmRounding
from simt.ptx.types import F64, Type

_REGISTER = 512
"""Bits of the widest registers."""
_BITS, _WORDS = 256, 8
"""Of a register of AVX2, and how many numbers of 32 bits it holds."""
_TESTED = 16
"""Lanes of a predicate that are tested at once: those of the widest registers' 32-bit numbers."""


def _loop(lines: list[str], width: int) -> list[str]:
    """The body of a function that does the lines for each `%lane`."""
    return [
        "  br label %loop",
        "loop:",
        "  %lane = phi i64 [ 0, %0 ], [ %next, %loop ]",
        *lines,
        "  %next = add i64 %lane, 1",
        f"  %more = icmp ult i64 %next, {width}",
        "  br i1 %more, label %loop, label %end",
        "end:",
        "  ret void",
    ]


def _return(builder: Builder, values: Sequence[Value]) -> str:
    """Returns a value, or some as a structure; the type."""
    if len(values) == 1:
        builder.void(f"ret {values[0].typed}")
        return values[0].spelled
    result, whole = f"{{ {', '.join(v.spelled for v in values)} }}", "poison"
    for i, value in enumerate(values):
        whole = builder.emit(f"insertvalue {result} {whole}, {value.typed}, {i}")
    builder.void(f"ret {result} {whole}")
    return result


_BYTES_PICKED = frozenset({"ssse3", "avx", "avx2", "neon"})
"""CPUs that have one of these put bytes of a register in any order."""


class SeldomAlgebra(LlvmRounding):
    """Adds branches that keep the code around them one block."""

    pure: Callable[[Builder, int], SeldomAlgebra]
    """The pure algebra of columns of a width, in other code. (With an `ABC`, the 54 classes that are derived
    from this one would take four times as long to make.)"""

    def rarely(self, t: Type, p: Value, usual: Value, other: Callable[..., Value], *operands: Value) -> Value:
        by_words = only_avx2(self.features) and p.width % _WORDS == 0

        def test(inner: SeldomAlgebra, usual: Value, p: Value, *operands: Value) -> str:
            return inner._some_word(p) if by_words else inner.some(p)

        def rare(inner: SeldomAlgebra, usual: Value, p: Value, *operands: Value) -> list[Value]:
            holds = inner.test("icmp slt", p, inner.number(p.type, 0)) if by_words else p
            return [inner.pick(holds, other(inner, *operands), usual)]

        held = self._in_words("i64" if t == F64 else "i32", p) if by_words else p
        return self.unless(test, rare, 1, usual, held, *operands)[0]

    def _in_words(self, word: str, p: Value) -> Value:
        """A predicate as -1 and 0, as long as what it chooses. LLVM does not see what they are: it would take
        bytes from block to block, to which AVX2 packs what it compares in several steps."""

        def run(inner: SeldomAlgebra, p: Value) -> Value:
            def hidden(words: Value) -> Value:
                text = f'call {words.spelled} asm "", "=x,0"({words.typed})'
                return inner.emit(text, words.type, words.width)

            return inner.piecewise(_BITS // int(word[1:]), hidden, inner.cast("sext", word, p))

        return self._as_one_line("words", run, p, Value("", word, p.width))

    def _some_word(self, p: Value) -> str:
        """The same as `some`, of what `_in_words` gives."""

        def run(inner: SeldomAlgebra, p: Value) -> Value:
            words = functools.reduce(partial(inner.binary, "or"), inner.cut(p, _BITS // int(p.type[1:])))
            kind = f"<{_BITS // 64} x i64>"
            whole = inner.builder.emit(f"bitcast {words.typed} to {kind}")
            is_zero = inner.module.declare("llvm.x86.avx.ptestz.256", "i32", (kind, kind))
            none = inner.builder.emit(f"call i32 {is_zero}({kind} {whole}, {kind} {whole})")
            return Value(inner.builder.emit(f"icmp eq i32 {none}, 0"), "i1")

        return self._unlikely(self._as_one_line("some", run, p, Value("", "i1")).ir)

    def _as_one_line(
        self, name: str, run: Callable[[SeldomAlgebra, Value], Value], operand: Value, like: Value
    ) -> Value:
        """`run(algebra, operand)`, which LLVM puts in place: a few instructions of the CPU's, which count as
        one line where lines say how long code is. `like`: of the result's type."""
        full = f"simt.{name}.{operand.width}.{operand.type}.{like.type}"
        if not self.module.has(full):
            builder, parameter = Builder(), Value("%a", operand.type, operand.width)
            result = run(self.pure(builder, operand.width), parameter)
            head = f"define internal {like.spelled} @{full}({parameter.typed}) alwaysinline"
            lines = (f"{head} {self.module.attributes} {{", *builder.lines, f"  ret {result.typed}", "}")
            self.module.define(full, "\n".join(lines))
        return self.emit(f"call {like.spelled} @{full}({operand.typed})", like.type, like.width)

    def unless(
        self, test: Callable[..., str], rare: Callable[..., list[Value]], count: int, *values: Value
    ) -> list[Value]:
        """The first `count` values, but `rare(algebra, *values)` if the i1 `test(algebra, *values)` is true:
        by a function of its own that branches, so that the code around it stays one block; LLVM puts it in
        place."""
        values = self.unify(*values)
        parameters = [Value(f"%a{i}", v.type, v.width) for i, v in enumerate(values)]
        builder = Builder()
        inner = self.pure(builder, parameters[0].width)
        builder.void(f"br i1 {test(inner, *parameters)}, label %rare, label %none")
        builder.label("rare")
        result = _return(builder, rare(inner, *parameters))
        builder.label("none")
        _return(builder, parameters[:count])
        name = self.module.inlined("simt.rarely", result, [v.typed for v in parameters], builder.lines)
        call = self.builder.emit(f"call {result} @{name}({', '.join(v.typed for v in values)})")
        if count == 1:
            return [Value(call, values[0].type, values[0].width)]
        return [
            self.emit(f"extractvalue {result} {call}, {i}", v.type, v.width)
            for i, v in enumerate(values[:count])
        ]

    def halfwise(self, function: Callable[..., Value], *operands: Value) -> Value:
        """On columns of twice as many lanes."""
        values = self.unify(*operands)
        width = values[0].width
        inner = self.pure(self.builder, 2 * width)
        wide = spell("i16", 2 * width)
        halves = [self.emit(f"bitcast {v.typed} to {wide}", "i16", 2 * width) for v in values]
        result = inner.vector(function(inner, *halves))
        return self.emit(f"bitcast {result.typed} to {values[0].spelled}", "i32", width)

    def bytewise(self, function: Callable[..., Value], a: Value, b: Value, c: Value) -> Value:
        """Where the selector is known, columns of bytes in another order."""
        width, selector = max(a.width, b.width), c.literal
        if selector is None or width == 1 or not self.features & _BYTES_PICKED:
            return function(self, a, b, c)
        picks = [selector >> 4 * i & 15 for i in range(4)]
        words = f"<{4 * width} x i8>"
        low, high = (self.emit(f"bitcast {v.typed} to {words}", "i8", 4 * width) for v in self.unify(a, b))
        places = [
            4 * lane + (pick & 3) + 4 * width * (pick >> 2 & 1) for lane in range(width) for pick in picks
        ]
        found = self._bytes_in_order(low, high, places)
        if any(pick & 8 for pick in picks):
            signs = self.binary("ashr", found, self.number("i8", 7))
            chosen = [i + 4 * width * (picks[i % 4] >> 3) for i in range(4 * width)]
            found = self._bytes_in_order(found, signs, chosen)
        return self.emit(f"bitcast {found.typed} to <{width} x i32>", "i32", width)

    def _bytes_in_order(self, a: Value, b: Value, places: Sequence[int]) -> Value:
        """Lanes of two columns, one after the other."""
        picks = ", ".join(f"i32 {place}" for place in places)
        text = f"shufflevector {a.typed}, {b.typed}, <{len(places)} x i32> <{picks}>"
        return self.emit(text, a.type, len(places))

    def some(self, p: Value) -> str:
        """i1: whether a predicate that rarely holds does so in some lane."""
        while p.width > _TESTED:  # the halves are in registers of their own
            low, high = self.cut(p, p.width // 2)
            p = self.binary("or", low, high)
        lanes = p.ir
        if p.width > 1:
            bits = self.builder.emit(f"bitcast {p.typed} to i{p.width}")
            lanes = self.builder.emit(f"icmp ne i{p.width} {bits}, 0")
        return self._unlikely(lanes)

    def some_nan(self, t: Type, *columns: Value) -> str:
        """i1: whether one of some f32 or f64 columns is NaN in some lane."""
        parts = list(columns)
        while parts[0].width * t.bits > _REGISTER and parts[0].width > 1:
            parts = [half for part in parts for half in self.cut(part, part.width // 2)]
        return self.some(self.nan_in_any(parts))

    def nan_in_any(self, columns: Sequence[Value]) -> Value:
        """Which lanes are NaN in one of some f32 or f64 columns."""
        pairs = [(columns[i], columns[min(i + 1, len(columns) - 1)]) for i in range(0, len(columns), 2)]
        tests = [self.test("fcmp uno", x, y) for x, y in pairs]
        return functools.reduce(partial(self.binary, "or"), tests)

    def _unlikely(self, lanes: str) -> str:
        expect = self.module.declare("llvm.expect.i1", "i1", ("i1", "i1 immarg"))
        return self.builder.emit(f"call i1 {expect}(i1 {lanes}, i1 false)")

    def by_lanes(
        self, scalar: Callable[..., list[Value]], count: int, width: int, columns: Sequence[Value]
    ) -> list[Value]:
        """`scalar(algebra, *operands)`, which gives `count` doubles, for each of `width` lanes of columns of
        doubles: by a loop in a function of its own, which is little code."""
        builder, inputs = Builder(), len(columns)
        inner = self.pure(builder, 1)

        def item(column: int) -> str:
            first = builder.emit(f"getelementptr double, ptr %all, i64 {column * width}")
            return builder.emit(f"getelementptr double, ptr {first}, i64 %lane")

        items = [Value(builder.emit(f"load double, ptr {item(i)}"), "double") for i in range(inputs)]
        for i, value in enumerate(scalar(inner, *items)):
            builder.void(f"store {value.typed}, ptr {item(inputs + i)}")
        name = self.module.shared("simt.lanes", "ptr %all", _loop(builder.lines, width))
        kind = spell("double", width)
        memory = self.builder.emit(f"alloca {kind}, i64 {inputs + count}, align 64")
        places = [
            self.builder.emit(f"getelementptr double, ptr {memory}, i64 {i * width}")
            for i in range(inputs + count)
        ]
        for column, place in zip(columns, places):
            self.builder.void(f"store {column.typed}, ptr {place}, align 8")
        self.builder.void(f"call void @{name}(ptr {memory})")
        return [self.emit(f"load {kind}, ptr {p}, align 8", "double", width) for p in places[inputs:]]
