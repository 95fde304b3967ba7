"""Random valid PTX programs that end, and whose results do not depend on the order of threads.

A program is a kernel `fuzz(in, out, acc, own, u0, u1)` with some device functions. Every thread starts
with registers loaded from its row of `in` (`ROW` words of 8 bytes), runs random statements, and stores
all registers to its row of `out`. `acc` collects updates that commute, `own` is every thread's own slice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from simt.isa.targets import NEWEST
from tests.fuzz.builder import CANONICAL, GENERIC_LOCAL, SLICE, WORD, Builder, Scope
from tests.fuzz.operations import BANKS, TARGET, accumulators
from tests.fuzz.statements import Body, Statement, plain

Dim3 = tuple[int, int, int]
Maker = Callable[[Scope], Statement]

BLOCKS: tuple[Dim3, ...] = (
    (1, 1, 1), (7, 1, 1), (31, 1, 1), (32, 1, 1), (33, 1, 1), (45, 1, 1), (64, 1, 1), (97, 1, 1),
    (16, 4, 1), (7, 5, 2), (3, 11, 2), (40, 2, 1), (2, 2, 19),
)  # fmt: skip
GRIDS: tuple[Dim3, ...] = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1))

ROW = sum(count for _, count in BANKS.values())
DEPTH = 4
START = 0x00FF_10FF_00FF_77FE
"""What accumulators hold at first."""


@dataclass
class Program:
    """A random program: the tree of the kernel's statements, the text around it, and its launch."""

    seed: int
    grid: Dim3
    block: Dim3
    body: Body
    builder: Builder
    functions: list[tuple[str, Body, Builder]]

    @property
    def threads(self) -> int:
        return math.prod(self.grid) * math.prod(self.block)

    @property
    def ctas(self) -> int:
        return math.prod(self.grid)

    def text(self) -> str:
        lines = [
            f"// seed {self.seed}, grid {self.grid}, block {self.block}",
            f".version {NEWEST[0]}.{NEWEST[1]}", f".target sm_{TARGET}", ".address_size 64",
            f".shared .align 16 .b8 slices[{math.prod(self.block) * SLICE}];",
            f".shared .align 16 .b8 exchanges[{math.prod(self.block) * 4}];",
            f".shared .align 16 .b8 sums[{len(accumulators()) * WORD}];",
        ]  # fmt: skip
        for name, body, builder in self.functions:
            lines += function_text(name, body, builder)
        return "\n".join([*lines, *kernel_text(self.body, self.builder)]) + "\n"

    def all_bodies(self) -> list[Body]:
        """Every list of statements, those that hold others first."""
        tops = [self.body, *(body for _, body, _ in self.functions)]
        return [b for top in tops for b in (top, *(x for s in top for x in s.bodies()))]


# ---------------------------------------------------------------- control flow


@dataclass
class Writer:
    """Writes bodies of statements with a builder."""

    b: Builder

    def body(self, scope: Scope, length: int) -> Body:
        return [self.statement(scope) for _ in range(length)]

    def short(self, scope: Scope) -> Body:
        return self.body(scope, self.b.random.randint(1, 4))

    def statement(self, scope: Scope) -> Statement:
        makers = self.makers(scope)
        return self.b.random.choices([m for _, m in makers], [w for w, _ in makers])[0](scope)

    def makers(self, scope: Scope) -> list[tuple[float, Maker]]:
        """What may stand here, with its weight."""
        b = self.b
        found: list[tuple[float, Maker]] = [
            (24, b.operation), (3, b.video), (2, b.carry_chain), (2, b.pack), (2, b.bits), (1, b.special),
            (4, b.load), (4, b.store),
        ]  # fmt: skip
        if "shared" in b.slices:
            found += [(2, b.own_atomic), (2, b.accumulate)]
        if scope.mask is not None:
            found += [(3, b.lanes), (3, b.shuffle)]
            if "shared" in b.slices:
                found.append((1, b.warp_exchange))
        if scope.uniform:
            found += [(1, b.barrier), (2, b.exchange)] if "shared" in b.slices else [(2, b.barrier)]
        if scope.exits:
            found.append((2, self.leave))
        return found + self.compound(scope)

    def compound(self, scope: Scope) -> list[tuple[float, Maker]]:
        if scope.depth >= DEPTH:
            return []
        found: list[tuple[float, Maker]] = [
            (3, self.divergent_if), (2, self.lane_loop), (2, self.wild_loop), (1, self.graph),
            (1.5, self.switch), (1.5, self.early_skip),
        ]  # fmt: skip
        if scope.uniform:
            found += [(1.5, self.uniform_if), (2, self.uniform_loop)]
        if self.b.functions:
            found += [(2.5, self.call), (1, self.indirect_call)]
        return found

    def predicate(self) -> tuple[str, list[str]]:
        """A new predicate that nothing changes, from the lane's number or from values."""
        q = self.b.fresh("q")
        if self.b.chance(0.4):
            return q, [f"setp.lt.u32 {q}, %lane, {self.b.random.randint(0, 33)};"]
        if self.b.chance(0.5):
            return q, [f"setp.lt.s32 {q}, {self.b.register('r')}, {self.b.register('r')};"]
        return q, [f"mov.pred {q}, {self.b.register('p')};"]

    def split(self, q: str, mask: str | None) -> tuple[list[str], str | None, str | None]:
        """The masks of the lanes of `mask` in which a predicate holds, and of the others."""
        if mask is None:
            return [], None, None
        yes, no = self.b.fresh("t"), self.b.fresh("t")
        lines = [f"vote.sync.ballot.b32 {yes}, {q}, {mask};", f"xor.b32 {no}, {yes}, {mask};"]
        return lines, yes, no

    def inner(self, scope: Scope, mask: str | None) -> Scope:
        return replace(scope, depth=scope.depth + 1, mask=mask, uniform=False)

    def divergent_if(self, scope: Scope) -> Statement:
        (q, lines), other, join = self.predicate(), self.b.label(), self.b.label()
        more, yes, no = self.split(q, scope.mask)
        first, second = self.inner(scope, yes), self.inner(scope, no)
        return Statement([
            *lines, *more, f"@!{q} bra {other};", self.short(first), f"bra {join};", f"{other}:",
            self.short(second), f"{join}:",
        ])  # fmt: skip

    def early_skip(self, scope: Scope) -> Statement:
        """Lanes leave a body at several places for the same join."""
        join = self.b.label()
        parts: list[str | Body] = []
        for _ in range(self.b.random.randint(1, 3)):
            q, lines = self.predicate()
            parts += [*lines, f"@{q} bra {join};", self.short(self.inner(scope, None))]
        return Statement([*parts, f"{join}:"])

    def switch(self, scope: Scope) -> Statement:
        count = self.b.random.randint(2, 4)
        labels, table, join = [self.b.label() for _ in range(count)], self.b.label(), self.b.label()
        index, mask = self.b.fresh("t"), self.b.fresh("t") if scope.mask else None
        parts: list[str | Body] = [f"rem.u32 {index}, {self.b.register('r')}, {count};"]
        if mask:
            parts.append(f"match.any.sync.b32 {mask}, {index}, {scope.mask};")
        parts += [f"{table}: .branchtargets {', '.join(labels)};", f"brx.idx {index}, {table};"]
        falls_through = mask is None
        for label in labels:
            parts += [f"{label}:", self.short(self.inner(scope, mask))]
            if not (falls_through and self.b.chance(0.3)):
                parts.append(f"bra {join};")
        return Statement([*parts, f"{join}:"])

    def lane_loop(self, scope: Scope) -> Statement:
        """A trip count for each lane; the lanes inside are known, so they may leave only at the head."""
        i, n, q, head, end = *(self.b.fresh(k) for k in "ttq"), self.b.label(), self.b.label()
        mask = self.b.fresh("t") if scope.mask else None
        vote = [f"vote.sync.ballot.b32 {mask}, {q}, {mask};"] if mask else []
        inside = replace(self.inner(scope, mask), exits=())
        return Statement([
            f"mov.u32 {i}, 0;", f"and.b32 {n}, {self.b.register('r')}, 3;",
            *([f"mov.b32 {mask}, {scope.mask};"] if mask else []),
            f"{head}:", f"setp.lt.u32 {q}, {i}, {n};", *vote, f"@!{q} bra {end};",
            self.short(inside), f"add.u32 {i}, {i}, 1;", f"bra {head};", f"{end}:",
        ])  # fmt: skip

    def wild_loop(self, scope: Scope) -> Statement:
        """A loop that lanes leave or start again from anywhere inside; tested at its end or its head."""
        i, n, q, head = *(self.b.fresh(k) for k in "ttq"), self.b.label()
        again, end = self.b.label(), self.b.label()
        exits = (*scope.exits, again, end) if scope.mask is None else (again, end)
        inside = replace(self.inner(scope, None), exits=exits)
        start = [f"and.b32 {n}, {self.b.register('r')}, 3;", f"mov.u32 {i}, 0;", f"{head}:"]
        test = [f"add.u32 {i}, {i}, 1;", f"setp.le.u32 {q}, {i}, {n};"]
        if self.b.chance(0.5):
            return Statement([*start, self.short(inside), f"{again}:", *test, f"@{q} bra {head};", f"{end}:"])
        return Statement([
            *start, *test, f"@!{q} bra {end};", self.short(inside), f"{again}:", f"bra {head};", f"{end}:",
        ])  # fmt: skip

    def leave(self, scope: Scope) -> Statement:
        q, lines = self.predicate()
        return plain(*lines, f"@{q} bra {self.b.random.choice(scope.exits)};")

    def graph(self, scope: Scope) -> Statement:
        """Blocks that jump anywhere among themselves, until the lane's fuel is spent."""
        fuel, spent, end = self.b.fresh("t"), self.b.fresh("q"), self.b.label()
        labels = [self.b.label() for _ in range(self.b.random.randint(2, 4))]
        parts: list[str | Body] = [f"and.b32 {fuel}, {self.b.register('r')}, 7;"]
        parts += self._jump(labels)
        for label in labels:
            parts += [f"{label}:", self.short(replace(self.inner(scope, None), exits=()))]
            parts += [
                f"sub.s32 {fuel}, {fuel}, 1;",
                f"setp.lt.s32 {spent}, {fuel}, 0;",
                f"@{spent} bra {end};",
            ]
            parts += self._jump(labels)
        return Statement([*parts, f"{end}:"])

    def _jump(self, labels: list[str]) -> list[str]:
        q, lines = self.predicate()
        return [*lines, f"@{q} bra {self.b.random.choice(labels)};", f"bra {self.b.random.choice(labels)};"]

    def uniform_if(self, scope: Scope) -> Statement:
        q, other, join = self.b.fresh("q"), self.b.label(), self.b.label()
        inside = replace(scope, depth=scope.depth + 1)
        test = (
            f"setp.{self.b.random.choice(('lt', 'eq', 'ne'))}.u32 {q}, {self._uniform()}, {self._uniform()};"
        )
        uni = self.b.random.choice(("", ".uni"))
        return Statement([
            test, f"@{q} bra{uni} {other};", self.short(inside), f"bra{uni} {join};", f"{other}:",
            self.short(inside), f"{join}:",
        ])  # fmt: skip

    def _uniform(self) -> str:
        return self.b.random.choice(("%u0", "%u1", "%u2", "1", "2"))

    def uniform_loop(self, scope: Scope) -> Statement:
        i, n, q, head, end = *(self.b.fresh(k) for k in "ttq"), self.b.label(), self.b.label()
        inside = replace(scope, depth=scope.depth + 1, exits=())
        leave = (
            [f"setp.eq.u32 {q}, {i}, {self._uniform()};", f"@{q} bra {end};"] if self.b.chance(0.4) else []
        )
        return Statement([
            f"mov.u32 {i}, 0;", f"and.b32 {n}, {self._uniform()}, 3;", f"{head}:", self.short(inside),
            *leave, self.short(inside), f"add.u32 {i}, {i}, 1;", f"setp.le.u32 {q}, {i}, {n};",
            f"@{q} bra {head};", f"{end}:",
        ])  # fmt: skip

    def early_exit(self, scope: Scope) -> Statement:
        """Some threads of the CTA end here, never the first; the mask of the others goes on."""
        q, lines = self.predicate()
        end = self.b.random.choice(("ret", "exit"))
        return plain(
            *lines, f"setp.ne.and.u32 {q}, %linear, 0, {q};",
            f"vote.sync.ballot.b32 %gone, {q}, %mask;", "xor.b32 %mask, %mask, %gone;", f"@{q} {end};",
        )  # fmt: skip

    # ------------------------------------------------------------ calls

    def call(self, scope: Scope) -> Statement:
        name = self.b.random.choice(self.callable(scope))
        return self._call(scope, [], name, "")

    def callable(self, scope: Scope) -> list[str]:
        """Functions may use the lanes' mask, or synchronise the CTA, as their names say."""
        fitting = {"lane": True, "warp": scope.mask is not None, "cta": scope.uniform}
        return [f for f in self.b.functions if fitting[f.split("_")[0]]]

    def indirect_call(self, scope: Scope) -> Statement:
        """Each lane calls one of two functions by its address."""
        names = self.b.random.choices([f for f in self.b.functions if f.startswith("lane")], k=2)
        at, other, prototype = self.b.fresh("w"), self.b.fresh("w"), self.b.label()
        q, lines = self.predicate()
        before = [
            *lines, f"mov.u64 {at}, {names[0]};", f"mov.u64 {other}, {names[1]};",
            f"selp.b64 {at}, {at}, {other}, {q};",
            f"{prototype}: .callprototype (.param .b32 _) _ "
            "(.param .b32 _, .param .b64 _, .param .b32 _, .param .b32 _);",
        ]  # fmt: skip
        return self._call(scope, before, at, f", {prototype}")

    def _call(self, scope: Scope, before: list[str], callee: str, prototype: str) -> Statement:
        fuel, a, d = self.b.fresh("t"), self.b.register("r"), self.b.register("d")
        uni = ".uni" if scope.uniform and self.b.chance(0.5) and not prototype else ""
        return plain(
            *before, "{", ".param .b32 a0; .param .b64 a1; .param .b32 a2; .param .b32 a3; .param .b32 back;",
            f"and.b32 {fuel}, {self.b.register('r')}, 3;",
            f"st.param.b32 [a0], {a};", f"st.param.b64 [a1], {d};",
            f"st.param.b32 [a2], {scope.mask or 0};", f"st.param.b32 [a3], {fuel};",
            f"call{uni} (back), {callee}, (a0, a1, a2, a3){prototype};",
            f"ld.param.b32 {self.b.register('r')}, [back];", "}",
        )  # fmt: skip


# ---------------------------------------------------------------- the text around statements

COMMON = [
    ".reg .b32 %lane, %linear, %mask, %gone, %u0, %u1, %u2, %fuel, %hash, %n, %m; .reg .pred %first;",
    ".reg .b64 %row, %local, %shared, %global, %acc, %exchange, %start, %a, %b;",
    f".reg .b64 %generic_shared, %generic_global, {GENERIC_LOCAL}; .reg .b32 %oldr; .reg .b64 %oldd;",
    f".local .align 16 .b8 frame[{SLICE}];",
]

IDENTITY = [
    "mov.u32 %n, %ntid.x;", "mov.u32 %m, %tid.y;", "mov.u32 %lane, %tid.z;", "mov.u32 %gone, %ntid.y;",
    "mad.lo.u32 %m, %lane, %gone, %m;", "mov.u32 %lane, %tid.x;", "mad.lo.u32 %linear, %m, %n, %lane;",
    "and.b32 %lane, %linear, 31;",
]  # fmt: skip


def frame_lines() -> list[str]:
    """The thread's local memory: an address, and words that say where they are."""
    lines = ["mov.u64 %local, frame;", f"cvta.local.u64 {GENERIC_LOCAL}, %local;"]
    return lines + [f"st.local.b64 [frame+{i}], {i * 0x0101010101010107};" for i in range(0, SLICE, WORD)]


def register_list() -> list[str]:
    return [f"%{letter}{i}" for letter, (_, count) in BANKS.items() for i in range(count)]


def kernel_text(body: Body, builder: Builder) -> list[str]:
    builder = replace(builder, counters=dict(builder.counters))  # a text is made more than once
    lines = [line for statement in body for line in statement.lines()]
    lines = [*prologue(builder.threads), *lines, *epilogue(builder)]
    inside = [*COMMON, *builder.declarations(), *lines]
    head = ".visible .entry fuzz(.param .u64 in, .param .u64 out, .param .u64 acc, .param .u64 own,"
    return [head, "    .param .u32 u0, .param .u32 u1)", "{", *(f"    {line}" for line in inside), "}"]


def prologue(threads: int) -> list[str]:
    """Numbers and addresses of the thread, its registers' first values, shared memory."""
    lines = [
        *IDENTITY,
        f"sub.s32 %n, {threads}, %linear;", "add.s32 %n, %n, %lane;", "min.s32 %n, %n, 32;",
        "mov.u32 %m, 1;", "shl.b32 %mask, %m, %n;", "sub.u32 %mask, %mask, 1;",
        "ld.param.u32 %u0, [u0];", "ld.param.u32 %u1, [u1];", "mov.u32 %u2, %ctaid.x;",
        "mov.u32 %n, %nctaid.x;", "mov.u32 %m, %ctaid.y;", "mad.lo.u32 %n, %n, %m, %u2;",
        f"mad.lo.u32 %m, %n, {threads}, %linear;",
        "ld.param.u64 %row, [in];", f"mad.wide.u32 %row, %m, {ROW * WORD}, %row;",
        "ld.param.u64 %global, [own];", f"mad.wide.u32 %global, %m, {SLICE}, %global;",
        "ld.param.u64 %acc, [acc];", "mov.u64 %shared, slices;",
        f"mad.wide.u32 %shared, %linear, {SLICE}, %shared;",
        "mov.u64 %start, exchanges;", "mad.wide.u32 %exchange, %linear, 4, %start;",
        "cvta.shared.u64 %generic_shared, %shared;", "cvta.global.u64 %generic_global, %global;",
    ]  # fmt: skip
    lines += frame_lines()
    lines += [f"st.shared.b64 [%shared+{i}], {i * 3 + 1};" for i in range(0, SLICE, WORD)]
    lines += ["st.shared.b32 [%exchange], %linear;", "setp.eq.u32 %first, %linear, 0;"]
    lines += [f"@%first st.shared.b64 [sums+{i * WORD}], {START};" for i in range(len(accumulators()))]
    return [*lines, *load_registers(), "bar.sync 0;"]


def load_registers() -> list[str]:
    lines: list[str] = []
    for place, register in enumerate(register_list()):
        t = BANKS[register[1]][0]
        if t == "pred":
            lines += [f"ld.global.b32 %n, [%row+{place * WORD}];", f"setp.lt.s32 {register}, %n, 0;"]
        else:
            lines.append(f"ld.global.{t} {register}, [%row+{place * WORD}];")
    return lines


def epilogue(builder: Builder) -> list[str]:
    """Registers to the thread's row of `out`; the CTA's accumulators behind those of the grid."""
    lines = ["mov.u32 %n, %nctaid.x;", "mov.u32 %m, %ctaid.y;", "mov.u32 %u2, %ctaid.x;"]
    lines += ["mad.lo.u32 %n, %n, %m, %u2;", f"mad.lo.u32 %m, %n, {builder.threads}, %linear;"]
    lines += ["ld.param.u64 %row, [out];", f"mad.wide.u32 %row, %m, {ROW * WORD}, %row;"]
    for place, register in enumerate(register_list()):
        lines += store_register(builder, register, f"[%row+{place * WORD}]")
    size = len(accumulators()) * WORD
    lines += ["bar.sync 0;", "@!%first exit;", "add.u32 %n, %n, 1;", f"mad.wide.u32 %acc, %n, {size}, %acc;"]
    for i in range(len(accumulators())):
        lines += [f"ld.shared.b64 %a, [sums+{i * WORD}];", f"st.global.b64 [%acc+{i * WORD}], %a;"]
    return [*lines, "ret;"]


def store_register(builder: Builder, register: str, address: str) -> list[str]:
    letter = register[1]
    if letter == "p":
        return [f"selp.u32 %u2, 1, 0, {register};", f"st.global.b32 {address}, %u2;"]
    if letter in CANONICAL:
        lines, value = builder.canonical(register)
        return [*lines, f"st.global.{CANONICAL[letter][0]} {address}, {value};"]
    return [f"st.global.{BANKS[letter][0]} {address}, {register};"]


def function_text(name: str, body: Body, builder: Builder) -> list[str]:
    """A device function: its registers start from its arguments, its result is a hash of them.

    `%u0`, `%u1` and `%u2` are the same in all threads of a CTA, as in the kernel: barriers depend on them.
    """
    builder = replace(builder, counters=dict(builder.counters))
    head = (
        f".func (.param .b32 result) {name}(.param .b32 f0, .param .b64 f1, .param .b32 f2, .param .b32 f3)"
    )
    lines = [*IDENTITY, "ld.param.u32 %n, [f0];", "ld.param.b64 %b, [f1];", "ld.param.b32 %mask, [f2];"]
    lines += ["ld.param.b32 %fuel, [f3];", *frame_lines(), *start_registers()]
    lines += ["mov.u32 %u0, %ntid.y;", "mov.u32 %u1, %nctaid.x;", "mov.u32 %u2, %ctaid.x;"]
    lines += [line for statement in body for line in statement.lines()]
    lines += [*hash_registers(builder), "st.param.b32 [result], %hash;", "ret;"]
    return [head, "{", *(f"    {line}" for line in [*COMMON, *builder.declarations(), *lines]), "}"]


def start_registers() -> list[str]:
    lines: list[str] = []
    for place, register in enumerate(register_list()):
        seed = (place + 1) * 0x01234567 & 0x7FFFFFFF
        lines.append({
            "p": f"setp.gt.s32 {register}, %n, {seed};", "h": f"cvt.u16.u32 {register}, %n;",
            "r": f"mad.lo.u32 {register}, %n, {seed | 1}, {place};", "d": f"add.u64 {register}, %b, {seed};",
            "f": f"cvt.rn.f32.s32 {register}, %n;", "e": f"cvt.rn.f64.s64 {register}, %b;",
        }[register[1]])  # fmt: skip
    return lines


def hash_registers(builder: Builder) -> list[str]:
    lines = ["mov.u32 %hash, 0;"]
    for register in (r for r in register_list() if r[1] in "rf"):
        more, value = builder.canonical(register) if register[1] == "f" else ([], register)
        lines += [*more, f"mad.lo.u32 %hash, %hash, 31, {value};"]
    return lines


# ---------------------------------------------------------------- whole programs


def generate(seed: int, exact: bool = True, size: int = 14) -> Program:
    """The program of a seed. `exact`: only instructions whose result is defined to the bit."""
    random = Random(seed)
    grid, block = random.choice(GRIDS), random.choice(BLOCKS)
    functions: list[tuple[str, Body, Builder]] = []
    for name in random.sample(("lane_a", "lane_b", "warp_c", "cta_d"), random.randint(0, 4)):
        known = [f for f, _, _ in functions if f.startswith("lane")]
        functions.append(make_function(random, name, known, exact))
    slices = {
        "": ["%generic_shared", "%generic_global", GENERIC_LOCAL], "local": ["%local"],
        "shared": ["%shared"], "global": ["%global"],
    }  # fmt: skip
    builder = Builder(random, "K", exact, slices, math.prod(block), usable_functions(functions))
    writer, scope = Writer(builder), Scope(mask="%mask", uniform=True)
    body = writer.body(scope, size // 2)
    if random.random() < 0.3:
        body.append(writer.early_exit(scope))
    body += writer.body(scope, size - size // 2)
    return Program(seed, grid, block, body, builder, functions)


def usable_functions(functions: list[tuple[str, Body, Builder]]) -> list[str]:
    """None without one that may be called from everywhere."""
    names = [name for name, _, _ in functions]
    return names if any(n.startswith("lane") for n in names) else []


def make_function(random: Random, name: str, known: list[str], exact: bool) -> tuple[str, Body, Builder]:
    builder = Builder(random, name, exact, {"local": ["%local"], "": [GENERIC_LOCAL]}, functions=known)
    kind = name.split("_")[0]
    scope = Scope(2, "%mask" if kind != "lane" else None, kind == "cta")
    body = Writer(builder).body(scope, random.randint(2, 5))
    if kind == "lane" and random.random() < 0.5:
        body.append(recursion(builder, name))
    if kind == "lane" and random.random() < 0.5:
        body.insert(random.randrange(len(body) + 1), early_return(builder))
    return name, body, builder


def early_return(builder: Builder) -> Statement:
    """Some lanes return here, with a result of their own."""
    q, lines = Writer(builder).predicate()
    return plain(*lines, f"st.param.b32 [result], {builder.register('r')};", f"@{q} ret;")


def recursion(builder: Builder, name: str) -> Statement:
    """The function calls itself as often as its last argument says."""
    end, done, r = builder.label(), builder.fresh("q"), builder.register("r")
    return plain(
        f"setp.eq.u32 {done}, %fuel, 0;", f"@{done} bra {end};", "sub.u32 %fuel, %fuel, 1;",
        "{", ".param .b32 a0; .param .b64 a1; .param .b32 a2; .param .b32 a3; .param .b32 back;",
        f"st.param.b32 [a0], {r};", "st.param.b64 [a1], %b;", "st.param.b32 [a2], 0;",
        "st.param.b32 [a3], %fuel;", f"call (back), {name}, (a0, a1, a2, a3);",
        f"ld.param.b32 {r}, [back];", "}", f"{end}:",
    )  # fmt: skip
