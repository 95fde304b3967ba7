"""The kernels of `tests.property.index_programs` as PTX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.property.index_programs import (
    AIMED,
    FACTOR,
    LOCAL_BYTES,
    LOOPS,
    MULTIPLIER,
    PARAMETERS,
    PLACES,
    RESULTS,
    SALT,
    SHARED_BYTES,
    VARIABLES,
    Access,
    Add,
    Aim,
    Assign,
    Barrier,
    Break,
    Cond,
    Exit,
    Expr,
    If,
    Load,
    Loop,
    Program,
    Speak,
    Statement,
    Store,
)

VARIABLE = {
    "shared": f".shared .align 16 .b8 s[{SHARED_BYTES}];",
    "local": f".local .align 16 .b8 l[{LOCAL_BYTES}];",
}
REGISTERS = {"b16": "%h", "b32": "%r", "b64": "%d", "pred": "%p"}


class Text:
    """A program in PTX. `lines_of`: by identity of a statement, the lines of its accesses, from 1 on."""

    def __init__(self, program: Program) -> None:
        self.lines: list[str] = []
        self.lines_of: dict[int, list[int]] = {}
        self.counts = dict.fromkeys(REGISTERS, 0)
        self.labels = 0
        self.ends: list[str] = []
        self.known: dict[int, str] = {}  # by identity, what the present statement has computed
        self._head(program)
        start = len(self.lines)
        self._prologue()
        self._fill(program.spaces)
        self.statements(program.body)
        self._epilogue()
        declared = " ".join(f".reg .{t} {REGISTERS[t]}<{max(n, 1)}>;" for t, n in self.counts.items())
        self.lines[start - 1] = declared

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"

    def put(self, line: str) -> None:
        self.lines.append(f"    {line}")

    def fresh(self, bits: int | str) -> str:
        kind = f"b{bits}" if isinstance(bits, int) else bits
        self.counts[kind] += 1
        return f"{REGISTERS[kind]}{self.counts[kind] - 1}"

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def _head(self, program: Program) -> None:
        self.asks_lane = "%lane" in repr(program.body)
        self.numbered = program.numbered
        names = ", ".join(f".param .u32 n{i}" for i in range(len(PARAMETERS)))
        self.lines += [
            ".version 7.8", ".target sm_90", ".address_size 64",
            f".visible .entry k(.param .u64 g, {names}) {{",
            *(VARIABLE[space] for space in program.spaces),
            f".reg .b32 {', '.join((*PLACES, *PARAMETERS, *VARIABLES))}, %acc, %all, %threads;",
            f".reg .b32 %i<{LOOPS}>; .reg .b64 %g, %a<2>, %q<{LOOPS}>; .reg .pred %e;",
            "",
        ]  # fmt: skip

    def _prologue(self) -> None:
        for name, special in zip(PLACES, ("tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y")):
            self.put(f"mov.u32 {name}, %{special};")
        lane = " mov.u32 %lane, %laneid;" if self.asks_lane else ""
        self.put(f"mov.u32 %r0, %ntid.x; mov.u32 %r1, %ntid.y; mov.u32 %r2, %ntid.z;{lane}")
        self.put("mul.lo.u32 %threads, %r0, %r1; mad.lo.u32 %lin, %ty, %r0, %tx;")
        self.put("mad.lo.u32 %lin, %tz, %threads, %lin; mul.lo.u32 %threads, %threads, %r2;")
        if self.numbered:
            self.put("mad.lo.u32 %gx, %cx, %r0, %tx; mad.lo.u32 %r2, %cy, %r2, %tz;")
            self.put("mad.lo.u32 %all, %r2, %r1, %ty; mov.u32 %r1, %nctaid.x; mul.lo.u32 %r0, %r0, %r1;")
            self.put("mad.lo.u32 %all, %all, %r0, %gx;")
        else:
            self.put("mov.u32 %r0, %nctaid.x; mad.lo.u32 %r0, %cy, %r0, %cx;")
            self.put("mad.lo.u32 %all, %r0, %threads, %lin;")
        self.put("ld.param.u64 %g, [g];")
        self.put("mov.b64 %a0, %g; mov.b64 %a1, 0;")
        for i, name in enumerate(PARAMETERS):
            self.put(f"ld.param.u32 {name}, [n{i}];")
        for name in (*VARIABLES, "%acc"):
            self.put(f"mov.u32 {name}, 0;")
        self.counts |= {"b32": 3, "b64": 2}

    def _fill(self, spaces: Sequence[str]) -> None:
        """Local memory, and shared memory by all threads of the CTA."""
        for place in range(0, LOCAL_BYTES if "local" in spaces else 0, 4):
            self.put(f"mad.lo.u32 %r0, %all, {FACTOR}, {place}; st.local.u32 [l+{place}], %r0;")
        if "shared" not in spaces:
            return
        self.put("mov.u64 %a1, s; mov.u32 %r0, %lin;")
        self.lines.append("FILL:")
        self.put("shl.b32 %r1, %r0, 2; mad.lo.u32 %r2, %r1, 7, %cx; cvt.u64.u32 %d0, %r1; mov.u64 %d1, s;")
        self.put("add.u64 %d0, %d0, %d1; st.shared.u32 [%d0], %r2; add.u32 %r0, %r0, %threads;")
        self.put(f"setp.lt.u32 %e, %r0, {SHARED_BYTES // 4}; @%e bra FILL; bar.sync 0;")

    def _epilogue(self) -> None:
        self.put("mul.wide.u32 %d0, %all, 16; add.u64 %d0, %g, %d0;")
        self.put(f"st.global.v4.u32 [%d0+{RESULTS}], {{%acc, {', '.join(VARIABLES)}}}; ret; }}")

    # -- statements -------------------------------------------------------------------------------

    def statements(self, body: Sequence[Statement]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        self.known.clear()
        match statement:
            case Assign(variable, value, guard):
                given = self.value(value)
                self.put(f"{self.guard(guard)}mov.b32 {variable}, {given};")
            case Load():
                self._load(statement)
            case Aim(access, guard):
                place, test = self.start(access), self.guard(guard)
                self.put(f"{test}mov.b64 {AIMED[access.space]}, {place};")
            case Store():
                self._store(statement)
            case Add(access, value):
                place, given = self.address(access), self.value(value)
                for offset in access.offsets:
                    self._access(statement, f"red.{access.space}.add.u32 {moved(place, offset)}, {given};")
            case If(condition, then, other):
                self._if(condition, then, other)
            case Loop():
                self._loop(statement)
            case Break(condition):
                self.put(f"@{self.test(condition)} bra {self.ends[-1]};")
            case Exit(condition):
                self.put(f"@{self.test(condition)} ret;")
            case Barrier():
                self.put("bar.sync 0;")
            case Speak():
                self._speak(statement)

    def _speak(self, statement: Speak) -> None:
        given, learned = self.value(statement.value), self.fresh(32)
        if statement.way == "ballot":
            low, odd = self.fresh(32), self.fresh("pred")
            self.put(f"and.b32 {low}, {given}, 1; setp.ne.u32 {odd}, {low}, 0;")
            self.put(f"vote.sync.ballot.b32 {learned}, {odd}, -1;")
        else:
            last = 0 if statement.way == "up" else 31
            self.put(f"shfl.sync.{statement.way}.b32 {learned}, {given}, {statement.by}, {last}, -1;")
        self.put(f"mad.lo.u32 %acc, %acc, {MULTIPLIER}, {learned};")

    def _access(self, statement: Statement, line: str) -> None:
        self.put(line)
        self.lines_of.setdefault(id(statement), []).append(len(self.lines))

    def _load(self, load: Load) -> None:
        access = load.access
        guard = self.guard(load.guard)
        place = f"[{load.pointer}]" if load.pointer else self.address(access)
        first = True
        for offset in access.offsets:
            loaded = [self.fresh(max(32, access.word * 8)) for _ in range(access.count)]
            for name in loaded if guard else ():
                self.put(f"mov.b{max(32, access.word * 8)} {name}, 0;")
            self._access(load, f"{guard}ld{access.suffix} {braced(loaded)}, {moved(place, offset)};")
            for name in loaded:
                word = self._folded(name, access.word)
                self.put(f"mad.lo.u32 %acc, %acc, {MULTIPLIER}, {word};")
                if first and load.into:
                    self.put(f"mov.b32 {load.into}, {word};")
                first = False

    def _folded(self, name: str, word: int) -> str:
        if word < 8:
            return name
        low, high = self.fresh(32), self.fresh(32)
        self.put(f"mov.b64 {{{low}, {high}}}, {name}; xor.b32 {low}, {low}, {high};")
        return low

    def _store(self, store: Store) -> None:
        access = store.access
        guard = self.guard(store.guard)
        place = self.address(access)
        given = self.value(store.value) if store.value else None
        for offset in access.offsets:
            if given is None:
                values = [self._key(access, place, offset + i * access.word) for i in range(access.count)]
            else:
                values = [self._own(given, access, offset + i) for i in range(access.count)]
            self._access(store, f"{guard}st{access.suffix} {moved(place, offset)}, {braced(values)};")

    def _own(self, given: str, access: Access, more: int) -> str:
        value = self.fresh(32)
        self.put(f"add.u32 {value}, {given}, {more};")
        if access.word < 8:
            return value
        wide = self.fresh(64)
        self.put(f"mov.b64 {wide}, {{{value}, {given}}};")
        return wide

    def _key(self, access: Access, place: str, offset: int) -> str:
        """What the bytes at an address are to be: those of its word's number, mixed."""
        base = place.strip("[]").partition("+")[0]
        at = self.fresh(32)
        if base.startswith("%d"):
            wide = self.fresh(64)
            start = "%g" if access.space in ("global", "generic") else "0"
            self.put(f"sub.u64 {wide}, {base}, {start}; cvt.u32.u64 {at}, {wide};")
        else:
            self.put(f"mov.b32 {at}, {base};")
        self.put(f"add.u32 {at}, {at}, {offset + int(place.strip('[]').partition('+')[2] or 0)};")
        return self._mixed(at, access.word)

    def _mixed(self, at: str, word: int) -> str:
        mixed, shift = self.fresh(32), self.fresh(32)
        self.put(f"and.b32 {mixed}, {at}, -4; mul.lo.u32 {mixed}, {mixed}, {FACTOR};")
        self.put(f"xor.b32 {mixed}, {mixed}, {SALT};")
        if word < 4:
            self.put(f"and.b32 {shift}, {at}, 3; shl.b32 {shift}, {shift}, 3;")
            self.put(f"shr.u32 {mixed}, {mixed}, {shift};")
        if word < 8:
            return mixed
        wide = self.fresh(64)
        self.put(f"add.u32 {shift}, {at}, 4;")
        self.put(f"mov.b64 {wide}, {{{mixed}, {self._mixed(shift, 4)}}};")
        return wide

    def _if(self, condition: Cond, then: Sequence[Statement], other: Sequence[Statement]) -> None:
        no, end = self.label(), self.label()
        self.put(f"@!{self.test(condition)} bra {no};")
        self.statements(then)
        if other:
            self.put(f"bra {end};")
        self.lines.append(f"{no}:")
        self.statements(other)
        self.lines.append(f"{end}:")

    def _loop(self, loop: Loop) -> None:
        counter, start, end = f"%i{loop.level}", self.label(), self.label()
        self.put(f"mov.b32 {counter}, {self.value(loop.start)};")
        bound = self.value(loop.bound)
        if loop.pointer:
            self.put(f"mov.b64 %q{loop.level}, {self.start(loop.pointer)};")
        advance = self.value(loop.advance)
        self.lines.append(f"{start}:")
        leave = self.fresh("pred")
        self.put(f"setp.{loop.compare} {leave}, {counter}, {bound}; @!{leave} bra {end};")
        with self._inside(end):
            self.statements(loop.body)
        if loop.pointer:
            wide = self.fresh(64)
            self.put(f"cvt.s64.s32 {wide}, {advance}; add.s64 %q{loop.level}, %q{loop.level}, {wide};")
        self.put(f"add.s32 {counter}, {counter}, {loop.step}; bra {start};")
        self.lines.append(f"{end}:")

    @contextmanager
    def _inside(self, end: str) -> Iterator[None]:
        self.ends.append(end)
        yield
        self.ends.pop()

    # -- values -----------------------------------------------------------------------------------

    def value(self, e: Expr) -> str:
        if e.op in ("reg", "const"):
            return str(e.args[0])
        if id(e) in self.known:
            return self.known[id(e)]
        operands = [
            self.test(a) if isinstance(a, Cond) else self.value(a)
            for a in e.args
            if not isinstance(a, str | int)
        ]
        result = self.fresh(e.bits)
        self.put(f"{e.op} {result}, {', '.join(operands)};")
        self.known[id(e)] = result
        return result

    def test(self, condition: Cond) -> str:
        a, b, result = self.value(condition.a), self.value(condition.b), self.fresh("pred")
        self.put(f"setp.{condition.compare}.{condition.type} {result}, {a}, {b};")
        return result

    def guard(self, condition: Cond | None) -> str:
        return f"@{self.test(condition)} " if condition else ""

    def start(self, access: Access) -> str:
        """The address in a register."""
        base, _, constant = self.address(access).strip("[]").partition("+")
        start = self.fresh(64)
        self.put(f"add.u64 {start}, {base}, {constant};")
        return start

    def address(self, access: Access) -> str:
        """The operand of an instruction, in brackets."""
        index = self.value(access.index)
        base = {"global": "%g", "generic": "%g", "shared": "s", "local": "l"}[access.space]
        if access.extend == "32":
            narrow, start = self.fresh(32), self.fresh(32)
            self.put(f"mul.lo.u32 {narrow}, {index}, {access.scale}; mov.u32 {start}, {base};")
            self.put(f"add.u32 {narrow}, {narrow}, {start};")
            return f"[{narrow}+{access.region}]"
        wide, start = self.fresh(64), self.fresh(64)
        if access.extend.startswith("wide"):
            self.put(f"mul.{access.extend} {wide}, {index}, {access.scale};")
        elif access.extend == "64":
            self.put(f"mul.lo.u64 {wide}, {index}, {access.scale};")
        else:
            self.put(f"{access.extend} {wide}, {index}; mul.lo.s64 {wide}, {wide}, {access.scale};")
        self.put(f"mov.u64 {start}, {base}; add.u64 {wide}, {start}, {wide};")
        return f"[{wide}+{access.region}]"


def moved(place: str, offset: int) -> str:
    """An address some bytes on."""
    base, _, constant = place.strip("[]").partition("+")
    total = int(constant or 0) + offset
    return f"[{base}+{total}]" if total else f"[{base}]"


def braced(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
