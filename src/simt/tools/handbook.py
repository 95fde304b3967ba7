"""What chapter 8 of the CUDA Handbook names, by table and section, and the PTX that gives it.

A row of a table holds the name that the handbook gives and patterns of instructions; `docs/isa/handbook.md`
and the pages of the instructions are made from both. A pattern is a mnemonic and modifiers, `atom.add.u32`:
it stands for every instruction of the catalogue that has these modifiers in this order, whatever stands
between them. `{a,b}` are alternatives. A pattern with `%` is a special register. What is no instruction has
a remark instead: a path in backquotes shows it, or words say why there is none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache

from simt.isa.catalogue import FORMS
from simt.isa.form import Form
from simt.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table, or one item of a section. `ptx`: patterns, separated by blanks."""

    name: str
    ptx: str = ""
    remark: str = ""

    def subjects(self) -> dict[str, list[tuple[Form | SpecialRegister, int]]]:
        """What each pattern finds in the catalogue, and how many combinations of modifiers of each form."""
        return {p: found(p) for words in self.ptx.split() for p in alternatives(words)}

    @property
    def is_gap(self) -> bool:
        """Whether something that the row names is missing."""
        subjects = self.subjects()
        return not all(subjects.values()) or not (subjects or self.remark)


@dataclass(frozen=True, slots=True)
class Table:
    """A table ("8.4") or a section ("section 8.6.1") of the handbook."""

    number: str
    title: str
    rows: tuple[Row, ...]


def alternatives(pattern: str) -> list[str]:
    """`add.{rn,rz}.f32` as `add.rn.f32`, `add.rz.f32`."""
    parts = [p[1:-1].split(",") if p[0] == "{" else [p] for p in re.findall(r"\{[^}]*\}|[^{]+", pattern)]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def found(pattern: str) -> list[tuple[Form | SpecialRegister, int]]:
    """The forms that a pattern without alternatives stands for, each with the number of its bindings."""
    if pattern.startswith("%"):
        register = SPECIAL_REGISTERS.get(pattern)
        return [(register, len(register.components))] if register else []
    mnemonic, *words = pattern.split(".")
    counted = [(f, sum(_stands_in(words, s) for s in _spellings(f))) for f in FORMS.get(mnemonic, ())]
    return [(form, count) for form, count in counted if count]


@cache
def _spellings(form: Form) -> list[list[str]]:
    return [form.spell(b).split(".")[1:] for b in form.bindings()]


def _stands_in(words: list[str], modifiers: list[str]) -> bool:
    """Whether all words are among the modifiers, in their order."""
    rest = iter(modifiers)
    return all(word in rest for word in words)


def _table(number: str, title: str, *rows: tuple[str, ...]) -> Table:
    return Table(number, title, tuple(Row(*row) for row in rows))


def _rounded(names: str, ptx: str) -> tuple[str, str]:
    """A row of table 8.9: all four roundings."""
    return f"{names}_[rn rz ru rd]", ptx.replace(".", ".{rn,rz,rp,rm}.", 1)


def _converted(names: str, ptx: str, integral: str = "") -> tuple[str, str]:
    """A row of table 8.10. `integral`: `i` where the result is an integer."""
    roundings = ",".join(r + integral for r in ("rn", "rz", "rp", "rm"))
    return f"{names}_[rn rz ru rd]", ptx.replace(".", f".{{{roundings}}}.", 1)


def _video(operation: str) -> tuple[str, str]:
    """A row of table 8.15."""
    return f"{operation}[2|4]", f"{operation}2 {operation}4"


INTEGERS = "{u32,s32,u64,s64}"
BITS = "{b32,b64}"

TABLES = (
    _table(
        "section 8.1.1", "Registers",
        ("Accesses of 64 and 128 bits", "{ld,st}.global.v2.{u32,f32,f64} {ld,st}.global.v4.{u32,f32}"),
        ("__int_as_float(), __float_as_int()", "mov.b32"),
        ("__double_as_longlong(), __longlong_as_double()", "mov.b64"),
        ("__double2loint(), __double2hiint(), __hiloint2double()", "mov.b64", "As a pair of registers."),
    ),
    _table(
        "section 8.1.2", "Local memory",
        ("Loads and stores", "ld.local st.local"),
        ("Its window of generic addresses", "cvta.local cvta.to.local isspacep.local"),
        ("Frames of functions", "alloca stacksave stackrestore", "`tests/hw/test_calls.py`"),
    ),
    _table(
        "section 8.1.3", "Global memory",
        ("Loads and stores", "ld.global st.global"),
        ("One address space", "ld.u32 st.u32 atom.add.u32 cvta.global cvta.to.global isspacep.global"),
        ("64-bit addresses", "cvta.u64 cvta.to.u64", "`tests/hw/test_calls.py`"),
        ("Cache in L1 and L2, or in L2 only", "ld.global.{ca,cg} st.global.cg"),
        ("With the old value, and without", "atom.global red.global"),
        ("Global memory through the texture cache, __ldg()", "ld.global.nc"),
    ),
    _table(
        "section 8.1.4", "Constant memory",
        ("Loads", "ld.const"),
        ("Its window of generic addresses", "cvta.const cvta.to.const isspacep.const"),
        ("Load uniform", "ldu.global"),
    ),
    _table(
        "section 8.1.5", "Shared memory",
        ("Loads and stores", "ld.shared st.shared"),
        ("Its window of generic addresses", "cvta.shared cvta.to.shared isspacep.shared"),
        ("extern __shared__", "", "Dynamic shared memory: `tests/programs/test_dialects.py`"),
        ("Atomics in shared memory", "atom.shared red.shared"),
    ),
    _table(
        "section 8.1.6", "Barriers and coherency",
        ("Warp-synchronous code (footnote 7)", "{ld,st}.volatile.shared", "`tests/programs/test_sdk.py`"),
    ),
    _table(
        "8.2", "Atomic operations",
        ("atomicAdd", "atom.add.{u32,s32,u64,f32} red.add.{u32,s32,u64,f32}"),
        ("atomicSub", "neg.s32 atom.add.{u32,s32}", "The sum with the negative: PTX has no `atom.sub`."),
        ("atomicExch", f"atom.exch.{BITS}"),
        ("atomicMin", f"atom.min.{INTEGERS} red.min.{INTEGERS}"),
        ("atomicMax", f"atom.max.{INTEGERS} red.max.{INTEGERS}"),
        ("atomicInc", "atom.inc.u32 red.inc.u32"),
        ("atomicDec", "atom.dec.u32 red.dec.u32"),
        ("atomicCAS", f"atom.cas.{BITS}"),
        ("atomicAnd", f"atom.and.{BITS} red.and.{BITS}"),
        ("atomicOr", f"atom.or.{BITS} red.or.{BITS}"),
        ("atomicXor", f"atom.xor.{BITS} red.xor.{BITS}"),
    ),
    _table(
        "8.3", "Memory barriers",
        ("__syncthreads()", "bar.sync barrier.sync"),
        ("__threadfence_block()", "membar.cta"),
        ("__threadfence()", "membar.gl"),
        ("__threadfence_system()", "membar.sys"),
    ),
    _table(
        "section 8.2", "Integer support",
        ("Condition codes", " ".join((
            f"{{add,sub}}.cc.{INTEGERS} {{addc,subc}}.{INTEGERS} {{addc,subc}}.cc.{INTEGERS}",
            f"mad.{{lo,hi}}.cc.{INTEGERS} madc.{{lo,hi}}.{INTEGERS} madc.{{lo,hi}}.cc.{INTEGERS}",
        ))),
        ("Multiply-add", f"mad.{{lo,hi}}.{INTEGERS} mad.wide.{{u32,s32}} mad24.{{lo,hi}}.{{u32,s32}}"),
        ("Division", f"{{div,rem}}.{INTEGERS}"),
        ("Logical operations", f"{{and,or,xor,not,cnot,shl}}.{BITS} shr.{INTEGERS}"),
        ("Bit fields", f"bfe.{INTEGERS} bfi.{BITS}"),
        ("First set bit", f"bfind.{INTEGERS} bfind.shiftamt.{INTEGERS} clz.{BITS}"),
        ("Bytes in all modes", "prmt.b32 prmt.b32.{f4e,b4e,rc8,ecl,ecr,rc16}"),
        ("Narrow integers", "vadd vadd2 vadd4", "All of them: tables 8.14 and 8.15."),
    ),
    _table(
        "8.4", "Multiplication",
        ("__[u]mul24", "mul24.lo.{s32,u32}"),
        ("__[u]mulhi", "mul.hi.{s32,u32}"),
        ("__[u]mul64hi", "mul.hi.{s64,u64}"),
    ),
    _table(
        "8.5", "Bit manipulation",
        ("__brev(x)", f"brev.{BITS}"),
        ("__byte_perm(x,y,s)", "prmt.b32"),
        ("__clz(x)", f"clz.{BITS}"),
        ("__ffs(x)", f"brev.{BITS} bfind.shiftamt.{{u32,u64}}", "The reverse's highest bit, as nvcc has it."),
        ("__popc(x)", f"popc.{BITS}"),
        ("__[u]sad(x,y,z)", "sad.{s32,u32}"),
    ),
    _table(
        "8.6", "Funnel shifts",
        ("__funnelshift_l", "shf.l.wrap.b32"),
        ("__funnelshift_lc", "shf.l.clamp.b32"),
        ("__funnelshift_r", "shf.r.wrap.b32"),
        ("__funnelshift_rc", "shf.r.clamp.b32"),
    ),
    _table(
        "8.7", "Floating-point representations",
        ("Double precision", "testp.{finite,infinite,number,notanumber,normal,subnormal}.f64"),
        ("Single precision", "testp.{finite,infinite,number,notanumber,normal,subnormal}.f32"),
        ("Half precision", "cvt.f32.f16 cvt.rn.f16.f32"),
    ),
    _table(
        "8.8", "Extreme values",
        *((f"{p} precision", "", "Among the operands of every vector: `tests/hw/operands.py`.")
          for p in ("Double", "Single", "Half")),
    ),
    _table(
        "8.9", "Arithmetic with a rounding",
        *(_rounded(f"__f{n}", f"{p}.f32") for n, p in (
            ("add", "add"), ("mul", "mul"), ("maf", "fma"), ("rcp", "rcp"), ("div", "div"), ("sqrt", "sqrt"),
        )),
        *(_rounded(f"__{n}", f"{p}.f64") for n, p in (
            ("dadd", "add"), ("dmul", "mul"), ("fma", "fma"), ("drcp", "rcp"), ("ddiv", "div"),
            ("dsqrt", "sqrt"),
        )),
    ),
    _table(
        "8.10", "Conversions with a rounding",
        _converted("__float2int", "cvt.s32.f32", "i"),
        _converted("__float2uint", "cvt.u32.f32", "i"),
        _converted("__int2float", "cvt.f32.s32"),
        _converted("__uint2float", "cvt.f32.u32"),
        _converted("__float2ll", "cvt.s64.f32", "i"),
        _converted("__ll2float", "cvt.f32.s64"),
        _converted("__ull2float", "cvt.f32.u64"),
        _converted("__double2float", "cvt.f32.f64"),
        _converted("__double2int", "cvt.s32.f64", "i"),
        _converted("__double2uint", "cvt.u32.f64", "i"),
        _converted("__double2ll", "cvt.s64.f64", "i"),
        _converted("__double2ull", "cvt.u64.f64", "i"),
        ("__int2double_rn", "cvt.rn.f64.s32"),
        ("__uint2double_rn", "cvt.rn.f64.u32"),
        _converted("__ll2double", "cvt.f64.s64"),
        _converted("__ull2double", "cvt.f64.u64"),
    ),
    _table(
        "section 8.3", "Floating-point support",
        ("Subnormals", "{add,sub,mul,fma,div,rcp,sqrt}.rn.f32 {add,sub,mul,fma,div,rcp,sqrt}.rn.ftz.f32"),
        ("Subtraction", "sub.{rn,rz,rp,rm}.{f32,f64}"),
        ("__saturate(x)", "{add,sub,mul,fma}.sat.f32 cvt.sat.f32.f32"),
        ("Sign", "copysign.{f32,f64} abs.{f32,f64} neg.{f32,f64}"),
        ("__half2float", "cvt.f32.f16"),
        ("__float2half", "cvt.rn.f16.f32"),
        ("Listing 8.3", "cvt.rn.f16.f32", "Every single-precision number: `tests/hw/test_halves.py`."),
    ),
    _table(
        "section 8.4.1", "Predication",
        ("Guards", "", "Every instruction may have one: `@p`, `@!p`."),
    ),
    _table(
        "section 8.4.2", "Divergence and convergence",
        ("Branches", "bra"),
        ("Branches through a table", "brx.idx"),
        ("Calls of functions, indirect ones too (table 8.1)", "call ret", "`tests/programs/test_calls.py`"),
        ("Ends of threads", "exit"),
        ("The branch synchronisation stack", "", "The interpreter keeps it, `simt trace` shows it."),
    ),
    _table(
        "section 8.4.3", "Minimum, maximum and absolute value",
        ("min()", f"min.{INTEGERS} min.{{f32,f64}}"),
        ("max()", f"max.{INTEGERS} max.{{f32,f64}}"),
        ("abs()", "abs.{s32,s64,f32,f64}"),
    ),
    _table(
        "section 8.6.1", "Warp-level primitives",
        ("__any(), __all()", "vote.{any,all}.pred vote.uni.pred"),
        ("__ballot()", "vote.ballot.b32"),
        ("__shfl()", "shfl.idx.b32"),
        ("__shfl_up()", "shfl.up.b32"),
        ("__shfl_down()", "shfl.down.b32"),
        ("__shfl_xor()", "shfl.bfly.b32"),
    ),
    _table(
        "section 8.6.2", "Block-level primitives",
        ("__syncthreads()", "bar.sync bar.arrive"),
        ("__syncthreads_count()", "bar.red.popc.u32"),
        ("__syncthreads_or()", "bar.red.or.pred"),
        ("__syncthreads_and()", "bar.red.and.pred"),
    ),
    _table(
        "section 8.6.3", "Performance counters",
        ("__prof_trigger()", "pmevent", "Counts by warp: `tests/unit/driver/test_events.py`."),
        ("Counters", " ".join(f"%pm{n}" for n in range(8)), "They read as zero."),
    ),
    _table(
        "8.14", "Scalar video instructions",
        *((name, name) for name in ("vabsdiff", "vadd")),
        ("vavrg", "", "ptxas refuses it in every version, and table 8.17 has no such machine instruction."),
        *((name, name) for name in ("vmad", "vmax", "vmin", "vset", "vshl", "vshr", "vsub")),
    ),
    _table(
        "8.15", "Vector video instructions",
        *map(_video, ("vabsdiff", "vadd", "vavrg", "vmax", "vmin", "vset", "vsub")),
    ),
    _table(
        "section 8.6.5", "Special registers",
        ("threadIdx, blockDim", "%tid %ntid"),
        ("blockIdx, gridDim", "%ctaid %nctaid"),
        ("__clock()", "%clock"),
        ("__clock64()", "%clock64"),
        ("Masks of lanes", " ".join(f"%lanemask_{r}" for r in ("eq", "le", "lt", "ge", "gt"))),
        ("Identifiers", "%laneid %warpid %nwarpid %smid %nsmid %gridid"),
        ("Time of day", "%globaltimer"),
        ("Driver values", " ".join(f"%envreg{n}" for n in range(32)),
         "Zero; 0, 6 and 10 are not compared: constants of the driver."),
    ),
)  # fmt: skip
"""In the handbook's order. Names of intrinsics are its words; their underscores are those of CUDA C."""


@cache
def _places() -> dict[int, list[str]]:
    """The tables that name a form or a special register, by its identity."""
    places: dict[int, list[str]] = {}
    for table, row in ((t, r) for t in TABLES for r in t.rows):
        for subject, _ in itertools.chain(*row.subjects().values()):
            numbers = places.setdefault(id(subject), [])
            numbers += [table.number] if table.number not in numbers else []
    return places


def places(subject: Form | SpecialRegister) -> list[str]:
    """The tables and sections that name a form or a special register."""
    return _places().get(id(subject), [])


def gaps() -> Iterator[str]:
    """The rows of which something is missing."""
    yield from (f"{t.number}: {r.name}: {r.ptx}" for t in TABLES for r in t.rows if r.is_gap)
