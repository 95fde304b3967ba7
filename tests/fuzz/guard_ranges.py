"""What numbers values of LLVM IR can be, as far as the lines that make them say: for accesses to memory of a
function's own whose place is not constant, which must lie within it whatever the program does."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.fuzz.guard_types import split, type_at

Range = tuple[int, int]
_DEEP = 24
_CONSTANT = re.compile(r"-?\d+")
_OP = re.compile(r"(add|sub|mul|and|or|xor|shl|lshr|urem|udiv)((?: nuw| nsw| exact| disjoint)*) ")


class Ranges:
    """Of the values of one function, by the lines that make them. A phi is known if it counts up to a
    constant, as loops do that ask at their end."""

    def __init__(self, made: Mapping[str, str], lines: list[str]) -> None:
        self._made, self._lines = made, lines
        self._found: dict[str, Range | None] = {}
        self._stored: dict[str, list[str]] | None = None

    def of(self, name: str, deep: int = 0) -> Range | None:
        """The least and the greatest number, None if any may be. Of a vector's lanes."""
        if _CONSTANT.fullmatch(name):
            return int(name), int(name)
        if name == "zeroinitializer":
            return 0, 0
        if name in ("true", "false"):
            return int(name == "true"), int(name == "true")
        if name.startswith(("<", "splat")):
            inner = name[1:-1] if name[0] == "<" else name[len("splat (") : -1]
            parts = [self.of(p.rpartition(" ")[2], deep) for p in split(inner)]
            known = [p for p in parts if p is not None]
            return (min(a for a, _ in known), max(b for _, b in known)) if len(known) == len(parts) else None
        if deep > _DEEP or name not in self._made:
            return None
        if name not in self._found:
            self._found[name] = None  # of what depends on itself
            self._found[name] = self._by(name, self._made[name], deep + 1)
        return self._found[name]

    def _by(self, name: str, text: str, deep: int) -> Range | None:
        if (found := _OP.match(text)) is not None:
            return self._arithmetic(found[1], text[found.end() :], deep)
        word, _, rest = text.partition(" ")
        if word in ("zext", "sext", "trunc", "freeze"):
            return self._cast(word, rest, deep)
        if word == "select":
            parts = [self._operand(p, deep) for p in split(rest)[1:]]
            return _union(parts)
        if word == "phi":
            return self._phi(name, rest, deep)
        if word == "load":
            return self._kept(rest, deep)
        if word == "extractelement":
            return self._operand(split(rest)[0], deep)
        if word == "shufflevector":
            parts = split(rest)
            sources = [p for p in parts[:2] if not p.endswith("poison")]
            return _union([self._operand(p, deep) for p in sources])
        if word == "insertelement":
            parts = split(rest)
            sources = [p for p in parts[:2] if not p.endswith("poison")]
            return _union([self._operand(p, deep) for p in sources])
        if word == "call":
            if found := re.match(r"call i(\d+) @llvm\.ct(?:tz|lz)\.i\d+\(.*, i1 (true|false)\)", text):
                return 0, int(found[1]) - (found[2] == "true")
            if re.match(r"call \S+ @llvm\.ctpop\.i(\d+)", text):
                return 0, 64
            if found := re.match(r"call .*@llvm\.(?:umin|umax)\.\w+\((.*)\)", text):
                parts = [self._operand(p, deep) for p in split(found[1])]
                known = [p for p in parts if p is not None and p[0] >= 0]
                if "umin" in text and known:
                    return 0, min(b for _, b in known)
                return _union(parts)
        return None

    def _kept(self, rest: str, deep: int) -> Range | None:
        """What memory of the function's own holds that has but loads and stores: what was ever stored."""
        if self._stored is None:
            self._stored = self._stores()
        place = re.search(r", ptr (%[\w.$-]+)", rest)
        values = self._stored.get(place[1]) if place is not None else None
        return _union([self._operand(v, deep) for v in values]) if values else None

    def _stores(self) -> dict[str, list[str]]:
        found = {n: list[str]() for n, text in self._made.items() if text.startswith("alloca i")}
        for line in self._lines:
            store = re.match(r"  store (?:volatile )?(i\d+ \S+), ptr (%[\w.$-]+)(?:, .*)?$", line)
            if store is not None and store[2] in found:
                found[store[2]].append(store[1])
                continue
            text = line.partition(" = ")[2] or line[2:]
            if not text.startswith(("alloca ", "load ")):
                for name in re.findall(r"%[\w.$-]+", text):
                    found.pop(name, None)
        return found

    def _operand(self, text: str, deep: int) -> Range | None:
        found = type_at(text)
        return self.of(text[found[1] :].strip(), deep) if found is not None else None

    def _cast(self, word: str, rest: str, deep: int) -> Range | None:
        kind = type_at(rest)
        if kind is None:
            return None
        inner = self.of(rest[kind[1] :].strip().partition(" to ")[0], deep)
        bits = kind[0].bits
        if kind[0].spelled.startswith("<"):
            bits //= int(kind[0].spelled[1 : kind[0].spelled.index(" ")])
        if word == "trunc":
            found = type_at(rest.rpartition(" to ")[2])
            assert found is not None
            count = found[0].spelled[1 : found[0].spelled.index(" ")] if found[0].spelled[0] == "<" else "1"
            most = (1 << found[0].bits // int(count)) - 1
            return inner if inner is not None and inner[0] >= 0 and inner[1] <= most else (0, most)
        if word == "zext":
            return inner if inner is not None and inner[0] >= 0 else (0, (1 << bits) - 1)
        return inner

    def _arithmetic(self, op: str, rest: str, deep: int) -> Range | None:
        parts = split(rest)
        kind = type_at(parts[0])
        assert kind is not None
        a, b = self._operand(parts[0], deep), self.of(parts[1], deep)
        positive = [r for r in (a, b) if r is not None and r[0] >= 0]
        match op:
            case "and":
                return (0, min(r[1] for r in positive)) if positive else None
            case "urem":
                return (0, b[1] - 1) if b is not None and b[0] > 0 else None
            case "udiv" | "lshr" if a is not None and b is not None and a[0] >= 0 and b[0] >= 0:
                if op == "lshr":
                    return a[0] >> b[1], a[1] >> b[0]
                return a[0] // max(b[1], 1), a[1] // max(b[0], 1)
            case "lshr" if b is not None and b[0] > 0 and kind[0].spelled[0] == "i":
                return 0, (1 << kind[0].bits - b[0]) - 1
            case _:
                pass
        if a is None or b is None:
            return None
        match op:
            case "add":
                return a[0] + b[0], a[1] + b[1]
            case "sub":
                return a[0] - b[1], a[1] - b[0]
            case "mul" | "shl":
                if op == "shl":
                    if b[0] < 0 or b[1] > 64:
                        return None
                    b = 1 << b[0], 1 << b[1]
                products = [x * y for x in a for y in b]
                return min(products), max(products)
            case "or" | "xor" if len(positive) == 2:
                return 0, (1 << max(a[1], b[1]).bit_length()) - 1
            case _:
                return None

    def _phi(self, name: str, rest: str, deep: int) -> Range | None:
        kind = type_at(rest)
        assert kind is not None
        sources = [s.strip() for s in re.findall(r"\[ (.*?), %[\w.$-]+ \]", rest)]
        steps, starts = dict[str, int](), list[Range | None]()
        for source in sources:
            text = self._made.get(source, "")
            step = re.fullmatch(rf"add (?:nuw |nsw )*i\d+ {re.escape(name)}, (\d+)(?:, !.*)?", text)
            if step:
                steps[source] = int(step[1])
            elif source != name:
                starts.append(self.of(source, deep))
        start = _union(starts)
        if start is None or start[0] < 0:
            return None
        if not steps:
            return start
        for line in self._lines:
            found = re.search(r"= icmp (ult|ne|slt) i\d+ (%[\w.$-]+), (%?[\w.$-]+)", line)
            if found is None or found[2] not in steps:
                continue
            most = self.of(found[3], deep)
            if most is not None and most[1] > 0:
                last = most[1] - 1
                if start[0] == start[1] and found[1] != "ne":
                    last -= (last - start[0]) % steps[found[2]]
                return start[0], max(start[1], last)
        return None


def _union(parts: list[Range | None]) -> Range | None:
    known = [p for p in parts if p is not None]
    if not known or len(known) < len(parts):
        return None
    return min(a for a, _ in known), max(b for _, b in known)
