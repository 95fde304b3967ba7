"""LLVM IR whose functions look after their own memory: `guarded` writes checks into the text of a module.

Of what a function has on its stack (`alloca`), gets from one that knows how much it is, or of a worker's
block: each access by an address that is made from it must lie within. Where an address goes to code that does
not know how much there is, words around it must be as they were when the function returns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from simt.engine.abi import WORKER_SLOTS, launch_slots
from simt.records import dataclass, field
from tests.fuzz.guard_ranges import Range, Ranges
from tests.fuzz.guard_types import Kind, closing, field_offset, split, type_at

GUARD = 256
"""Bytes before and after what is guarded."""
_NAME = re.compile(r'[%@](?:[\w.$-]+|"[^"]*")')
_DEFINED = re.compile(r"  (%[\w.$-]+) = (.*)")
_HEAD = re.compile(r'define (.*?)(@(?:[\w.$-]+|"[^"]*"))\(')
_GEP = re.compile(r"getelementptr (?:inbounds |nuw |nusw )*")
_ACCESS = re.compile(r"(load|store|atomicrmw|cmpxchg)( |$)")
_CALL = re.compile(r'(?:(?:tail|notail) )?call (?:fast |nnan |ninf )*(.*?)([@%](?:[\w.$-]+|"[^"]*"))\((.*)$')
_GLOBAL = re.compile(r"^(@[\w.$-]+) = .*?(?:constant|global) (.*)$")
_ENDS = ("  br ", "  ret ", "  switch ", "  unreachable", "  indirectbr ")
_HARMLESS = ("llvm.prefetch", "llvm.lifetime", "llvm.assume", "llvm.experimental.noalias")
LAUNCH = "%launch"
KNOWN = {"%worker": 8 * WORKER_SLOTS, LAUNCH: 8 * launch_slots(1)}
"""Bytes behind parameters of these names. (Behind a launch's more, the counters of further ranges.)"""
CONTEXT = "%context.p"
"""Where a warp's saved context is."""

HELPERS = """
@guard.text = private constant [27 x i8] c"guard %ld: %ld of %ld %ld\\0A\\00"
declare i32 @dprintf(i32, ptr, ...)
declare void @abort()
define internal void @simt.guard.report(i64 %id, i64 %at, i64 %size, i64 %bytes) noinline optnone nounwind {
  %n = call i32 (i32, ptr, ...) @dprintf(i32 FD, ptr @guard.text, i64 %id, i64 %at, i64 %size, i64 %bytes)
  ENDS
  ret void
}
define internal void @simt.guard.range(i64 %at, i64 %bytes, i64 %size, i64 %id) noinline nounwind {
  %most = sub i64 %size, %bytes
  %large = icmp ugt i64 %bytes, %size
  %beyond = icmp ugt i64 %at, %most
  %some = icmp ne i64 %bytes, 0
  %either = or i1 %large, %beyond
  %bad = and i1 %either, %some
  br i1 %bad, label %no, label %yes
no:
  call void @simt.guard.report(i64 %id, i64 %at, i64 %size, i64 %bytes)
  br label %yes
yes:
  ret void
}
define internal void @simt.guard.lanes(i64 %at, i64 %each, i64 %mask, i64 %size, i64 %id) noinline nounwind {
  %none = icmp eq i64 %mask, 0
  br i1 %none, label %end, label %look
look:
  %first = call i64 @llvm.cttz.i64(i64 %mask, i1 true)
  %above = call i64 @llvm.ctlz.i64(i64 %mask, i1 true)
  %last = sub i64 63, %above
  %first.skip = mul i64 %first, %each
  %last.skip = mul i64 %last, %each
  %first.at = add i64 %at, %first.skip
  %last.at = add i64 %at, %last.skip
  call void @simt.guard.range(i64 %first.at, i64 %each, i64 %size, i64 %id)
  call void @simt.guard.range(i64 %last.at, i64 %each, i64 %size, i64 %id)
  br label %end
end:
  ret void
}
define internal void @simt.guard.fill(ptr %start, i64 %size) noinline nounwind {
entry:
  %behind = add i64 %size, GUARD
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %a.p = getelementptr i8, ptr %start, i64 %i
  %b = add i64 %i, %behind
  %b.p = getelementptr i8, ptr %start, i64 %b
  store volatile i64 -6366805760909027986, ptr %a.p, align 1
  store volatile i64 -6366805760909027986, ptr %b.p, align 1
  %i.next = add i64 %i, 8
  %more = icmp ult i64 %i.next, GUARD
  br i1 %more, label %next, label %end
end:
  ret void
}
define internal void @simt.guard.words(ptr %start, i64 %size, i64 %id) noinline nounwind {
entry:
  %behind = add i64 %size, GUARD
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %on ]
  %a.p = getelementptr i8, ptr %start, i64 %i
  %b = add i64 %i, %behind
  %b.p = getelementptr i8, ptr %start, i64 %b
  %x = load volatile i64, ptr %a.p, align 1
  %y = load volatile i64, ptr %b.p, align 1
  %x.bad = icmp ne i64 %x, -6366805760909027986
  %y.bad = icmp ne i64 %y, -6366805760909027986
  br i1 %x.bad, label %before, label %ok
before:
  %at = sub i64 %i, GUARD
  call void @simt.guard.report(i64 %id, i64 %at, i64 %size, i64 0)
  br label %ok
ok:
  br i1 %y.bad, label %after, label %on
after:
  %after.at = add i64 %size, %i
  call void @simt.guard.report(i64 %id, i64 %after.at, i64 %size, i64 0)
  br label %on
on:
  %i.next = add i64 %i, 8
  %more = icmp ult i64 %i.next, GUARD
  br i1 %more, label %next, label %end
end:
  ret void
}
"""


@dataclass(frozen=True, slots=True)
class Root:
    """Where addresses come from: some bytes, of which nobody may know how many. `base`: the pointer."""

    name: str
    base: str
    size: int | None
    is_own: bool


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address within a root, by an offset if that is a constant. `reach`: the least and the greatest that
    it can be, if that is told by the lines that make it."""

    root: Root
    offset: int | None
    lanes: bool = False
    reach: Range | None = None

    @property
    def range(self) -> Range | None:
        return self.reach if self.offset is None else (self.offset, self.offset)


@dataclass
class Given:
    """What callers give for a parameter: the least that any has; None if one does not know."""

    size: int | None = None
    is_known: bool = True

    def add(self, size: int | None) -> None:
        if size is None:
            self.is_known = False
        elif self.size is None or size < self.size:
            self.size = size


@dataclass
class Function:
    head: str
    name: str
    parameters: list[str]
    lines: list[str]
    first: set[str]
    ranges: Ranges
    pointers: dict[str, Pointer] = field(default_factory=dict[str, Pointer])
    escaped: set[str] = field(default_factory=set[str])


class Guarded:
    """A module with checks. `note` gets what a check is about, and gives its number. `fails` gets what is
    wrong already in the text. `context`: bytes of a warp's saved context, if that is known."""

    def __init__(
        self, text: str, note: Callable[[str], int], fails: Callable[[str], None], context: int | None = None
    ) -> None:
        self._note, self._fails, self._context = note, fails, context
        self._given: dict[tuple[str, int], Given] = {}
        self._counter = 0
        self._declared = set(re.findall(r"^declare .*?(@[\w.]+)\(", text, re.MULTILINE))
        self._more: dict[str, None] = {}
        self.checks = self.guards = self.constant = 0
        self._globals: dict[str, Root] = {}
        self.open: list[str] = []
        """Checks that are not needless."""
        self._read(text)
        self._settle()

    def _read(self, text: str) -> None:
        self._items: list[str | Function] = []
        lines = text.split("\n")
        n = 0
        while n < len(lines):
            line = lines[n]
            if line.startswith("define "):
                end = lines.index("}", n)
                self._items.append(_function(line, lines[n + 1 : end]))
                n = end
            else:
                self._items.append(line)
                if (found := _GLOBAL.match(line)) and (kind := type_at(found[2])) is not None:
                    self._globals[found[1]] = Root(found[1], found[1], kind[0].size, is_own=False)
            n += 1
        self._functions = {f.name: f for f in self._items if isinstance(f, Function)}

    def _settle(self) -> None:
        """Finds what parameters are, from what callers give."""
        for _ in range(8):
            before = {key: (g.size, g.is_known) for key, g in self._given.items()}
            given: dict[tuple[str, int], Given] = {}
            for function in self._functions.values():
                self._trace(function)
                self._collect(function, given)
            self._given = given
            if {key: (g.size, g.is_known) for key, g in given.items()} == before:
                return
        self._given = {}
        for function in self._functions.values():
            self._trace(function)

    def _trace(self, function: Function) -> None:
        pointers = function.pointers = {name: Pointer(root, 0) for name, root in self._globals.items()}
        function.escaped = set()
        is_internal = " internal " in f" {function.head} "
        for n, name in enumerate(function.parameters):
            size = KNOWN.get(name)
            given = self._given.get((function.name, n))
            if size is None and is_internal and given is not None and given.is_known:
                size = given.size
            if size is not None:
                pointers[name] = Pointer(Root(f"parameter {name}", name, size, is_own=False), 0)
        for _ in range(3):
            count = len(pointers)
            for line in function.lines:
                if found := _DEFINED.match(line):
                    self._define(function, found[1], found[2])
            if len(pointers) == count:
                break

    def _define(self, function: Function, name: str, text: str) -> None:
        pointers = function.pointers
        if name in pointers:
            return
        if text.startswith("alloca "):
            size = _allocated(text)
            if size is not None:
                pointers[name] = Pointer(Root(name, name, size, is_own=True), 0)
        elif (found := _GEP.match(text)) is not None:
            made = _moved(pointers, text[found.end() :], function.ranges)
            if made is not None and (made.offset is not None or made.root.base != LAUNCH):
                pointers[name] = made
        elif name == CONTEXT and self._context is not None and text.startswith("inttoptr "):
            pointers[name] = Pointer(Root(name, name, self._context, is_own=False), 0)
        elif text.startswith("select i1 "):
            self._merge(
                pointers, name, [p.rpartition(" ")[2] for p in split(text)[1:] if p.startswith("ptr ")]
            )
        elif text.startswith("phi ptr "):
            self._merge(pointers, name, [p.group() for p in re.finditer(r"(?<=\[ )%[\w.$-]+", text)])

    def _merge(self, pointers: dict[str, Pointer], name: str, sources: Sequence[str]) -> None:
        found = [pointers[s] for s in sources if s in pointers]
        if found and len({p.root for p in found}) == 1 and len(found) == len(sources):
            pointers[name] = Pointer(found[0].root, None)

    def _collect(self, function: Function, given: dict[tuple[str, int], Given]) -> None:
        for line in function.lines:
            call = _call(line)
            if call is None or call[0] not in self._functions:
                continue
            for n, argument in enumerate(call[1]):
                if argument.startswith("ptr "):
                    pointer = function.pointers.get(argument.rpartition(" ")[2])
                    known = given.setdefault((call[0], n), Given())
                    if pointer is None or pointer.offset is None or pointer.root.size is None:
                        known.add(None)
                    else:
                        known.add(pointer.root.size - pointer.offset)

    # -- writing --------------------------------------------------------------------------------------

    def text(self, report_to: int, *, ends: bool) -> str:
        """The module. `report_to`: number of an open file. `ends`: whether the process ends where a check
        fails."""
        lines = list[str]()
        for item in self._items:
            if isinstance(item, str):
                lines.append(item)
            else:
                lines += [item.head, *(item.lines if " naked " in item.head else self._written(item)), "}"]
        helpers = HELPERS.replace("FD", str(report_to)).replace("GUARD", str(GUARD))
        helpers = helpers.replace("ENDS", "call void @abort()" if ends else "")
        for bits in ("llvm.cttz.i64", "llvm.ctlz.i64"):
            if f"@{bits}" not in self._declared:
                self._more[f"declare i64 @{bits}(i64, i1)"] = None
        return "\n".join([helpers, *self._more, *lines])

    def _written(self, function: Function) -> list[str]:
        body = list[str]()
        for line in function.lines:
            body += [*self._check(function, line), line]
        guarded = self._own(function)
        found = list[str]()
        for line in body:
            made = _DEFINED.match(line)
            if made is not None and made[1] in guarded and made[2].startswith("alloca "):
                found += self._allocated(made[1], made[2], guarded[made[1]])
            elif line.startswith("  ret ") or line == "  ret void":
                for name, size in guarded.items():
                    number = self._note(f"{function.name} {name}")
                    found.append(
                        f"  call void @simt.guard.words(ptr {name}.guarded, i64 {size}, i64 {number})"
                    )
                found.append(line)
            else:
                found.append(line)
        return found

    def _own(self, function: Function) -> dict[str, int]:
        """What is to be guarded, and how much it is."""
        found = dict[str, int]()
        for name, pointer in function.pointers.items():
            root = pointer.root
            if root.is_own and root.size is not None and (pointer.offset is None or name in function.escaped):
                found[root.name] = root.size
        found = {name: size for name, size in found.items() if name in function.first}
        self.guards += len(found)
        return found

    def _allocated(self, name: str, text: str, size: int) -> list[str]:
        align = max(64, int(m[1]) if (m := re.search(r"align (\d+)", text)) else 0)
        return [
            f"  {name}.guarded = alloca [{2 * GUARD + size} x i8], align {align}",
            f"  call void @simt.guard.fill(ptr {name}.guarded, i64 {size})",
            f"  {name} = getelementptr i8, ptr {name}.guarded, i64 {GUARD}",
        ]

    def _check(self, function: Function, line: str) -> list[str]:
        made = _DEFINED.match(line)
        text = made[2] if made is not None else line[2:]
        pointers = function.pointers
        if (access := _access(text)) is not None:
            kind, place = access
            if text.startswith("store ") and (value := _value(text)) in pointers:
                function.escaped.add(value)
            if place in pointers:
                return self._range(function, pointers[place], place, str(kind.size), line)
            return []
        call = _call(line)
        if call is None:
            if text.startswith(("ptrtoint ", "insertelement ", "insertvalue ", "ret ")):
                function.escaped |= {name for name in _NAME.findall(text) if name in pointers}
            return []
        name, arguments = call
        if name.startswith(tuple(f"@{h}" for h in _HARMLESS)):
            return []
        if name.startswith("@llvm.masked."):
            return self._masked(function, name, arguments, line)
        if name.startswith(("@llvm.memset", "@llvm.memcpy", "@llvm.memmove")):
            length = arguments[2].rpartition(" ")[2]
            places = arguments[:1] if "memset" in name else arguments[:2]
            found = list[str]()
            for place in (p.rpartition(" ")[2] for p in places):
                if place in pointers:
                    found += self._range(function, pointers[place], place, length, line)
            return found
        used = {n for a in arguments for n in _NAME.findall(a)}
        function.escaped |= {n for n in used if n in pointers}
        return []

    def _range(self, function: Function, pointer: Pointer, place: str, size: str, line: str) -> list[str]:
        root = pointer.root
        if root.size is None or pointer.lanes:
            return []
        if pointer.offset is not None and size.isdigit():
            self.constant += 1
            if not 0 <= pointer.offset <= root.size - int(size):
                self._fails(f"{function.name}: {root.name} has {root.size} bytes: {line.strip()}")
            return []
        at, lines = self._offset(pointer, place)
        number = self._note(f"{function.name} {root.name}: {line.strip()}")
        self._count(function, pointer, int(size) if size.isdigit() else None, line)
        call = f"  call void @simt.guard.range(i64 {at}, i64 {size}, i64 {root.size}, i64 {number})"
        return [*lines, call]

    def _count(self, function: Function, pointer: Pointer, size: int | None, line: str) -> None:
        """Notes a check, and whether it cannot fail, by the lines that make its address."""
        self.checks += 1
        root, reach = pointer.root, pointer.range
        assert root.size is not None
        if size is None or reach is None or reach[0] < 0 or reach[1] + size > root.size:
            self.open.append(f"{function.name} {root.name} {root.size} {reach}: {line.strip()}")

    def _offset(self, pointer: Pointer, place: str) -> tuple[str, list[str]]:
        self._counter += 1
        n = f"%guard.{self._counter}"
        return f"{n}.at", [
            f"  {n}.p = ptrtoint ptr {place} to i64",
            f"  {n}.b = ptrtoint ptr {pointer.root.base} to i64",
            f"  {n}.at = sub i64 {n}.p, {n}.b",
        ]

    def _masked(self, function: Function, name: str, arguments: list[str], line: str) -> list[str]:
        which = name.split(".")[2]
        number = {"load": (0, 2), "store": (1, 3), "gather": (0, 2), "scatter": (1, 3)}.get(which)
        number = number or {"expandload": (0, 1), "compressstore": (1, 2)}.get(which)
        if number is None:
            return []
        place, mask = arguments[number[0]].rpartition(" ")[2], arguments[number[1]]
        pointer = function.pointers.get(place)
        if pointer is None or pointer.root.size is None:
            return []
        root, count = pointer.root, int(mask[1 : mask.index(" x ")])
        each = _element(line, arguments, which)
        if each is None or count > 64:
            return []
        note = self._note(f"{function.name} {root.name}: {line.strip()}")
        whole = each if which in ("gather", "scatter") else each * count
        self._count(function, pointer, whole, line)
        if which in ("gather", "scatter"):
            return self._each_lane(pointer, place, mask, count, f"i64 {each}, i64 {root.size}, i64 {note}")
        at, lines = self._offset(pointer, place)
        n = f"%guard.{self._counter}"
        lines.append(f"  {n}.m = bitcast {mask} to i{count}")
        wide = f"{n}.m"
        if count < 64:
            lines.append(f"  {n}.w = zext i{count} {n}.m to i64")
            wide = f"{n}.w"
        if which in ("expandload", "compressstore"):
            self._more_of("i64", "@llvm.ctpop.i64", "(i64)")
            lines += [
                f"  {n}.c = call i64 @llvm.ctpop.i64(i64 {wide})",
                f"  {n}.l = mul i64 {n}.c, {each}",
                f"  call void @simt.guard.range(i64 {at}, i64 {n}.l, i64 {root.size}, i64 {note})",
            ]
            return lines
        return [
            *lines,
            f"  call void @simt.guard.lanes(i64 {at}, i64 {each}, i64 {wide}, i64 {root.size}, i64 {note})",
        ]

    def _each_lane(self, pointer: Pointer, place: str, mask: str, count: int, rest: str) -> list[str]:
        self._counter += 1
        n, t = f"%guard.{self._counter}", f"<{count} x i64>"
        reduce = f"@llvm.vector.reduce.umax.v{count}i64"
        self._more_of("i64", reduce, f"({t})")
        return [
            f"  {n}.p = ptrtoint <{count} x ptr> {place} to {t}",
            f"  {n}.b = ptrtoint ptr {pointer.root.base} to i64",
            f"  {n}.i = insertelement {t} poison, i64 {n}.b, i64 0",
            f"  {n}.s = shufflevector {t} {n}.i, {t} poison, <{count} x i32> zeroinitializer",
            f"  {n}.d = sub {t} {n}.p, {n}.s",
            f"  {n}.m = select {mask}, {t} {n}.d, {t} zeroinitializer",
            f"  {n}.at = call i64 {reduce}({t} {n}.m)",
            f"  call void @simt.guard.range(i64 {n}.at, {rest})",
        ]

    def _more_of(self, result: str, name: str, parameters: str) -> None:
        if name not in self._declared:
            self._more[f"declare {result} {name}{parameters}"] = None


def _function(head: str, lines: list[str]) -> Function:
    found = _HEAD.match(head)
    assert found is not None, head
    opening = found.end() - 1
    parameters = split(head[opening + 1 : closing(head, opening)])
    ranges = Ranges({m[1]: m[2] for line in lines if (m := _DEFINED.match(line))}, lines)
    end = next(n for n, line in enumerate(lines) if line.startswith(_ENDS))
    first = {m[1] for line in lines[:end] if (m := _DEFINED.match(line)) and m[2].startswith("alloca ")}
    return Function(head, found[2], [p.rpartition(" ")[2] for p in parameters], lines, first, ranges)


def _allocated(text: str) -> int | None:
    parts = split(text[len("alloca ") :])
    kind = type_at(parts[0])
    if kind is None:
        return None
    count = next((p.split()[1] for p in parts[1:] if not p.startswith("align")), "1")
    return kind[0].step * int(count) if count.isdigit() else None


def _moved(pointers: dict[str, Pointer], text: str, ranges: Ranges) -> Pointer | None:
    """What `getelementptr` makes of a type, a pointer and indices."""
    parts = split(text.partition(", !")[0])
    base = pointers.get(parts[1].rpartition(" ")[2])
    found = type_at(parts[0])
    if base is None or found is None:
        return None
    lanes = base.lanes or any(p.startswith("<") for p in parts[1:])
    reach, kind, is_constant = base.range, found[0], base.offset is not None
    for n, part in enumerate(parts[2:]):
        index = part.rpartition(" ")[2] if not part.endswith((">", ")")) else part[part.index("> ") + 2 :]
        if n and kind.spelled.startswith("{"):
            at = field_offset(kind.spelled, int(index))
            return _reaching(base.root, _sum(reach, None if at is None else (at, at)), lanes, is_constant)
        if n and (inner := type_at(kind.spelled[kind.spelled.index(" x ") + 3 :])) is not None:
            kind = inner[0]
        number = ranges.of(index)
        reach = _sum(reach, None if number is None else (kind.step * number[0], kind.step * number[1]))
        is_constant = is_constant and re.fullmatch(r"-?\d+", index) is not None
    return _reaching(base.root, reach, lanes, is_constant)


def _reaching(root: Root, reach: Range | None, lanes: bool, is_constant: bool) -> Pointer:
    return Pointer(root, reach[0] if is_constant and reach is not None else None, lanes, reach)


def _sum(a: Range | None, b: Range | None) -> Range | None:
    return None if a is None or b is None else (a[0] + b[0], a[1] + b[1])


def _access(text: str) -> tuple[Kind, str] | None:
    """How much an instruction loads or stores, and where."""
    if _ACCESS.match(text) is None:
        return None
    place = re.search(r"ptr (%[\w.$-]+|@[\w.$-]+)", text if text.startswith(("atomicrmw", "cmpxchg")) else "")
    if place is not None:
        found = type_at(text[place.end() + 2 :])
        return (found[0], place[1]) if found is not None else None
    rest = re.sub(r"^(load|store) (atomic )?(volatile )?", "", text)
    found = type_at(rest)
    where = re.search(r", ptr (%[\w.$-]+|@[\w.$-]+)", rest)
    return (found[0], where[1]) if found is not None and where is not None else None


def _value(text: str) -> str:
    """What a store stores, if it is an address."""
    found = re.match(r"store (?:atomic )?(?:volatile )?ptr (%[\w.$-]+),", text)
    return found[1] if found is not None else ""


def _call(line: str) -> tuple[str, list[str]] | None:
    """The function that a line calls, and its arguments."""
    found = re.search(r"(?:= |^  |tail )call ", line)
    if found is None:
        return None
    inner = _CALL.match(line[found.start() :].lstrip("= "))
    if inner is None or "asm " in line:
        return ("", re.findall(r"ptr %[\w.$-]+", line))
    text = inner[3]
    return inner[2], split(text[: closing("(" + text, 0) - 1])


def _element(line: str, arguments: list[str], which: str) -> int | None:
    """Bytes of a lane."""
    stores = which in ("store", "scatter", "compressstore")
    start = arguments[0] if stores else line[line.index("call ") + len("call ") :]
    found = type_at(start)
    if found is None:
        return None
    inner = type_at(found[0].spelled[found[0].spelled.index(" x ") + 3 :])
    return inner[0].size if inner is not None else None
