"""What the kernels of `tests.property.index_programs` do, by NumPy alone: all threads in step.

A program whose outcome hangs on the order of threads, or on memory that is not its own, is `Rejected`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.property.index_memory import ANYBODY, EQUALS, NOBODY, SUMS, Bytes, Ids, Memory, Rejected
from tests.property.index_programs import (
    AIMED,
    FACTOR,
    GLOBAL_BYTES,
    INPUT_BYTES,
    LOCAL_BYTES,
    MULTIPLIER,
    PARAMETERS,
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

Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]
WARP = 32
ARENA = 1 << 28
"""Bytes of device memory at most: further from the array than this nothing is allocated."""


@dataclass(frozen=True)
class Candidate:
    """A fault that may be the first. `address` is relative to the array in global memory."""

    cta: int
    thread: int
    line: int
    address: int
    misaligned: bool


def first() -> Bytes:
    """Global memory before the launch: random words, consecutive ones, multiples, and small ones among 0s."""
    words = np.zeros(GLOBAL_BYTES // 4, np.uint32)
    part = INPUT_BYTES // 16
    at = np.arange(part, dtype=np.uint32)
    words[:part] = at * np.uint32(FACTOR) ^ (at * np.uint32(FACTOR) >> np.uint32(15))
    words[part : 2 * part] = at
    words[2 * part : 3 * part] = at * 7 % 64
    words[3 * part : 4 * part] = np.where(at % 13 == 5, at % 19, at % 3)
    return words.view(np.uint8)


class Model:
    """Runs a program. `memory`: global memory afterwards; `candidates`: faults, empty if there is none."""

    def __init__(self, program: Program, lines_of: dict[int, list[int]]) -> None:
        self.program = program
        self.lines_of = lines_of
        x, y, z = program.block
        self.size = x * y * z
        self.ctas_in_grid = program.grid[0] * program.grid[1]
        count = self.size * self.ctas_in_grid
        self.threads = np.arange(count)
        self.ctas = self.threads // self.size
        self.alive = np.ones(count, bool)
        self.faulted = np.zeros(count, bool)
        self.candidates: list[Candidate] = []
        self.broken: list[Mask] = []
        lin = (self.threads % self.size).astype(np.uint64)
        row, column, page = lin // np.uint64(x), lin % np.uint64(x), lin // np.uint64(x * y)
        self.registers: dict[str, Words] = {
            "%tx": column, "%ty": row % np.uint64(y), "%tz": page,
            "%cx": (self.ctas % program.grid[0]).astype(np.uint64),
            "%cy": (self.ctas // program.grid[0]).astype(np.uint64),
            "%lin": lin, "%lane": lin % np.uint64(32), "%acc": np.zeros(count, np.uint64),
            "%all": self.threads.astype(np.uint64),
        }  # fmt: skip
        self.registers["%gx"] = along = self.registers["%cx"] * np.uint64(x) + column
        if program.numbered:
            others = (self.registers["%cy"] * np.uint64(z) + page) * np.uint64(y) + self.registers["%ty"]
            self.registers["%all"] = others * np.uint64(program.grid[0] * x) + along
        for name in VARIABLES:
            self.registers[name] = np.zeros(count, np.uint64)
        for name, value in zip(PARAMETERS, program.parameters):
            self.registers[name] = np.full(count, value, np.uint64)
        self.pointers = {name: np.zeros(count, np.uint64) for name in AIMED.values()}
        self.spaces = self._memories(count)
        self.statements(program.body, np.ones(count, bool))
        self._epilogue()

    @property
    def memory(self) -> Bytes:
        return self.spaces["global"].data

    def _memories(self, count: int) -> dict[str, Memory]:
        columns = np.arange(self.ctas_in_grid, dtype=np.uint32) % np.uint32(self.program.grid[0])
        shared = np.arange(SHARED_BYTES // 4, dtype=np.uint32) * np.uint32(28) + columns[:, None]
        places = np.arange(0, LOCAL_BYTES, 4, dtype=np.uint32)
        local = self.registers["%all"].astype(np.uint32)[:, None] * np.uint32(FACTOR) + places
        everything = Memory(first(), True)
        return {
            "global": everything, "generic": everything,
            "shared": Memory(shared.view(np.uint8).ravel(), False),
            "local": Memory(local.view(np.uint8).ravel(), False),
        }  # fmt: skip

    def _epilogue(self) -> None:
        out = np.stack([self.registers[n].astype(np.uint32) for n in ("%acc", *VARIABLES)], 1)
        who = self.threads[self.alive]
        places = RESULTS + 16 * self.registers["%all"][who].astype(np.int64)[:, None] + np.arange(16)
        self.spaces["global"].write(places, out.view(np.uint8)[who], who, self.ctas[who], None)

    # -- statements ---------------------------------------------------------------------------------

    def statements(self, body: Sequence[Statement], mask: Mask) -> None:
        for statement in body:
            now = mask & self.alive
            for gone in self.broken[-1:]:
                now &= ~gone
            self.statement(statement, now)

    def statement(self, statement: Statement, mask: Mask) -> None:
        match statement:
            case Assign(variable, value, guard):
                self.assign(variable, self.value(value), self._guarded(guard, mask))
            case Load():
                self._load(statement, mask)
            case Aim(access, guard):
                self._point(AIMED[access.space], self._address(access), self._guarded(guard, mask))
            case Store():
                self._store(statement, mask)
            case Add(access, value):
                given = self.value(value).astype(np.uint32).reshape(-1, 1)
                for turn in range(len(access.offsets)):
                    self._write(statement, access, turn, given.view(np.uint8), mask, SUMS)
            case If(condition, then, other):
                holds = self.test(condition)
                self.statements(then, mask & holds)
                self.statements(other, mask & ~holds)
            case Loop():
                self._loop(statement, mask)
            case Break(condition):
                self.broken[-1] |= mask & self.test(condition)
            case Exit(condition):
                self.alive &= ~(mask & self.test(condition))
            case Barrier():
                self._barrier(mask)
            case Speak():
                self._speak(statement, mask)

    def assign(self, name: str, value: Words, mask: Mask) -> None:
        self.registers[name] = np.where(mask, value, self.registers.get(name, np.uint64(0)))

    def _speak(self, statement: Speak, mask: Mask) -> None:
        if self.size % WARP or (mask.reshape(-1, WARP).any(1) != mask.reshape(-1, WARP).all(1)).any():
            raise Rejected("a part of a warp speaks")
        given, lanes = self.value(statement.value).reshape(-1, WARP), np.arange(WARP)
        if statement.way == "ballot":
            bits = (given & np.uint64(1)) << lanes.astype(np.uint64)
            learned = np.repeat(bits.sum(1, dtype=np.uint64), WARP)
        else:
            by = statement.by
            ways = {"bfly": lanes ^ by, "up": lanes - by, "down": lanes + by, "idx": 0 * lanes + by}
            wanted = ways[statement.way]
            learned = given[:, np.where((wanted < 0) | (wanted >= WARP), lanes, wanted)].ravel()
        total = self.registers["%acc"] * np.uint64(MULTIPLIER) + learned
        self.assign("%acc", total & np.uint64(2**32 - 1), mask)

    def _barrier(self, mask: Mask) -> None:
        stopped = np.isin(self.ctas, self.ctas[self.faulted])
        self.alive &= ~stopped
        if (mask & self.alive != self.alive).any() and mask.any():
            for cta in np.unique(self.ctas[mask]):
                if (mask != self.alive)[self.ctas == cta].any():
                    raise Rejected("not all threads of a CTA come to a barrier")
        for cta in np.unique(self.ctas[mask]):
            shared = self.spaces["shared"]
            places = np.arange(len(shared.data)) // SHARED_BYTES == cta
            shared.barrier(places)
            everything = self.spaces["global"]
            for who in (everything.writer, everything.reader):
                who[(who >= cta * self.size) & (who < (cta + 1) * self.size)] = NOBODY
            everything.writer[everything.writer == EQUALS] = NOBODY
            everything.reader[everything.reader == ANYBODY] = NOBODY

    def _loop(self, loop: Loop, mask: Mask) -> None:
        counter = f"%i{loop.level}"
        self.assign(counter, self.value(loop.start), mask)
        bound, advance = self.value(loop.bound), signed(self.value(loop.advance), 32)
        pointer = f"%q{loop.level}"
        if loop.pointer:
            self._point(pointer, self._address(loop.pointer), mask)
        self.broken.append(np.zeros(len(mask), bool))
        compare, kind = loop.compare.split(".")
        mask = mask & compared(compare, kind, self.registers[counter], bound)
        while mask.any():
            self.statements(loop.body, mask)
            mask = mask & self.alive & ~self.broken[-1]
            if loop.pointer:
                self._point(pointer, self.pointers[pointer] + advance.view(np.uint64), mask)
            step = np.uint64(loop.step % 2**32)
            self.assign(counter, self.registers[counter] + step & np.uint64(2**32 - 1), mask)
            mask = mask & compared(compare, kind, self.registers[counter], bound)
        self.broken.pop()

    def _point(self, pointer: str, to: Words, mask: Mask) -> None:
        self.pointers[pointer] = np.where(mask, to, self.pointers.get(pointer, to))

    # -- memory ---------------------------------------------------------------------------------------

    def _address(self, access: Access) -> Words:
        """Of the first element, relative to the start of its space."""
        index, bits = self.value(access.index), access.index.bits
        match access.extend:
            case "32":
                low = index * np.uint64(access.scale) & np.uint64(2**32 - 1)
                if (low + np.uint64(access.region + max(access.offsets)) >> np.uint64(32)).any():
                    raise Rejected("a 32-bit address wraps")
                return low + np.uint64(access.region)
            case "64":
                wide = index
            case extend:
                wide = signed(index, bits).view(np.uint64) if extend[-3] == "s" else index
        return wide * np.uint64(access.scale) + np.uint64(access.region)

    def _reached(
        self, statement: Statement, access: Access, at: Words, turn: int, mask: Mask
    ) -> tuple[Ids, Ids]:
        """Threads that make an access and the bytes that they reach; others fault."""
        limit = {"shared": SHARED_BYTES, "local": LOCAL_BYTES}.get(access.space, GLOBAL_BYTES)
        size = np.uint64(access.size)
        if access.space in ("shared", "local"):  # a GPU takes 32 bits of these addresses
            at = at & np.uint64(2**32 - 1)
        inside = (at <= np.uint64(limit)) & (at + size <= np.uint64(limit))
        if access.space in ("global", "generic"):
            near = at + np.uint64(ARENA + 16) < np.uint64(2 * ARENA + 32)
            if (near & ~inside & mask).any():
                raise Rejected("memory of others")
        fine = inside & (at % size == 0)
        for thread in np.flatnonzero(mask & ~fine):
            self._fault(
                int(thread), self.lines_of[id(statement)][turn], int(at[thread]), bool(inside[thread])
            )
        running = np.flatnonzero(mask & fine)
        start = at[running].astype(np.int64)
        if access.space == "shared":
            start += self.ctas[running] * SHARED_BYTES
        if access.space == "local":
            start += running * LOCAL_BYTES
        return running, start[:, None] + np.arange(access.size)

    def _fault(self, thread: int, line: int, address: int, misaligned: bool) -> None:
        cta, own = divmod(thread, self.size)
        self.candidates.append(Candidate(cta, own, line, address, misaligned))
        self.alive[thread] = False
        self.faulted[thread] = True

    def _guarded(self, guard: Cond | None, mask: Mask) -> Mask:
        return mask & self.test(guard) if guard else mask

    def _load(self, load: Load, mask: Mask) -> None:
        access = load.access
        start = self.pointers[load.pointer] if load.pointer else self._address(access)
        running = self._guarded(load.guard, mask)
        for turn, offset in enumerate(access.offsets):
            running = running & self.alive
            who, at = self._reached(load, access, start + np.uint64(offset % 2**64), turn, running)
            data = np.zeros((len(mask), access.size), np.uint8)
            data[who] = self.spaces[access.space].read(at, who, self.ctas[who])
            for i, word in enumerate(folded(data, access)):
                total = self.registers["%acc"] * np.uint64(MULTIPLIER) + word
                self.assign("%acc", total & np.uint64(2**32 - 1), mask & self.alive)
                if turn == i == 0 and load.into:
                    self.assign(load.into, word, mask & self.alive)

    def _store(self, store: Store, mask: Mask) -> None:
        access, start = store.access, self._address(store.access)
        given = self.value(store.value) if store.value else None
        running = self._guarded(store.guard, mask)
        for turn, offset in enumerate(access.offsets):
            values = (
                keys(start + np.uint64(offset % 2**64), access)
                if given is None
                else own(given, access, offset)
            )
            self._write(store, access, turn, values, running, EQUALS if given is None else None)

    def _write(
        self, statement: Statement, access: Access, turn: int, values: Bytes, mask: Mask, kind: int | None
    ) -> None:
        at = self._address(access) + np.uint64(access.offsets[turn] % 2**64)
        who, places = self._reached(statement, access, at, turn, mask & self.alive)
        if access.space == "local":
            kind = None
        self.spaces[access.space].write(places, values[who], who, self.ctas[who], kind)

    # -- values -----------------------------------------------------------------------------------------

    def value(self, e: Expr) -> Words:
        if e.op == "const":
            return np.full(len(self.threads), int(e.args[0]) % 2**e.bits, np.uint64)  # type: ignore[arg-type]
        if e.op == "reg":
            return self.registers.get(str(e.args[0]), np.zeros(len(self.threads), np.uint64))
        if e.op.startswith("selp"):
            a, b, p = e.args
            assert isinstance(a, Expr)
            assert isinstance(b, Expr)
            assert isinstance(p, Cond)
            return np.where(self.test(p), self.value(a), self.value(b))
        operands = [self.value(a) for a in e.args if isinstance(a, Expr)]
        return computed(e.op, *operands) & np.uint64(2**e.bits - 1)

    def test(self, condition: Cond) -> Mask:
        a, b = self.value(condition.a), self.value(condition.b)
        return compared(condition.compare, condition.type, a, b)


def signed(a: Words, bits: int) -> NDArray[np.int64]:
    shift = np.uint64(64 - bits)
    return (a << shift).view(np.int64) >> np.int64(64 - bits)


def compared(compare: str, kind: str, a: Words, b: Words) -> Mask:
    x, y = (signed(v, int(kind[1:])) if kind[0] == "s" else v for v in (a, b))
    return {"lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y, "eq": x == y, "ne": x != y}[compare]


def computed(opcode: str, *given: Words) -> Words:
    """An integer instruction; bits above the result's are left to be cut."""
    name, *rest = opcode.split(".")
    kind = rest[-1]
    bits = int(kind[1:])
    a, b, c = (*given, *given[:1] * 2)[:3]
    if kind[0] == "s" and (name in ("min", "max", "shr", "cvt") or {"wide", "hi"} & {*rest}):
        a = signed(a, bits).view(np.uint64)
        b = signed(b, bits).view(np.uint64) if name != "shr" else b
    x, y = (a.view(np.int64), b.view(np.int64)) if kind[0] == "s" else (a, b)
    match name:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b >> np.uint64(bits) if "hi" in rest else a * b
        case "mad":
            return a * b + c
        case "min":
            return np.where(x < y, a, b)
        case "max":
            return np.where(x > y, a, b)
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "not":
            return ~a
        case "neg":
            return np.uint64(0) - a
        case "shl":
            return np.where(b < np.uint64(bits), a << np.minimum(b, np.uint64(63)), np.uint64(0))
        case "shr":
            n = np.minimum(b, np.uint64(63))
            return (
                (x >> n.view(np.int64)).view(np.uint64)
                if kind[0] == "s"
                else np.where(b < np.uint64(bits), a >> n, np.uint64(0))
            )
        case "div":
            return a // b
        case "rem":
            return a % b
        case "cvt":
            return a
        case _:
            raise KeyError(opcode)


def folded(data: Bytes, access: Access) -> list[Words]:
    """The elements of rows of bytes, extended to words of 32 bits; of 64 bits both halves by exclusive or."""
    kind = np.dtype(f"{'i' if access.type[0] == 's' else 'u'}{access.word}")
    found = data.view(kind).T
    if access.word == 8:
        found = found ^ found >> np.uint64(32)
    return [row.astype(np.int64).view(np.uint64) & np.uint64(2**32 - 1) for row in found]


def keys(start: Words, access: Access) -> Bytes:
    """What addresses say that their bytes are to be."""
    at = (start[:, None] + np.arange(access.size, dtype=np.uint64)).astype(np.uint32)
    words = (at & np.uint32(2**32 - 4)) * np.uint32(FACTOR) ^ np.uint32(SALT)
    return (words >> (at & np.uint32(3)) * np.uint32(8)).astype(np.uint8)


def own(given: Words, access: Access, offset: int) -> Bytes:
    """A thread's own value in all elements, each with its number added."""
    low = [given + np.uint64((offset + i) % 2**64) & np.uint64(2**32 - 1) for i in range(access.count)]
    if access.word == 8:
        low = [v | given << np.uint64(32) for v in low]
    return np.stack(low, 1).astype(f"u{access.word}").view(np.uint8)
