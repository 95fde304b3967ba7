"""Instructions on matrices that a warp holds: what the recorder runs and the tests replay.

Every opcode of the chapters has a kernel, made of its entry in the catalogue. Products have warps of each of
`REGIMES`. Loads and stores have a matrix of random bytes, of which rows do not stand one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np

import simt.isa  # noqa: F401  # pyright: ignore[reportUnusedImport]  (fills the catalogue)
from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form
from simt.isa.fragments import BITS, name_of, sizes
from simt.ptx.types import F64, Type
from tests.unit.isa.meaning import Array

CHAPTERS = ("matrices", "mma", "wmma")
WARP = 32
MEMORY = 4096
"""Bytes of the matrix that is loaded from or stored to."""
WARPS = 1
"""Of each regime."""
SPACES = (None, "global", "shared")
"""State spaces of loads and stores of `wmma`: each in its turn."""
FORMATS = {
    "f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "f32": (8, 23), "f64": (11, 52), "e4m3": (4, 3),
    "e5m2": (5, 2),
}  # fmt: skip
"""Bits of exponents and of mantissas; those of `.tf32` in its register, the last ones of no account."""
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


@dataclass(frozen=True)
class Case:
    """One opcode."""

    form: Form
    binding: Binding

    @property
    def opcode(self) -> str:
        return self.form.spell(self.binding)

    @property
    def number(self) -> int:
        """What the opcode tells of, whatever others there are."""
        return crc32(self.opcode.encode())

    @property
    def address(self) -> str | None:
        """The operand that is an address, if there is one."""
        return next((o.name for o in self.form.operands if o.address), None)

    @property
    def result(self) -> str | None:
        """The operand that is the result, unless it is stored."""
        return next((o.name for o in self.form.operands if o.destination), None)

    @property
    def sources(self) -> list[str]:
        """The operands that are registers with elements."""
        return [o.name for o in self.form.operands if not (o.destination or o.address or o.optional)]

    def registers(self, name: str) -> tuple[Type, int]:
        """The type and the number of an operand's registers."""
        operand = next(o for o in self.form.operands if o.name == name)
        return self.form.operand_type(operand, self.binding)

    def element(self, name: str) -> str:
        """The modifier of its elements' type."""
        return name_of(self.binding.get(f"{name}type") or self.binding.get("type") or "b1")

    @property
    def stride(self) -> int | None:
        """Elements from one row of memory to the next; some cases leave it to the instruction."""
        if self.form.chapter != "wmma" or self.address is None or self.number % 4 == 0:
            return None
        rows, columns = sizes(str(self.binding["shape"])).of(str(self.binding["matrix"]))
        bits = BITS[name_of(self.binding["type"])]
        return (columns if self.binding["layout"] == "row" else rows) + 128 // bits


@cache
def cases() -> dict[str, Case]:
    """By opcode: all, but shared memory has its short name."""
    found: dict[str, Case] = {}
    for form in (f for mnemonic in FORMS for f in FORMS[mnemonic] if f.chapter in CHAPTERS):
        for binding in form.bindings():
            space = binding.get("space")
            if str(space).startswith("shared::"):
                continue
            case = Case(form, binding)
            if form.chapter == "wmma" and "space" in binding:
                plain = Case(form, {**binding, "space": None})
                if space != SPACES[plain.number % len(SPACES)]:
                    continue
            found.setdefault(case.opcode, case)
    return found


# ---------------------------------------------------------------- kernels


def kernel(case: Case) -> str:
    """Of the matrix in memory, `x0`; rows of each lane, `x1`; then the sources, and the result."""
    names = [*case.sources, *filter(None, [case.result])]
    parameters = ", ".join(f".param .u64 x{i}" for i in range(2 + len(names)))
    lines = [f".visible .entry k({parameters})\n{{", ".shared .align 128 .b8 there[4096];"]
    lines.append(".reg .b32 %i, %c, %n, %row, %s<4>; .reg .b64 %x<6>, %at, %to, %wide, %p<4>;")
    lines.append("mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %tid.x;")
    lines += [f"ld.param.u64 %x{i}, [x{i}];" for i in range(2 + len(names))]
    lines += ["mad.wide.u32 %wide, %i, 4, %x1; ld.global.u32 %row, [%wide];", "mad.lo.u32 %c, %c, %n, %i;"]
    for i, name in enumerate(names):
        t, count = case.registers(name)
        lines.append(
            f".reg .{t.name} %{name}<{count}>; mad.wide.u32 %p{i}, %c, {count * t.bytes}, %x{2 + i};"
        )
        if name != case.result:
            lines += [f"ld.global.{t.name} %{name}{j}, [%p{i} + {j * t.bytes}];" for j in range(count)]
    lines += [*_moved(True), *_instruction(case), *(_moved(False) if _is_shared(case) else [])]
    if case.result:
        t, count = case.registers(case.result)
        lines += [f"st.global.{t.name} [%p{len(names) - 1} + {j * t.bytes}], %d{j};" for j in range(count)]
    return HEADER + "\n".join([*lines, "ret;\n}\n"])


def _is_shared(case: Case) -> bool:
    return case.form.chapter == "matrices" or case.binding.get("space") == "shared"


def _moved(here: bool) -> Iterator[str]:
    """Copies memory to shared memory, or back."""
    yield "bar.sync 0; mul.wide.u32 %wide, %i, 16; add.u64 %at, %x0, %wide; mov.u64 %to, there;"
    yield "add.u64 %to, %to, %wide;"
    words = "{%s0, %s1, %s2, %s3}"
    for i in range(0, MEMORY, 16 * WARP):
        ways = ("global", f"%at + {i}"), ("shared", f"%to + {i}")
        (source, a), (target, b) = ways if here else ways[::-1]
        yield f"ld.{source}.v4.u32 {words}, [{a}]; st.{target}.v4.u32 [{b}], {words};"
    yield "bar.sync 0;"


def _instruction(case: Case) -> Iterator[str]:
    """The instruction, and what makes its address."""
    place = "%x0"
    if _is_shared(case):
        yield "mov.u32 %s0, there; add.u32 %s0, %s0, %row; cvt.u64.u32 %at, %s0; cvta.shared.u64 %at, %at;"
        place = "%s0" if case.binding.get("space") else "%at"
    written: list[str] = []
    for operand in case.form.operands:
        if operand.address:
            written.append(f"[{place}]")
        elif operand.optional:
            written += [] if case.stride is None else [str(case.stride)]
        else:
            registers = ", ".join(f"%{operand.name}{j}" for j in range(case.registers(operand.name)[1]))
            written.append(f"{{{registers}}}" if "(" in operand.spec else registers)
    yield f"{case.opcode} {', '.join(written)};"


# ---------------------------------------------------------------- operands

REGIMES = {
    "all bits": "", "finite": "", "near": "", "apart": "", "few": "", "small": "", "plain": "", "special": "",
    "tiny": "zero", "zeros": "zero", "tinier": "small", "large": "large", "ties": "zero",
}  # fmt: skip
"""What `a` and `b` hold, and what `c` does, if not the same."""


def floats(r: np.random.Generator, name: str, regime: str, shape: tuple[int, ...]) -> Array:
    """Bits of numbers of a format."""
    e, m = FORMATS[name]
    bias, most = (1 << (e - 1)) - 1, (1 << e) - 1
    mantissa = r.integers(0, 1 << m, shape, dtype="u8")
    few = mantissa * (r.random(shape) < 0.5).astype("u8")
    kept = r.random(shape) < (0.1 if regime == "zeros" else 0.25)
    # Of formats with as many exponents as `.f32`, products are to be near its least or its largest number.
    edge = bias - 75 + r.integers(-9, 9, shape) if e >= 8 else r.integers(0, 3, shape)
    top = (
        np.minimum(bias + 62 + r.integers(0, 4, shape), most - 1)
        if e == 8
        else most - 1 - r.integers(0, 4, shape)
    )
    wide = bias + r.integers(-min(13, bias - 1), min(13, bias - 1), shape)
    match regime:
        case "all bits" | "finite":
            exponent = r.integers(0, most + (regime == "all bits"), shape)
        case "near":
            exponent = bias + r.integers(-3, 3, shape)
        case "few" | "zeros":
            exponent = np.where(kept, edge if regime == "zeros" else wide, 0)
            mantissa = np.where(kept, mantissa, 0)
        case "plain":
            exponent, mantissa = wide, few
        case "special":
            exponent, mantissa = np.where(r.random(shape) < 0.02, most, bias + r.integers(-2, 3, shape)), few
        case "zero":
            exponent, mantissa = np.zeros(shape, "i8"), np.zeros(shape, "u8")
        case "small":
            exponent, mantissa = r.integers(0, 4, shape), mantissa >> r.integers(0, m + 1, shape, dtype="u8")
        case "tiny" | "tinier":
            exponent, mantissa = np.maximum(edge, 0), few
        case "large":
            exponent = top
        case "ties":  # powers of two, of which some are subnormal
            exponent = r.integers(0, 5, shape)
            power = np.uint64(1) << r.integers(0, min(5, m), shape, dtype="u8")
            mantissa = np.where(exponent == 0, power, np.uint64(0))
            exponent, mantissa = (np.where(kept, x, np.zeros_like(x)) for x in (exponent, mantissa))
        case _:
            exponent = wide
    sign = r.integers(0, 2, shape, dtype="u8")
    return sign << np.uint64(e + m) | exponent.astype("u8") << np.uint64(m) | mantissa


def registers(r: np.random.Generator, case: Case, name: str) -> Array:
    """What the lanes of all warps have in the registers of an operand."""
    t, count = case.registers(name)
    element, of = case.element(name), f"u{t.bytes}"
    if case.form.operands[0].address or element not in FORMATS:
        words = r.integers(0, 1 << t.bits, (WARPS * len(REGIMES), WARP, count), dtype="u8")
        near = r.random(words.shape) < 0.5  # sums of these do not wrap
        edge = (words >> np.uint64(20)) + np.uint64(0x7FFFF000)
        return np.where(near, words, edge if name == "c" else words).astype(of)
    bits = BITS[element]
    parts: list[Array] = []
    for regime, third in REGIMES.items():
        chosen = third if third and name == "c" else regime
        values = floats(r, element, chosen, (WARPS, WARP, count, t.bits // bits))
        shifts = np.arange(0, t.bits, bits, dtype="u8")
        parts.append(np.bitwise_or.reduce(values << shifts, axis=-1))
    return np.concatenate(parts).astype(of)


def operands(case: Case, seed: int = 0) -> list[Array]:
    """The arguments of the kernel, zeros for the result. What has an address has one warp."""
    r = np.random.default_rng([case.number, seed] if seed else case.number)
    memory = r.integers(0, 256, MEMORY, dtype="u1")
    whole = case.form.chapter == "matrices"
    rows = 16 * r.permutation(MEMORY // 16)[:WARP].astype("u4") if whole else np.zeros(WARP, "u4")
    sources = [registers(r, case, name) for name in case.sources]
    warps = 1 if case.address else WARPS * len(REGIMES)
    sources = [np.ascontiguousarray(source[:warps]) for source in sources]
    arrays = [memory, rows, *sources]
    if case.result:
        t, count = case.registers(case.result)
        arrays.append(np.zeros((warps, WARP, count), "f8" if t == F64 else "u4").view(f"u{t.bytes}"))
    return arrays


def seen(case: Case, arrays: list[Array]) -> Array:
    """What the instruction has made: the result, or memory."""
    return arrays[-1] if case.result else arrays[0]
