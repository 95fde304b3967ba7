"""Random kernels whose lanes execute `.sync` instructions on different ways of branches, as PTX.

The model, which says what each lane must compute, runs every lane on its own up to its next such instruction.

A program is made from a list of what the lanes do together (`vote`, `shuffle`, `sum`, `exchange`). A part of
the list may stand behind a branch by a bit of the lane's own value; both ways then do the same things
together, with other operands, and other arithmetic around them. A loop may go round a part.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field

MASK = 0xFFFFFFFF
KINDS = ("vote", "shuffle", "sum", "exchange")
HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .u64 %a, %w;
    .reg .u32 %t, %v, %x, %s, %c, %n, %i;
    .reg .pred %p, %q;
    .shared .align 4 .b32 box[32];
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 4;
    add.u64 %a, %a, %w;
    mov.u32 %s, box;
    mad.lo.u32 %s, %t, 4, %s;
    mad.lo.u32 %v, %t, 40503, 977;
    mov.u32 %i, 0;
"""
TAIL = "    st.global.u32 [%a], %v;\n    exit;\n}\n"
Lane = Generator[tuple[str, int, int], int, None]


@dataclass
class Stir:
    """`v = v * factor + constant`."""

    factor: int
    constant: int


@dataclass
class Together:
    """`kind` with an operand: of `vote` the bit, of the others the distance to the other lane."""

    kind: str
    operand: int


@dataclass
class If:
    """By a bit of `v`."""

    bit: int
    yes: list[Item]
    no: list[Item]


@dataclass
class Loop:
    rounds: int
    body: list[Item]


Item = Stir | Together | If | Loop


@dataclass
class Program:
    items: list[Item]
    _labels: int = field(default=0, init=False)

    @staticmethod
    def random(rng: random.Random) -> Program:
        return Program(_items(rng, rng.choices(KINDS, k=rng.randint(2, 6)), 3, loops=True))

    # ------------------------------------------------------------------ as PTX

    def ptx(self) -> str:
        self._labels = 0
        return HEAD + "".join(f"    {line}\n" for line in self._lines(self.items)) + TAIL

    def _lines(self, items: list[Item]) -> list[str]:
        return [line for item in items for line in self._item(item)]

    def _item(self, item: Item) -> list[str]:
        match item:
            case Stir():
                return [f"mad.lo.u32 %v, %v, {item.factor}, {item.constant};"]
            case Together():
                return _together(item)
            case If():
                name = self._label()
                test = [f"and.b32 %c, %v, {1 << item.bit};", "setp.ne.u32 %p, %c, 0;", f"@%p bra Y{name};"]
                ways = [*self._lines(item.no), f"bra E{name};", f"Y{name}:", *self._lines(item.yes)]
                return [*test, *ways, f"E{name}:"]
            case Loop():
                name = self._label()
                end = ["add.u32 %i, %i, 1;", f"setp.lt.u32 %q, %i, {item.rounds};", f"@%q bra L{name};"]
                return ["mov.u32 %i, 0;", f"L{name}:", *self._lines(item.body), *end]

    def _label(self) -> int:
        self._labels += 1
        return self._labels

    # ------------------------------------------------------------------ as Python

    def expected(self) -> list[int]:
        """What the lanes store."""
        state = [(t * 40503 + 977) & MASK for t in range(32)]
        lanes = [_run(self.items, state, t) for t in range(32)]
        asked = [next(lane, None) for lane in lanes]
        while all(asked):
            asked = [_send(lane, answer) for lane, answer in zip(lanes, _answers([a for a in asked if a]))]
        assert not any(asked), "lanes do different things together"
        return state


def _items(rng: random.Random, kinds: list[str], depth: int, loops: bool) -> list[Item]:
    """Code that does these together; some of them behind branches, or in a loop."""
    items: list[Item] = [_stir(rng)]
    rest = list(kinds)
    while rest:
        count = rng.randint(1, len(rest))
        part, rest = rest[:count], rest[count:]
        choice = rng.random()
        if depth and choice < 0.6:
            ways = [_items(rng, part, depth - 1, loops=False) for _ in range(2)]
            items.append(If(rng.randrange(3, 30), *ways))
        elif loops and choice < 0.8:
            items.append(Loop(rng.randint(1, 4), _items(rng, part, depth, loops=False)))
        else:
            items += [Together(kind, _operand(rng, kind)) for kind in part]
        if rng.random() < 0.6:
            items.append(_stir(rng))
    return items


def _stir(rng: random.Random) -> Stir:
    return Stir(rng.randrange(1, 2**31, 2), rng.getrandbits(31))


def _operand(rng: random.Random, kind: str) -> int:
    return rng.randrange(2, 31) if kind == "vote" else rng.randrange(1, 32)


def _together(item: Together) -> list[str]:
    match item.kind:
        case "vote":
            test = [f"and.b32 %c, %v, {1 << item.operand};", "setp.ne.u32 %q, %c, 0;"]
            return [*test, "vote.sync.ballot.b32 %x, %q, -1;", "xor.b32 %v, %v, %x;"]
        case "shuffle":
            return [f"shfl.sync.bfly.b32 %x, %v, {item.operand}, 31, -1;", "add.u32 %v, %v, %x;"]
        case "sum":
            return [
                f"and.b32 %x, %v, {item.operand};",
                "redux.sync.add.u32 %x, %x, -1;",
                "add.u32 %v, %v, %x;",
            ]
        case _:
            other = [f"xor.b32 %n, %t, {item.operand};", "mov.u32 %c, box;", "mad.lo.u32 %n, %n, 4, %c;"]
            take = ["ld.volatile.shared.u32 %x, [%n];", "bar.warp.sync -1;", "xor.b32 %v, %v, %x;"]
            return [*other, "st.volatile.shared.u32 [%s], %v;", "bar.warp.sync -1;", *take]


def _run(items: list[Item], state: list[int], t: int) -> Lane:
    """One lane. It gives the kind, operand and value of what it does together with the others."""
    for item in items:
        match item:
            case Stir():
                state[t] = (state[t] * item.factor + item.constant) & MASK
            case Together():
                answer = yield item.kind, item.operand, state[t]
                summed = item.kind in ("shuffle", "sum")
                state[t] = (state[t] + answer) & MASK if summed else state[t] ^ answer
            case If():
                yield from _run(item.yes if state[t] >> item.bit & 1 else item.no, state, t)
            case Loop():
                for _ in range(item.rounds):
                    yield from _run(item.body, state, t)


def _send(lane: Lane, answer: int) -> tuple[str, int, int] | None:
    try:
        return lane.send(answer)
    except StopIteration:
        return None


def _answers(asked: list[tuple[str, int, int]]) -> list[int]:
    """What each lane is answered; all ask for the same kind."""
    (kind,) = {kind for kind, _, _ in asked}
    if kind == "vote":
        return [sum((value >> bit & 1) << lane for lane, (_, bit, value) in enumerate(asked))] * 32
    if kind == "sum":
        return [sum(value & mask for _, mask, value in asked) & MASK] * 32
    return [asked[lane ^ distance][2] for lane, (_, distance, _) in enumerate(asked)]
