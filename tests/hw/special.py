"""The approximate functions over all their operands: kernels, and the inputs of each.

An operand is made from a number of 32 bits, inside the kernel, so that nothing but results is moved. Every
number is tried: for one operand of 32 bits, or two halves, these are all there are. Of doubles the number is
the upper half, which alone decides the coarse results; of halves it has 16 bits. Pairs of operands come in
two kinds, see `Pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from simt.ptx.types import Type
from tests.hw.arithmetic import Case, cases

BLOCK_BITS = 23
"""Inputs of one checksum: a binade of single precision."""

BLOCKS = 1 << (32 - BLOCK_BITS)

LAUNCHED = 256
"""Threads of a CTA."""


class Pairs(Enum):
    """How two operands come from one number: both are mixed from it; or each half of it gives the sign, the
    exponent and one of 128 mantissas of an operand, so that all exponents meet all."""

    MIXED = "mixed"
    EDGES = "edges"


@dataclass(frozen=True)
class Function:
    """An opcode with its inputs."""

    case: Case
    pairs: Pairs | None = None

    @property
    def name(self) -> str:
        return self.case.opcode + (f" {self.pairs.value}" if self.pairs else "")

    @property
    def type(self) -> Type:
        return self.case.outputs[0]

    @property
    def inputs(self) -> int:
        return 1 << 16 if self.type.bits == 16 else 1 << 32

    @property
    def result_bits(self) -> int:
        """Those of a stored result."""
        return max(32, self.type.bits)


def functions() -> Iterator[Function]:
    """Every approximate opcode of the newest version."""
    for case in cases().values():
        if case.version > (2, 0) and {"approx", "full"} & set(case.opcode.split(".")):
            for pairs in Pairs if len(case.sources) == 2 else (None,):
                yield Function(case, pairs)


# ---------------------------------------------------------------- kernels

MIX = """
  xor.b32 %r9, {n}, {salt};
  mul.lo.u32 %r9, %r9, 0x9e3779b1;
  shr.u32 %r8, %r9, 15;
  xor.b32 %r9, %r9, %r8;
  mul.lo.u32 %r9, %r9, 0x85ebca77;
  shr.u32 %r8, %r9, 13;
  xor.b32 {d}, %r9, %r8;"""

EDGE = """
  shr.u32 %r7, {n}, {shift};
  and.b32 %r7, %r7, 0xffff;
  and.b32 %r8, %r7, 127;
  sub.u32 %r9, 0x7fffff, %r8;
  add.u32 %r9, %r9, 4;
  setp.lt.u32 %p2, %r8, 4;
  selp.b32 %r6, %r8, %r9, %p2;
  setp.lt.u32 %p2, %r8, 8;
  mul.lo.u32 %r9, %r8, 0x9e3779b1;
  shr.u32 %r9, %r9, 9;
  selp.b32 %r6, %r6, %r9, %p2;
  shr.u32 %r7, %r7, 7;
  shl.b32 %r7, %r7, 23;
  or.b32 {d}, %r7, %r6;"""


def _operands(function: Function) -> str:
    """Makes %a, and %b if there are two, from the number in %r1."""
    if function.pairs is Pairs.EDGES:
        first, second = (EDGE.format(n="%r1", shift=s, d=d) for s, d in ((16, "%r10"), (0, "%r11")))
        return f"{first}{second}\n  mov.b32 %a, %r10;\n  mov.b32 %b, %r11;"
    if function.pairs is Pairs.MIXED:
        first, second = (MIX.format(n="%r1", salt=s, d=d) for s, d in ((0, "%r10"), (0x5BD1E995, "%r11")))
        return f"{first}{second}\n  mov.b32 %a, %r10;\n  mov.b32 %b, %r11;"
    if function.type.bits == 64:
        return MIX.format(n="%r1", salt=0, d="%r10") + "\n  mov.b64 %a, {%r10, %r1};"
    if function.type.bits == 16:
        return "\n  cvt.u16.u32 %a, %r1;"
    return "\n  mov.b32 %a, %r1;"


def _body(function: Function) -> str:
    """Computes the result of one number, as bits in %d."""
    kind = {16: "b16", 32: "b32", 64: "b64"}[function.type.bits]
    if function.type.is_native_float:
        kind = function.type.name
    convert = {16: "cvt.u32.u16 %d, %v;", 32: "mov.b32 %d, %v;", 64: "mov.b64 %d, %v;"}[function.type.bits]
    operands = "%v, %a, %b" if function.pairs else "%v, %a"
    return f"""
  .reg .{kind} %a, %b, %v;
  .reg .b{function.result_bits} %d, %o;
  .reg .b32 %r<12>;
  .reg .u64 %rd<6>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r2, [base];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r3, {LAUNCHED}, %r4;
  add.u32 %r1, %r5, %r2;
  mul.wide.u32 %rd2, %r5, {function.result_bits // 8};
  add.u64 %rd3, %rd1, %rd2;{_operands(function)}
  {function.case.opcode} {operands};
  {convert}"""


def module_text(function: Function) -> str:
    """`results(out, base)` stores the results of as many numbers as there are threads, from `base` on.
    `compare(out, base, found)` counts in `found` those that are not what `out` holds, and keeps the least
    number of them in its second word."""
    store = f"st.global.b{function.result_bits} [%rd3], %d;"
    compare = f"""ld.global.b{function.result_bits} %o, [%rd3];
  setp.eq.b{function.result_bits} %p1, %o, %d;
  @%p1 bra same;
  ld.param.u64 %rd4, [found];
  red.global.add.u32 [%rd4], 1;
  red.global.min.u32 [%rd4 + 4], %r1;
same:"""
    return f"""{_header(function)}
.visible .entry results(.param .u64 out, .param .u32 base)
{{{_body(function)}
  {store}
  ret;
}}
.visible .entry compare(.param .u64 out, .param .u32 base, .param .u64 found)
{{{_body(function)}
  {compare}
  ret;
}}
"""


def _header(function: Function) -> str:
    return ".version 7.8\n.target sm_90\n.address_size 64"
