"""Functions of turns of which all is known ahead (`simt.engine.llvm_alone_free`): LLVM makes vectors.

It is told to where it can: other loops it would report on standard error. Told so, LLVM would also add floats
in another order. So what one turn gives to the next may only be numbers that grow by steps, and sums of
integers and the like, which no code of a turn looks at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from simt.engine.llvm_builder import OF_TURNS, ModuleText
from simt.records import dataclass

NAME = "simt.turns"
"""Of the functions."""
TURN = "%turn"
"""The number of a turn."""
FIXED = "%fixed"
"""Of the slots of words that are the same in all turns."""
GROUP = "!12"
REGISTER = 64
"""Bytes of AVX-512's registers: as many of neighbouring turns are dealt with at once."""
LOOPS = {width: f"!{13 + i}" for i, width in enumerate((2, 4, 8))}
"""What is said of a loop's branch back, by how many turns are dealt with at once. (Eight turns of four bytes
each do for what nvcc makes of bytes: the more at once, the more are left over.)"""
METADATA = (
    f"{GROUP} = distinct !{{}}",
    *(
        f'{n} = distinct !{{{n}, !{{!"llvm.loop.vectorize.enable", i1 true}}, '
        f'!{{!"llvm.loop.vectorize.width", i32 {width}}}, !{{!"llvm.loop.interleave.count", i32 1}}, '
        f'!{{!"llvm.loop.parallel_accesses", {GROUP}}}}}'
        for width, n in LOOPS.items()
    ),
)
"""At the end of a module: accesses of which each turn has its own, and loops of such."""

_END = "\n}\n"
_NAME = re.compile(r"%[\w.]+")
_LABEL = re.compile(r"^([\w.]+):$", re.MULTILINE)
_CALL = re.compile(r" call ")
_KNOWN = re.compile(
    r"@llvm\.(fma|fabs|sqrt|copysign|floor|ceil|trunc|rint|roundeven|minnum|maxnum|[su]min|[su]max|abs|ctpop|ctlz"
    r"|cttz|bswap|bitreverse|fsh[lr]|[us](?:add|sub)\.sat)\."
)
"""Functions of LLVM's that it has for vectors."""
_OWN = re.compile(r" call .*@simt\.")
_ACCESS = re.compile(r"(?:load|store) .*ptr (%\S+), align")
_SUM = re.compile(r"  (%\S+) = (?:add|and|or|xor) i\d+ ")
_HIDDEN = re.compile(r"^  %\S+ = call float asm \"\", \"=x,0\"\(float [^%()]+\)$")
"""A number that is hidden from LLVM (`simt.engine.llvm_float`): it is made once, before the turns."""
_MASK = re.compile(r"= bitcast i32 %\S+ to <32 x i1>$")


class NotFree(Exception):
    """It is not known ahead what the turns of a loop do."""


@dataclass(frozen=True, slots=True)
class Turns:
    """A function of some turns. `code`: of one; it gets at memory through `words`, made of `pointers`.
    `fixed`: slots of words that are the same in all turns, by name: the pointer, bytes behind it, and bytes.
    `slots`: types of what stack slots hold, by name; `carried`: those that have what one turn gives to the
    next, but for steps. `turns`: the name of how many there are."""

    code: list[str]
    words: set[str]
    fixed: dict[str, tuple[str, int, int]]
    slots: dict[str, str]
    carried: list[str]
    pointers: list[str]
    turns: str

    @property
    def taken(self) -> dict[str, str]:
        """Slots that are read."""
        text = "\n".join(self.code) + "\n"
        return {slot: t for slot, t in self.slots.items() if f" = load {t}, ptr {slot}\n" in text}

    @property
    def result(self) -> str:
        """The type of what it gives: what the last turn has carried."""
        return f"{{ {', '.join(self.slots[slot] for slot in self.carried)} }}" if self.carried else "void"

    def define(self, module: ModuleText, said: str) -> str:
        """Its name. `said`: of the branch back (`loop_of`)."""
        taken = self.taken
        parameters = {
            **dict.fromkeys(self.pointers, "ptr"),
            self.turns: "i64",
            **{f"%in.{i}": t for i, t in enumerate(taken.values())},
        }
        self._see_names(parameters)
        used = [slot for slot in self.slots if any(line.endswith(f", ptr {slot}") for line in self.code)]
        lines = [
            "entry:",
            *(f"  {slot} = alloca {self.slots[slot]}" for slot in used),
            *(f"  store {t} %in.{i}, ptr {slot}" for i, (slot, t) in enumerate(taken.items())),
            *self._loaded(),
            *filter(_HIDDEN.match, self.code),
            "  br label %turn.begin",
            "turn.begin:",
            f"  {TURN} = phi i64 [ 0, %entry ], [ {TURN}.next, %turn.end ]",
            *marked((line for line in self.code if not _HIDDEN.match(line)), self.words),
            "  br label %turn.end",
            "turn.end:",
            f"  {TURN}.next = add i64 {TURN}, 1",
            f"  {TURN}.more = icmp ult i64 {TURN}.next, {self.turns}",
            f"  br i1 {TURN}.more, label %turn.begin, label %turns.end{said}",
            "turns.end:",
            *self._returned(),
        ]
        head = ", ".join(f"{t} {parameter}" for parameter, t in parameters.items())
        text = _renamed("\n".join((f"({head}) {module.attributes} {OF_TURNS} {{", *lines, "}")))
        name, is_new = module.of_key((NAME, self.result, text), NAME)
        if is_new:
            module.define(name, f"define internal {self.result} @{name}{text}")
        return name

    def _see_names(self, parameters: Iterable[str]) -> None:
        """Raises `NotFree` if the code uses more than it is given."""
        code = "\n".join(self.code)
        made = {line.split()[0] for line in self.code if " = " in line}
        labels = {f"%{line[:-1]}" for line in self.code if line.endswith(":")}
        known = made | labels | {*self.slots, *self.fixed, *parameters, TURN}
        if not {*_NAME.findall(code)} <= known:
            raise NotFree

    def _loaded(self) -> list[str]:
        """Loads the words that are the same in all turns."""
        lines = list[str]()
        for slot, (start, behind, size) in self.fixed.items():
            t = f"i{8 * size}"
            lines.append(f"  {slot} = alloca {t}")
            lines.append(f"  {slot}.at = getelementptr i8, ptr {start}, i64 {behind}")
            lines.append(f"  {slot}.was = load {t}, ptr {slot}.at, align {size}")
            lines.append(f"  store {t} {slot}.was, ptr {slot}")
        return lines

    def _returned(self) -> list[str]:
        if not self.carried:
            return ["  ret void"]
        lines, whole = list[str](), "poison"
        for number, slot in enumerate(self.carried):
            t = self.slots[slot]
            lines.append(f"  %out.{number} = load {t}, ptr {slot}")
            given = f"{t} %out.{number}, {number}"
            lines.append(f"  %all.{number} = insertvalue {self.result} {whole}, {given}")
            whole = f"%all.{number}"
        return [*lines, f"  ret {self.result} {whole}"]


def _renamed(text: str) -> str:
    """A function with numbers in place of the names of its values: those of the same turns are the same."""
    labels = {f"%{label}" for label in _LABEL.findall(text)}
    numbers = {name: f"%n{i}" for i, name in enumerate(dict.fromkeys(_NAME.findall(text)))}
    return _NAME.sub(lambda found: found[0] if found[0] in labels else numbers[found[0]], text)


def parted(text: str) -> tuple[str, str]:
    """A module without such functions, which it declares, and a module of them. Those that call functions of
    the module stay where these are."""
    *functions, after = text.split(_END)
    before, define, first = functions[0].partition("define ")
    functions[0] = define + first
    apart, rest = list[str](), list[str]()
    for function in functions:
        head, brace, body = function.partition("{\n")
        if OF_TURNS not in head or _OWN.search(body):
            rest += [function, _END]
            continue
        head = head.replace("define internal ", "define ", 1)
        apart += [head, brace, body, _END]
        rest += [head.replace("define ", "declare ", 1), "\n"]
    known = "\n".join(line for line in before.split("\n") if line.startswith("declare ") and "@llvm." in line)
    return "".join((before, *rest, after)), "".join((known, "\n", *apart, after))


def marked(lines: Iterable[str], words: set[str]) -> list[str]:
    """The lines of a turn, whose accesses to `words` (pointers) are said to be no other turn's."""
    found = ((line, _ACCESS.search(line)) for line in lines)
    return [f"{line}, !llvm.access.group {GROUP}" if m and m[1] in words else line for line, m in found]


def loop_of(lines: list[str], carried: Iterable[str], step: int, pieces: int) -> str:
    """What is to be said of the branch back of a loop of some lines, nothing if LLVM is to leave it alone.
    `carried`: slots of what one turn gives to the next, but for steps. `step`: bytes from one turn's words to
    the next one's. `pieces`: in how many registers the CPU has what AVX-512 has in one."""
    code = [line for line in lines if not _MASK.search(line) and not _HIDDEN.match(line)]
    if not all(_is_for_vectors(line) for line in code) or not all(_is_sum(code, slot) for slot in carried):
        return ""
    width = max(w for w in LOOPS if w == min(LOOPS) or w * step <= REGISTER // pieces)
    return f", !llvm.loop {LOOPS[width]}"


def _is_for_vectors(line: str) -> bool:
    known = not _CALL.search(line) or _KNOWN.search(line) is not None
    return known and line.startswith("  ") and not line.startswith("  br ") and " x " not in line


def _is_sum(lines: list[str], slot: str) -> bool:
    """Whether a turn does nothing with what a slot holds but to add something to it."""
    loaded = [line for line in lines if line.endswith(f", ptr {slot}") and " = load i" in line]
    kept = [line for line in lines if line.startswith("  store i") and line.endswith(f", ptr {slot}")]
    if len(loaded) != 1 or len(kept) != 1:
        return False
    name, last = loaded[0].split()[0], kept[0].split()[2].rstrip(",")
    while name != last:
        users = _users(lines, name, slot)
        found = _SUM.match(users[0]) if len(users) == 1 else None
        if found is None or users[0].count(f"{name},") + users[0].endswith(name) > 1:
            return False
        name = found[1]
    return not _users(lines, name, slot)


def _users(lines: list[str], name: str, slot: str) -> list[str]:
    """Lines that read a value, itself or out of another slot."""
    reads = re.compile(rf"{re.escape(name)}(?![\w.])")
    users = [line for line in lines if reads.search(line.partition(" = ")[2] or line)]
    slots = [
        line.rpartition(" ")[2] for line in users if line.startswith("  store ") and ", align" not in line
    ]
    kept = tuple(f", ptr {other}" for other in slots if other != slot)
    loads = [line for line in lines if " = load " in line and line.endswith(kept)] if kept else []
    return [line for line in users if not line.startswith("  store ") or ", align" in line] + loads
