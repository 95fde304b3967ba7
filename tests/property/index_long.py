"""The kernels of `tests.property.index_programs` with divisions of 64 bits, by the branch with which
compilers do them in 32 where these are enough (`simt.analysis.short_divisions`).

What they give is the same."""

from __future__ import annotations

from tests.property.index_programs import PARAMETERS, Expr
from tests.property.index_text import Text

DIVISIONS = "div.u32", "rem.u32"
UPPER = -(1 << 32)


class LongText(Text):
    """A program in PTX, with such divisions. Which of the forms that compilers write is told by the number of
    labels so far."""

    def value(self, e: Expr) -> str:
        if e.op not in DIVISIONS or id(e) in self.known:
            return super().value(e)
        a, b = (self._widened(self.value(operand)) for operand in e.args if isinstance(operand, Expr))
        self.known[id(e)] = self._divided(e.op[:3], a, b)
        return self.known[id(e)]

    def _widened(self, word: str) -> str:
        """A word of 64 bits of which nobody is told that it has no upper half."""
        wide, zero = self.fresh(64), self.fresh(64)
        self.put(f"cvt.u64.u32 {zero}, {PARAMETERS[0]}; shr.u64 {zero}, {zero}, 32;")
        self.put(f"cvt.u64.u32 {wide}, {word}; add.u64 {wide}, {wide}, {zero};")
        return wide

    def _divided(self, name: str, a: str, b: str) -> str:
        both, q, r = (self.fresh(64) for _ in range(3))
        x, y, s, t = (self.fresh(32) for _ in range(4))
        asked, sign = self.fresh("pred"), "su"[self.labels // 2 % 2]
        by_product = name == "rem" and self.labels // 4 % 2
        short, end = self.label(), self.label()
        self.put(f"or.b64 {both}, {a}, {b}; and.b64 {both}, {both}, {UPPER}; setp.eq.s64 {asked}, {both}, 0;")
        self.put(f"@{asked} bra {short};")
        if by_product:
            self.put(f"div.{sign}64 {q}, {a}, {b}; mul.lo.s64 {r}, {q}, {b}; sub.s64 {r}, {a}, {r};")
        else:
            self.put(f"{name}.{sign}64 {r}, {a}, {b};")
        self.put(f"bra {end};")
        self.lines.append(f"{short}:")
        self.put(f"cvt.u32.u64 {x}, {a}; cvt.u32.u64 {y}, {b};")
        if by_product:
            self.put(f"div.u32 {s}, {x}, {y}; mul.lo.s32 {t}, {s}, {y}; sub.s32 {s}, {x}, {t};")
        else:
            self.put(f"{name}.u32 {s}, {x}, {y};")
        self.put(f"cvt.u64.u32 {r}, {s};")
        self.lines.append(f"{end}:")
        result = self.fresh(32)
        self.put(f"cvt.u32.u64 {result}, {r};")
        return result
