"""Random kernels of nested ifs, loops and calls with breakpoints everywhere, as PTX, and what each of their
threads, alone, passes on its way.

A thread has a value `%x`, different in every thread, that every statement stirs; its bits decide. What lanes
of a warp do together follows from what each of them does: those that come to the same instance of a statement
(the same calls, the same rounds of the same loops) come to it together.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

MASK = 0xFFFFFFFF
FACTOR = 1664525
CTAS, THREADS = 3, 50
LIMIT = 200
"""Breakpoints of a thread."""
HEAD = """.version {version}
.target sm_{target}
.address_size 64
"""


@dataclass(eq=False)
class Statement:
    """`kind`: mark (a breakpoint), if, loop, call, or a guarded break, ret or exit. `ways`: an if's two, or a
    loop's body. `line`: of the breakpoint, the branch, the loop's first instruction, or the call."""

    kind: str
    constant: int
    shift: int
    ways: list[list[Statement]] = field(default_factory=list["list[Statement]"])
    callee: str = ""
    line: int = 0


Frame = tuple[Statement, int]
"""A statement around another, and the way taken or the round, from 0."""
Instance = tuple[Statement, tuple[Frame, ...]]
"""A statement, and the frames around it from the outermost."""


class Leave(Exception):
    """A thread leaves statements by a break, ret or exit: `kind`."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


@dataclass
class Way:
    """What a thread does. `marks`: breakpoints in order. `passed`: all statements that it comes to. `left`:
    ifs, loops and calls that it leaves before their end. `sides`: of ifs, the way taken."""

    x: int
    marks: list[Instance] = field(default_factory=list[Instance])
    passed: set[Instance] = field(default_factory=set[Instance])
    left: set[Instance] = field(default_factory=set[Instance])
    sides: dict[Instance, int] = field(default_factory=dict[Instance, int])


class Structured:
    """A random program. `leaving`: it has breaks, returns and exits. It is for `CTAS` of `THREADS`,
    none of which passes more than `LIMIT` breakpoints."""

    def __init__(self, rng: random.Random, leaving: bool) -> None:
        self._rng, self._leaving = rng, leaving
        self.functions: dict[str, list[Statement]] = {}
        while not 30 <= self._longest() <= LIMIT:
            for name in ("g", "f", "k"):
                self.functions[name] = self._statements(3 if name == "k" else 2, name, False)

    def _longest(self) -> int:
        """The most breakpoints of a thread."""
        return max(len(self.way(cta, thread).marks) for cta in range(CTAS) for thread in range(THREADS))

    def _statements(self, depth: int, where: str, in_loop: bool) -> list[Statement]:
        found = [self._mark()]
        for _ in range(self._rng.randint(1, 3)):
            found += [self._statement(depth, where, in_loop), self._mark()]
        return found

    def _mark(self) -> Statement:
        return self._make("mark")

    def _make(self, kind: str, *ways: list[Statement], callee: str = "") -> Statement:
        return Statement(kind, self._rng.getrandbits(32), self._rng.randrange(4, 29), [*ways], callee)

    def _statement(self, depth: int, where: str, in_loop: bool) -> Statement:
        kinds = ["if", "if", "loop"] if depth else []
        kinds += ["call"] * (where != "g")
        if self._leaving:
            kinds += ["exit"] + ["break"] * in_loop + ["ret"] * (where != "k")
        kind = self._rng.choice(kinds or ["mark"])
        if kind == "if":
            second = self._statements(depth - 1, where, in_loop) if self._rng.random() < 0.6 else []
            return self._make(kind, self._statements(depth - 1, where, in_loop), second)
        if kind == "loop":
            return self._make(kind, self._statements(depth - 1, where, True))
        if kind == "call":
            return self._make(kind, callee=self._rng.choice(["f", "g"] if where == "k" else ["g"]))
        return self._make(kind)

    # ------------------------------------------------------------------ as PTX

    def ptx(self, version: str, target: int) -> str:
        self._lines = HEAD.format(version=version, target=target).splitlines()
        self._labels = 0
        for name, body in self.functions.items():
            self._lines += (
                [".visible .entry k()"] if name == "k" else [f".func (.reg .b32 %x) {name}(.reg .b32 %y)"]
            )
            self._lines += ["{", ".reg .pred %p; .reg .b32 %z, %n<9>;"]
            if name == "k":
                self._lines += [".reg .b32 %x, %c;", "mov.u32 %x, %tid.x;", "mov.u32 %c, %ctaid.x;"]
                self._lines += ["mad.lo.u32 %x, %c, 1000, %x;"]
            else:
                self._lines += ["mov.b32 %x, %y;"]
            self._emit(body, 0, "")
            self._lines += ["ret;", "}"]
        return "\n".join(self._lines) + "\n"

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _emit(self, statements: list[Statement], depth: int, out: str) -> None:
        """`depth`: loops around. `out`: the label behind the innermost."""
        for s in statements:
            if s.kind != "mark":
                bits = 3 if s.kind in ("if", "loop") else 15
                test = "lt.u32 %p, %z, 2" if s.kind == "if" else "eq.u32 %p, %z, 0"
                self._lines += [f"mad.lo.u32 %x, %x, {FACTOR}, {s.constant};"]
                self._lines += [f"shr.u32 %z, %x, {s.shift};", f"and.b32 %z, %z, {bits};"]
                self._lines += [f"setp.{test};"]
            match s.kind:
                case "if":
                    self._emit_if(s, depth, out)
                case "loop":
                    top, end = self._label(), self._label()
                    self._lines += [f"mov.u32 %n{depth}, %z;", f"{top}:", f"sub.u32 %n{depth}, %n{depth}, 1;"]
                    s.line = len(self._lines)
                    self._emit(s.ways[0], depth + 1, end)
                    self._lines += [f"setp.ge.s32 %p, %n{depth}, 0;", f"@%p bra {top};", f"{end}:"]
                case "call":
                    self._put(s, f"call (%x), {s.callee}, (%x);")
                case "mark":
                    self._put(s, "brkpt;")
                case _:
                    self._put(s, f"@%p bra {out};" if s.kind == "break" else f"@%p {s.kind};")

    def _emit_if(self, s: Statement, depth: int, out: str) -> None:
        """The first way is for those whose number is 2 or 3, or jumped over."""
        other, end = self._label(), self._label()
        self._put(s, f"@%p bra {other if s.ways[1] else end};")
        self._emit(s.ways[0], depth, out)
        if s.ways[1]:
            self._lines += [f"bra {end};", f"{other}:"]
            self._emit(s.ways[1], depth, out)
        self._lines += [f"{end}:"]

    def _put(self, s: Statement, text: str) -> None:
        self._lines.append(text)
        s.line = len(self._lines)

    # ------------------------------------------------------------------ one thread alone

    def way(self, cta: int, thread: int) -> Way:
        """What a thread does."""
        way = Way((cta * 1000 + thread) & MASK)
        with suppress(Leave):
            self._run(self.functions.get("k", []), (), way)
        return way

    def _run(self, statements: list[Statement], around: tuple[Frame, ...], way: Way) -> None:
        for s in statements:
            way.passed.add((s, around))
            if s.kind == "mark":
                way.marks.append((s, around))
                if len(way.marks) > LIMIT:  # too long a program
                    raise Leave("exit")
                continue
            way.x = (way.x * FACTOR + s.constant) & MASK
            number = way.x >> s.shift
            match s.kind:
                case "if":
                    way.sides[s, around] = side = int(number & 3 < 2)
                    self._inside(s, s.ways[side], around, side, way)
                case "loop":
                    self._loop(s, around, (number & 3) + 1, way)
                case "call":
                    self._inside(s, self.functions[s.callee], around, 0, way)
                case _ if number & 15 == 0:
                    raise Leave(s.kind)
                case _:
                    pass

    def _loop(self, s: Statement, around: tuple[Frame, ...], rounds: int, way: Way) -> None:
        for number in range(rounds):
            if not self._inside(s, s.ways[0], around, number, way):
                return

    def _inside(
        self, s: Statement, body: list[Statement], around: tuple[Frame, ...], number: int, way: Way
    ) -> bool:
        """Whether the thread comes to the end of the body; what does not end there goes on behind `s`."""
        try:
            self._run(body, (*around, (s, number)), way)
        except Leave as leave:
            if (leave.kind, s.kind) in (("break", "loop"), ("ret", "call")):
                return False
            way.left.add((s, around))
            raise
        return True


class Crew:
    """The threads of one warp, lane by lane."""

    def __init__(self, program: Structured, cta: int, first: int, count: int) -> None:
        self.ways = [program.way(cta, first + lane) for lane in range(count)]
        self.passing, self.leaving = Counter[Instance](), Counter[Instance]()
        """The lanes that come to a statement, and those that leave it before its end."""
        for lane, way in enumerate(self.ways):
            self.passing.update(dict.fromkeys(way.passed, 1 << lane))
            self.leaving.update(dict.fromkeys(way.left, 1 << lane))

    def stack(self, mark: Instance) -> list[Expected]:
        """The entries that the warp's stack has at a breakpoint, the oldest first."""
        found: list[Expected] = []
        around = mark[1]
        for i, (s, number) in enumerate(around):
            instance = s, around[:i]
            most = self.passing[instance]
            least = most & ~self.leaving[instance]
            if s.kind != "if":
                found.append(Expected(s.kind, s.line, least, most, True))
                continue
            sides = [way.sides.get(instance) for way in self.ways]
            others = sum(1 << lane for lane, side in enumerate(sides) if side == 1 - number)
            if others:
                found.append(Expected("branch", s.line, least, most, others & least != 0))
        return found


@dataclass
class Expected:
    """An entry. Lanes that leave the statement for good are not in its mask from then on, which may be before
    or after the breakpoint: it has all lanes of `least`, and none but those of `most`. Not `sure`: all lanes
    on the other way leave, and then it is gone."""

    kind: str
    line: int
    least: int
    most: int
    sure: bool
