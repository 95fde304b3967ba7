"""Makes the random kernels of `tests.property.index_programs`."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TypeVar

from simt.analysis.joined import MANY
from tests.property.index_programs import (
    AIMED,
    INPUT_BYTES,
    LOCAL_BYTES,
    LOOPS,
    PARAMETERS,
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
    number,
    op,
    reg,
)

T = TypeVar("T")

BLOCKS = (
    (16, 4, 1), (3, 7, 1), (64, 1, 1), (33, 2, 1), (8, 8, 2), (32, 3, 1), (40, 1, 1), (5, 1, 1), (1, 40, 1),
    (2, 16, 1), (4, 4, 4), (16, 2, 3), (31, 1, 1), (96, 1, 1), (8, 4, 1), (16, 3, 1), (8, 5, 2), (64, 2, 1),
    (1, 1, 1), (2, 3, 5), (128, 1, 1), (32, 1, 2), (16, 16, 1), (4, 9, 1), (24, 4, 1),
)  # fmt: skip
UNEVEN = (
    (3, 7, 1), (33, 2, 1), (5, 9, 1), (10, 10, 1), (20, 6, 1), (24, 4, 1), (7, 3, 3), (12, 5, 1), (48, 2, 1),
    (3, 16, 1), (17, 3, 1), (31, 2, 2), (40, 3, 1), (2, 3, 5), (6, 5, 1), (65, 2, 1), (9, 33, 1), (3, 4, 1),
    (1, 1, 1), (1, 1, 1), (1, 5, 1), (1, 3, 2), (1, 1, 7), (1, 16, 1), (1, 31, 1),
)  # fmt: skip
"""CTAs whose rows are filled up to warps, or their columns, and such that are joined."""
NARROW_ROWS = (
    (2, 1, 1), (4, 1, 1), (4, 4, 1), (3, 1, 1), (3, 3, 1), (8, 2, 1), (16, 3, 1), (10, 2, 1), (2, 2, 2),
    (12, 1, 1), (24, 1, 2), (6, 2, 1), (48, 1, 1), (20, 1, 1), (1, 3, 1), (33, 1, 1), (5, 1, 1),
)  # fmt: skip
"""CTAs that are joined where threads only count themselves along x."""
WHOLE_WARPS = (
    (64, 1, 1), (128, 1, 1), (96, 1, 1), (32, 1, 1), (16, 4, 1), (32, 3, 1), (8, 8, 2), (16, 16, 1),
    (64, 2, 1), (4, 8, 1), (32, 1, 2), (48, 2, 1), (160, 1, 1), (256, 1, 1), (24, 4, 1), (1, 64, 1),
)  # fmt: skip
"""CTAs whose warps may speak."""
MOST_THREADS = 512
ALONG = "%tx", "%cx", "%lin"
"""What tells where a thread is along x."""
VALUES = (0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 32, 33, 63, 64, 100, 255, 256)
WILD = (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFE0, 0x7FFFFFF0, 0xFFFF, 0x10000)
MASKS = (1, 3, 7, 15, 31, 63, 127, 255, 0x3C, 0x1E, 0xFFFFFFFE, 0xFFFFFFE0, 0x60, 0xFFE0, 0x80000003)
STRIDES = (1, 1, 2, 3, 4, 5, 8, 16, 17, 32, -1, -1, -2, -3)
LIMITS = (3, 8, 15, 16, 31, 32, 40, 63, 64, 100, 127)
DIVISORS = (2, 3, 4, 7, 8, 16, 33, 64, 100, 256, 1000)
LENGTHS = (5, 10, 11, 12, 18, 20, 24, 34, 36, 40, 66, 68, 130, 260)
"""Of rows by which compilers divide with factors of their own type."""
ADDED = (14, 15, 28, 30, 31, 56, 62, 112)
"""Of rows by which they divide with factors that need a bit more, but for a sign's."""
WIDENED = ("cvt.u64.u32", "cvt.s64.s32")
NARROW = ("add.u16", "mul.lo.u16", "min.s16", "min.u16", "max.s16", "sub.u16", "and.b16")
LIMITED = ("min.s64", "max.s64", "min.u64", "max.u64")
KINDS = (
    *(("u32", 1),) * 6, ("u8", 1), ("s8", 1), ("u16", 1), ("s16", 1), ("s32", 1), ("u64", 1),
    ("u32", 2), ("u32", 4), ("u64", 2), ("u8", 4), ("u16", 2),
)  # fmt: skip
OWN_REGION = 2048
"""Bytes of global memory for the stores of one kind."""


class Generator:
    """One program from a source of randomness. `inside`: loops around. `phase`: what may be done to shared
    memory until the next barrier. `pointers`: by register, accesses to what they point to. `tiles`: many
    indices are cut into rows, as compilers do it. `apart`: no thread can tell which others its warp has, but
    where it `speaks` with them."""

    def __init__(self, random: Random, tiles: bool, apart: bool, speaks: bool) -> None:
        self.random = random
        self.tiles = tiles
        self.apart = apart
        self.speaks = speaks
        self.inside = 0
        self.phase = "read"
        self.pointers: dict[str, Access] = {}
        self.own_stores = 0
        self.spaces: tuple[str, ...] = ()
        self.numbered = False

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *some: T) -> T:
        return self.random.choice(some)

    def program(self) -> Program:
        self.numbered = self.apart and not self.speaks and self.chance(0.5)
        blocks = NARROW_ROWS if self.numbered else UNEVEN if self.apart else BLOCKS
        block = self.pick(*(WHOLE_WARPS if self.speaks else blocks))
        most = MOST_THREADS // (block[0] * block[1] * block[2])
        few = min(5, most)
        grid = (2, 2) if few >= 4 and self.chance(0.3) else (self.random.randint(1, few), 1)
        if self.apart and block[0] == 1 and most >= MANY and self.chance(0.7):
            grid = self.random.randint(MANY, most), 1
        if self.numbered:
            grid = self.random.randint(1, most), 1
            if grid[0] < most // 2 and self.chance(0.3):
                grid = grid[0], 2
        shared = 0.0 if self.numbered or (self.apart and self.speaks) else 0.5
        self.spaces = tuple(n for n, p in (("shared", shared), ("local", 0.15)) if self.chance(p))
        parameters = tuple(self.pick(*VALUES, *VALUES, *WILD) for _ in PARAMETERS)
        body: list[Statement] = []
        self.phase = self.pick("read", "write")
        for _ in range(self.random.randint(1, 3)):
            body += self.body(self.random.randint(1, 4))
            if self.speaks:
                body += [self.speak() for _ in range(self.random.randint(1, 2))]
            if self.chance(0.7 if "shared" in self.spaces else 0.1):
                body.append(Barrier())
                self.phase = self.pick("read", "read", "write", "write" if self.apart else "add")
        return Program(block, grid, self.spaces, parameters, tuple(body), self.numbered)

    def body(self, count: int) -> tuple[Statement, ...]:
        return tuple(self.statement() for _ in range(count))

    def speak(self) -> Speak:
        way = self.pick("bfly", "bfly", "up", "down", "idx", "ballot")
        value = op("add.u32", self.index(32), reg("%acc"))
        return Speak(way, value, self.random.randrange(32))

    def statement(self) -> Statement:
        r = self.random.random()
        if r < 0.45:
            return self.load()
        if r < 0.63:
            return self.store()
        if r < 0.67 and not self.apart:
            shared = self.phase == "add" and "shared" in self.spaces and self.chance(0.7)
            return Add(self.access("shared" if shared else "global", "add"), self.index(32))
        if r < 0.77 and self.inside < LOOPS:
            return If(self.cond(), self.body(self.random.randint(1, 3)), self.body(self.random.randrange(3)))
        if r < 0.90 and self.inside < LOOPS:
            return self.loop()
        if r < 0.92 and self.inside:
            return Break(self.cond())
        if r < 0.925 and not self.inside:
            return Exit(self.cond())
        if r < 0.94:
            return self.aim()
        return Assign(self.pick(*VARIABLES), self.variable(), self.guard())

    # -- values ---------------------------------------------------------------------------------------

    def counters(self) -> list[str]:
        return [f"%i{level}" for level in range(self.inside)]

    def leaf(self) -> Expr:
        places = ("%tx", "%tx", "%tx", "%ty", "%ty", "%tz", "%cx", "%cy", "%lin", "%lin", "%lin")
        places += ("%ty" if self.apart else "%lane",)
        if self.numbered:
            places = tuple("%gx" if place in ALONG else place for place in places)
        place = reg(self.pick(*places, *PARAMETERS[:2], self.pick(*VARIABLES), *self.counters() * 3))
        return self.part(place) if self.chance(0.15) else place

    def part(self, e: Expr) -> Expr:
        """A lane's number in its warp, or the warp's, as compilers make them of a thread's."""
        number_of = self.pick("and.b32", "rem.u32"), self.pick("shr.u32", "shr.s32", "div.u32")
        lane = op(number_of[0], e, number(31 if number_of[0] == "and.b32" else 32))
        warp = op(number_of[1], e, number(32 if number_of[1] == "div.u32" else 5))
        whole = op("or.b32", op("shl.b32", warp, number(5)), lane)
        return self.pick(lane, lane, warp, warp, op("and.b32", e, number(0xFFFFFFE0)), whole)

    def uniform(self) -> Expr:
        if self.chance(0.5):
            return self.some(VALUES)
        return reg(self.pick(*PARAMETERS, "%cy" if self.numbered else "%cx", "%cy", *self.counters()))

    def some(self, values: tuple[int, ...], bits: int = 32) -> Expr:
        return number(self.pick(*values), bits)

    def other(self) -> Expr:
        r = self.random.random()
        if r < 0.35:
            return self.some(VALUES)
        if r < 0.6:
            return self.uniform()
        return self.some(WILD) if r < 0.65 else self.leaf()

    def wide(self) -> Expr:
        return op(self.pick(*WIDENED), self.other())

    def limit(self) -> Expr:
        return self.some(LIMITS) if self.chance(0.6) else self.other()

    def variable(self) -> Expr:
        e = self.index(32)
        return self.bounded(e, self.pick(16, 64, 256)) if self.chance(0.75) else e

    def index(self, bits: int) -> Expr:
        """An index of 32 or 64 bits."""
        e = self.leaf()
        if self.tiles and self.chance(0.6):
            e = self.of_tile(op("add.u32", e, self.uniform()) if self.chance(0.3) else e)
        for _ in range(self.pick(0, 1, 1, 2, 2, 3, 4)):
            e = self.step(e)
        if bits == 64:
            e = op(self.pick(*WIDENED), e)
            for _ in range(self.pick(0, 1, 1, 2)):
                e = self.wide_step(e)
        return e

    def step(self, e: Expr) -> Expr:
        """One more instruction."""
        match self.random.randrange(20):
            case 0 | 1:
                return op("add.u32", e, self.other())
            case 2:
                return op("sub.u32", self.other(), e)
            case 3:
                return op("sub.s32", e, self.other())
            case 4 | 5:
                return op("mul.lo.u32", e, self.some(STRIDES))
            case 6:
                return op("mad.lo.u32", self.leaf(), self.other(), e)
            case 7:
                return op("mad.lo.s32", e, self.some(STRIDES), self.leaf())
            case 8:
                return op("shl.b32", e, number(self.random.randint(0, 5)))
            case 9 | 10:
                return op(self.pick("min.s32", "min.u32"), e, self.limit())
            case 11:
                return op(self.pick("max.s32", "max.u32"), e, self.limit())
            case 12 | 13:
                return op("and.b32", e, self.some(MASKS) if self.chance(0.7) else self.other())
            case 14:
                return op(self.pick("shr.u32", "shr.s32"), e, self.some((1, 2, 3, 5, 31)))
            case 15:
                return op(self.pick("or.b32", "xor.b32"), e, self.other())
            case 16:
                return op(self.pick("not.b32", "neg.s32"), e)
            case 17:
                other = self.step(e) if self.chance(0.4) else self.other()
                return op("selp.b32", *self.random.sample((e, other), 2), self.cond())
            case 18:
                return self.by_rows(e)
            case _:
                return self.narrow_steps(e)

    def by_rows(self, e: Expr) -> Expr:
        """The row or the column of an index, or its place where rows have another length."""
        width = self.some(DIVISORS)
        if self.chance(0.5):
            width = op("max.u32", self.uniform(), number(1))
        row, column = op("div.u32", e, width), op("rem.u32", e, width)
        place = op("mad.lo.u32", row, self.pick(self.uniform(), self.some(STRIDES), width), column)
        return self.pick(row, column, place, place)

    def of_tile(self, e: Expr) -> Expr:
        """The row or the column of an index, or what is made of both."""
        length, added = self.pick(*LENGTHS), self.pick(*ADDED)
        if self.chance(0.3):
            e = op("min.s32", e, self.limit())
        by = self.pick(by_signed_product, by_wide_product, by_short_product, self.by_limited_product)
        by, length = self.pick((by, length), (by, length), (by_added_product, added))
        row, column = by(e, length)
        if self.chance(0.25):
            row = self.of_rows(e, row, length)
        if self.chance(0.2):  # a column of another index
            column = op("sub.s32", op("min.s32", e, self.limit()), op("mul.lo.s32", row, number(length)))
        x, y = (self.limited(part) if self.chance(0.6) else part for part in (column, row))
        pitch = self.pick(number(length), number(length + 2), number(length - 3), self.uniform())
        place = op("mad.lo.s32", y, pitch, x)
        return self.pick(row, column, place, place, place, place)

    def of_rows(self, e: Expr, row: Expr, length: int) -> Expr:
        """The plane or the row in it of an index, which consists of rows."""
        rows = self.pick(2, 3, 10, 14)
        if self.chance(0.5):
            plane = by_added_product(row, self.pick(10, 12, 14))[0]
        else:
            plane = by_added_product(e, length * rows)[0]
        apart = op("sub.s32", row, op("mul.lo.s32", plane, number(rows)))
        by = self.pick(number(rows), op("max.u32", self.uniform(), number(1)))
        divided = op(self.pick("div.u32", "rem.u32", "rem.s32"), row, by)
        return self.pick(plane, apart, apart, divided, op("and.b32", row, number(self.pick(1, 3, 6))))

    def by_limited_product(self, e: Expr, length: int) -> tuple[Expr, Expr]:
        """Of an index that is limited after it got 64 bits, with a factor that may be too large."""
        by, shift = factor(length, 32, 2**32 - 1) if self.chance(0.7) else factor(length, 61, 2**31 - 1)
        shift += 32 if by < 1 << 32 else 61
        long = op("cvt.u64.u32", e)
        if self.chance(0.7):
            long = op("min.u64", long, number(self.pick(*LIMITS), 64))
        row = op("cvt.u32.u64", op("shr.u64", op("mul.lo.u64", long, number(by, 64)), number(shift)))
        return row, op("sub.s32", e, op("mul.lo.s32", row, number(length)))

    def limited(self, e: Expr) -> Expr:
        e = op("add.s32", e, self.pick(number(0xFFFFFFFF), self.uniform()))
        return op("min.s32", op("max.s32", e, number(0)), self.limit())

    def narrow_steps(self, e: Expr) -> Expr:
        """Through 16 bits and back."""
        narrow = op("cvt.u16.u32", e)
        for _ in range(self.random.randrange(3)):
            narrow = op(self.pick(*NARROW), narrow, op("cvt.u16.u32", self.other()))
        return op(self.pick("cvt.u32.u16", "cvt.s32.s16"), narrow)

    def wide_step(self, e: Expr) -> Expr:
        match self.random.randrange(8):
            case 0:
                return op("add.s64", e, self.wide())
            case 1:
                return op("sub.s64", self.pick(self.some(VALUES, 64), self.wide()), e)
            case 2:
                return op("mul.lo.s64", e, self.some(STRIDES, 64))
            case 3:
                return op(self.pick(*LIMITED), e, self.pick(self.some(VALUES, 64), self.wide()))
            case 4:
                return op("and.b64", e, self.some(MASKS, 64))
            case 5:
                return op("shl.b64", e, number(self.random.randint(0, 3)))
            case 6:
                return op(self.pick("shr.u64", "shr.s64"), e, self.some((1, 2, 31, 32)))
            case _:
                other = self.wide_step(e) if self.chance(0.5) else self.wide()
                return op("selp.b64", *self.random.sample((e, other), 2), self.cond())

    def bounded(self, e: Expr, limit: int) -> Expr:
        """The index below a limit, if it is not wild."""
        b = e.bits
        last = number(limit - 1, b)
        if self.chance(0.2) and b == 32 and limit > 64:  # a limit that is no constant
            last = op("min.u32", reg(self.pick(*PARAMETERS)), last)
        match self.random.randrange(8):
            case 0:
                return op(f"min.u{b}", e, last)
            case 1:
                return op(f"max.s{b}", op(f"min.s{b}", e, last), number(0, b))
            case 2:
                return op(f"min.s{b}", op(f"max.s{b}", e, number(0, b)), last)
            case 3 | 4:
                return op(f"and.b{b}", e, number((1 << limit.bit_length() - 1) - 1, b))
            case 5:
                return op(f"rem.u{b}", e, number(limit, b))
            case 6:
                return op(f"sub.u{b}", last, op(f"min.u{b}", e, last))
            case _:
                return op(f"shr.u{b}", e, number(b - limit.bit_length() + 1))

    def cond(self) -> Cond:
        e = self.uniform() if self.chance(0.4) else self.leaf()
        if self.chance(0.4):
            e = self.step(e)
        compare = self.pick("lt", "le", "gt", "ge", "eq", "ne")
        return Cond(compare, self.pick("s32", "u32"), e, self.uniform() if self.chance(0.3) else self.limit())

    def guard(self) -> Cond | None:
        return self.cond() if self.chance(0.25) else None

    # -- memory ---------------------------------------------------------------------------------------

    def space(self, phase: str) -> str:
        """A state space that may be used in a phase."""
        own = [s for s in (*("shared",) * 5, "local", "local") if s in self.spaces]
        found = self.pick("global", "global", "global", "generic", *own)
        return "global" if found == "shared" and self.phase != phase else found

    def load(self) -> Statement:
        into = self.pick(*VARIABLES) if self.chance(0.35) else None
        if self.pointers and self.chance(0.5):
            pointer = self.pick(*self.pointers)
            return Load(self.retyped(self.pointers[pointer]), into, self.guard(), pointer)
        return Load(self.access(self.space("read"), "read"), into, self.guard())

    def retyped(self, base: Access) -> Access:
        """Another access through the same pointer."""
        kind = self.pick(base.type, base.type, "u8", "u16")
        count = base.count if kind == base.type else 1
        size = int(kind[1:]) // 8 * count
        offsets = tuple(o * size for o in self.pick((0,), (0, 1), (0, 1, 2, 3), (1, 0), (0, 2), (-1, 1)))
        return Access(base.space, kind, count, 0, base.index, base.extend, base.scale, offsets)

    def unrolled(self, base: Access) -> Access:
        """The same access to a few elements, as compilers unroll loops."""
        offsets = tuple(base.size * i for i in range(self.pick(2, 2, 3, 4)))
        return replace(base, region=0, offsets=offsets)

    def aim(self) -> Statement:
        """A pointer that is used later, in other blocks."""
        space = "shared" if self.space("read") == "shared" else "global"
        self.pointers[AIMED[space]] = access = self.pointed(space)
        return Aim(access, self.guard())

    def pointed(self, space: str) -> Access:
        access = self.access(space, "read")
        while access.extend == "32":
            access = self.access(space, "read")
        return access

    def store(self) -> Statement:
        space = self.space("write")
        if space == "local":
            return Store(self.access("local", "write"), self.index(32), self.guard())
        if space != "shared" and self.own_stores < 4 and self.chance(0.4):
            return self.own(space)
        return Store(self.access(space, "write"), None, self.guard())

    def own(self, space: str) -> Statement:
        """To places that (most often) no other thread writes."""
        self.own_stores += 1
        e, last = reg("%all"), number(MOST_THREADS - 1)
        match self.random.randrange(5):
            case 0:
                e = op("sub.u32", last, e)
            case 1:
                e = op("max.s32", op("min.s32", e, last), number(0))
            case 2:
                e = op("xor.b32", e, self.some((1, 31, 32, 5)))
            case 3:
                e = op("and.b32", e, last)
            case _:
                pass
        kind, count = self.pick(("u32", 1), ("u32", 1), ("u16", 1), ("u8", 1), ("u8", 4))
        size = int(kind[1:]) // 8 * count
        region = INPUT_BYTES + OWN_REGION * self.own_stores
        access = Access(space, kind, count, region, e, self.extend(space), size, (0,))
        return Store(access, self.index(32), self.guard())

    def extend(self, space: str) -> str:
        ways = ("wide.u32", "wide.u32", "wide.s32", *WIDENED)
        return self.pick(*ways, "32", "32", "32") if space in ("shared", "local") else self.pick(*ways)

    def access(self, space: str, purpose: str) -> Access:
        kind, count = ("u32", 1) if purpose == "add" else self.pick(*KINDS)
        if purpose != "read":
            kind = kind.replace("s", "u")
        size = int(kind[1:]) // 8 * count
        region, room = self.room(space, purpose)
        large = room > LOCAL_BYTES
        scale = size * (self.pick(1, 1, 1, 1, 1, 1, 2, 3) if large else 1)
        places = self.pick((0,), (0,), (0,), (0, 1), (0, 1, 2, 3), (1, 0), (0, 2)) if large else (0,)
        limit = max(1, (room - (max(places) + 1) * size) // scale + 1)
        if self.chance(0.05):
            limit += self.pick(1, 1, limit)  # may fault, or meet what it must not
        if self.chance(0.03):
            scale = max(1, scale - 1)  # misaligned, probably
        bits = 64 if self.chance(0.15) else 32
        index = self.index(bits)
        index = index if self.chance(0.03) else self.bounded(index, limit)
        way = "64" if bits == 64 else self.extend(space)
        return Access(space, kind, count, region, index, way, scale, tuple(size * p for p in places))

    def room(self, space: str, purpose: str) -> tuple[int, int]:
        """Where what may be accessed begins, and how many bytes it has."""
        if space == "local":
            return 0, LOCAL_BYTES
        if space == "shared":
            start = self.pick(0, 0, 0, 64, 128, 1024)
            return start, SHARED_BYTES - start
        if purpose == "write":
            return INPUT_BYTES, OWN_REGION
        if purpose == "add":
            return INPUT_BYTES + 5 * OWN_REGION, 1024
        part = INPUT_BYTES // 4
        return (part * self.random.randrange(4), part) if self.chance(0.5) else (0, INPUT_BYTES)

    # -- loops ------------------------------------------------------------------------------------------

    def loop(self) -> Statement:
        level, was = self.inside, dict(self.pointers)
        start, bound, step = self.turns(), self.turns(), self.pick(1, 1, 1, 2, 3)
        pointer = self.pointed(self.space("read")) if self.chance(0.4) else None
        register = f"%q{level}"
        if pointer:
            self.pointers[register] = pointer
        advance = number(self.pick(1, 1, 1, 2, 4, -1, 16) * (pointer.size if pointer else 4))
        if self.chance(0.15):
            advance = op("shl.b32", op("and.b32", reg(self.pick(*PARAMETERS)), number(7)), number(2))
        self.inside += 1
        body = self.body(self.random.randint(1, 3))
        if pointer and self.chance(0.6):
            body = (Load(self.unrolled(pointer), None, self.guard(), register), *body)
        if level == 0 and "shared" in self.spaces and start.op == bound.op == "const" and self.chance(0.3):
            body = (*body, Barrier())
        self.inside -= 1
        self.pointers = was
        if self.chance(0.3):
            compare = self.pick("gt.s32", "ge.s32")
            return Loop(level, bound, compare, start, -step, pointer, advance, body)
        return Loop(level, start, self.pick("lt.s32", "le.s32"), bound, step, pointer, advance, body)

    def turns(self) -> Expr:
        """A small number: a constant, of a parameter, or of the thread; of some lanes a larger one."""
        most = 5 if self.inside else 12
        r = self.random.random()
        if r < 0.3:
            return number(self.random.randrange(most))
        if r < 0.45:
            return op("and.b32", reg(self.pick(*PARAMETERS)), number(3 if self.inside else 7))
        if r < 0.7:
            return op("rem.u32", self.index(32), number(most))
        most, few = (number(self.random.randrange(n)) for n in (most, 3))
        return op("selp.b32", most, few, self.cond())


def program(random: Random, tiles: bool = False, apart: bool = False, speaks: bool = False) -> Program:
    return Generator(random, tiles, apart, speaks).program()


def factor(length: int, bits: int, largest: int) -> tuple[int, int]:
    """A number of so many bits, and by how many more than `bits` to shift a product with it right, so that
    indices up to the largest are divided by a length."""
    for shift in range(bits, 2 * bits):
        found = -(-(1 << shift) // length)
        if (found * length - (1 << shift)) * largest < 1 << shift:
            assert found < 1 << bits
            return found, shift - bits
    raise ValueError(length)


def by_signed_product(e: Expr, length: int) -> tuple[Expr, Expr]:
    """Row and column, as nvcc makes them of an `int`."""
    by, shift = factor(length, 31, 2**31 - 1)
    product = op("mul.hi.s32", e, number(by))
    row = op("add.s32", op("shr.s32", product, number(shift - 1)), op("shr.u32", product, number(31)))
    return row, op("sub.s32", e, op("mul.lo.s32", row, number(length)))


def by_added_product(e: Expr, length: int) -> tuple[Expr, Expr]:
    """The same where the factor has all 32 bits: it is taken to be negative, and the index added."""
    by, shift = factor(length, 32, 2**31 - 1)
    product = op("mul.hi.s32", e, number(by))
    product = op("add.s32", product, e) if by >> 31 else product
    row = op("add.s32", op("shr.s32", product, number(shift)), op("shr.u32", product, number(31)))
    return row, op("sub.s32", e, op("mul.lo.s32", row, number(length)))


def by_wide_product(e: Expr, length: int) -> tuple[Expr, Expr]:
    """The same of an `unsigned`."""
    by, shift = factor(length, 32, 2**32 - 1)
    product = op("mul.wide.u32", e, number(by))
    row = op("cvt.u32.u64", op("shr.u64", product, number(32 + shift)))
    return row, op("sub.s32", e, op("mul.lo.s32", row, number(length)))


def by_short_product(e: Expr, length: int) -> tuple[Expr, Expr]:
    """The same of an `unsigned` of which 16 bits are known to be enough."""
    by, shift = factor(length, 16, 2**16 - 1)
    short = op("cvt.u16.u32", e)
    row = op("shr.u32", op("mul.wide.u16", short, number(by, 16)), number(16 + shift))
    back = op("mul.lo.s16", op("cvt.u16.u32", row), number(2**16 - length, 16))
    return row, op("cvt.u32.u16", op("add.s16", short, back))
