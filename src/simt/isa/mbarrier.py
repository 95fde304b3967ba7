"""Barriers in shared memory, for threads and asynchronous copies (PTX 7.0 to 8.0 mbarrier).

A barrier is an object of 64 bits: how many arrivals a phase expects, how many are pending, how many bytes
of asynchronous copies are pending (`tx`), and the phase's parity. When nothing is pending any more, the next
phase begins. Each change is one atomic operation, `step`. Objects, and tokens, are laid out as on an H200,
whose tokens have an undefined lower half.

Copies that tell a barrier are carried out at once, and so are their arrivals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from simt.isa.algebra import Algebra, PureAlgebra, V
from simt.isa.catalogue import instruction
from simt.isa.form import Meaning, Value, Version
from simt.isa.memory import FENCES, state_space
from simt.ptx.types import B64, U32, U64

M = TypeVar("M", bound=Meaning)

SPACES = "shared shared::cta"
CLUSTER = "shared::cluster"
LATE = {
    "shared::cta": "7.8 sm_80", "shared::cluster": "7.8 sm_90", "cluster": "8.0 sm_90",
    "relaxed": "8.6 sm_90", "acquire": "8.0 sm_80", "release": "8.0 sm_80", "cta": "8.0 sm_80",
}  # fmt: skip

COUNT, TX_COUNT = 20, 21
COUNTS = range(1, 1 << COUNT)
"""How often one instruction may arrive."""
NUMBERS = "no_functions"
"""As a count, ptxas takes no function."""
EXPECTED, TX, PENDING, PHASE = 1, 21, 43, 63
"""Where the fields of the object begin: counts, negated, of so many bits; and one bit."""
ARRIVE = "arrive"
STEPS = (ARRIVE, "arrive_drop", "expect_tx", "complete_tx", "arrive_expect_tx", "drop_expect_tx")
"""The atomic operations, of type `.u64`; `b` is a number of arrivals, or of bytes (`tx`)."""


def field(m: PureAlgebra[V], value: V, start: int, bits: int) -> V:
    """Some bits of an object."""
    moved = m.shift_right(U64, value, m.const(U32, start))
    return m.and_(U64, moved, m.const(U64, (1 << bits) - 1))


def _put(m: PureAlgebra[V], value: V, start: int, bits: int, part: V) -> V:
    """An object with some bits replaced; of `part` the low ones count."""
    ones = (1 << bits) - 1
    kept = m.and_(U64, value, m.const(U64, (1 << 64) - 1 - (ones << start)))
    return m.or_(U64, kept, m.shift_left(U64, m.and_(U64, part, m.const(U64, ones)), m.const(U32, start)))


def started(m: PureAlgebra[V], count: V) -> V:
    """A barrier in its first phase, for so many arrivals."""
    zero = m.const(U64, 0)
    negated = m.sub(U64, zero, count)
    return _put(m, _put(m, zero, EXPECTED, COUNT, negated), PENDING, COUNT, negated)


def step(m: PureAlgebra[V], op: str, old: V, b: V) -> V:
    """The barrier after one of `STEPS`: with the next phase begun if nothing is pending any more."""
    expected, pending = field(m, old, EXPECTED, COUNT), field(m, old, PENDING, COUNT)
    tx = field(m, old, TX, TX_COUNT)
    if op in ("arrive", "arrive_drop"):
        pending = m.add(U64, pending, b)
    if op in ("arrive_expect_tx", "drop_expect_tx"):
        pending = m.add(U64, pending, m.const(U64, 1))
    if op in ("arrive_drop", "drop_expect_tx"):
        expected = m.add(U64, expected, b if op == "arrive_drop" else m.const(U64, 1))
    if op.endswith("expect_tx"):
        tx = m.sub(U64, tx, b)
    if op == "complete_tx":
        tx = m.add(U64, tx, b)
    moved = _put(m, _put(m, old, PENDING, COUNT, pending), EXPECTED, COUNT, expected)
    moved = _put(m, moved, TX, TX_COUNT, tx)
    waits = ((1 << COUNT) - 1) << PENDING | ((1 << TX_COUNT) - 1) << TX
    done = m.compare("eq", U64, m.and_(U64, moved, m.const(U64, waits)), m.const(U64, 0))
    following = _put(m, m.xor(U64, moved, m.const(U64, 1 << PHASE)), PENDING, COUNT, expected)
    return m.select(U64, done, following, moved)


def _change(
    m: Algebra[V], op: str, a: V, b: V | None, space: str | None, sem: str | None, scope: str | None,
    alike: bool = False,
) -> V:  # fmt: skip
    """One step, between the fences that its semantics ask for; the barrier before it. `alike`: lanes that
    arrive at one barrier may get one token (`simt.analysis.tokens`)."""
    level = FENCES[scope or "cta"]
    if sem != "relaxed":
        m.fence(level)
    count = m.const(U64, 1) if b is None else m.resize(U32, U64, b)
    where = state_space(space)
    return m.arrivals(op, where, a, count) if alike else m.atomic(op, U64, where, a, count, None)


def whole(binding: Mapping[str, Value], _version: Version) -> str | None:
    """Semantics and scope are written together."""
    if (binding.get("sem") is None) != (binding.get("scope") is None):
        return "semantics and scope need each other"
    return None


# ------------------------------------------------------------------ beginning and end


@instruction("mbarrier.init[.space].b64 [a], b:u32", space=SPACES, since="7.0 sm_80",
             requires={"shared::cta": LATE["shared::cta"]}, effects="memory", traits=NUMBERS,
             ref="PTX 7.0 mbarrier.init")  # fmt: skip
def init(m: Algebra[V], a: V, b: V, space: str | None) -> None:
    """Makes a barrier for `b` arrivals, in its first phase."""
    m.store(B64, state_space(space), a, (started(m, m.resize(U32, U64, b)),), True)


@instruction("mbarrier.inval[.space].b64 [a]", space=SPACES, since="7.0 sm_80",
             requires={"shared::cta": LATE["shared::cta"]}, effects="memory",
             ref="PTX 7.0 mbarrier.inval")  # fmt: skip
def inval(m: Algebra[V], a: V, space: str | None) -> None:
    """Ends the use of a barrier: its place may hold something else."""


# ------------------------------------------------------------------ arrivals


APART: dict[str, Any] = {"alike": False}
"""Each lane has a token of its own; else `simt.analysis.tokens` says so."""
DISCARDED = {"_": "7.1 sm_80"}
"""`_` in place of a token."""
NEAR = {k: v for k, v in LATE.items() if k not in ("acquire", CLUSTER)}
FAR = {k: v for k, v in NEAR.items() if k not in SPACES.split()}
NOT_LAST = {k: LATE[k] for k in ("release", "cta", "shared::cta")} | DISCARDED


def arrivals(opcode: str, first: tuple[str, str], *others: tuple[str, str]) -> Callable[[M], M]:
    """Declares an arrival at a barrier of the CTA, which gives a token, and at one of the cluster.
    `first`, `others`: what follows the address, and the first version and target that have it."""
    words: dict[str, Any] = {
        "sem": "release relaxed",
        "scope": "cta cluster",
        "check": whole,
        "effects": "memory",
        "traits": NUMBERS,
        "ranges": {} if opcode.endswith("expect_tx") else {"b": COUNTS},
    }
    syntax = f"{opcode}[.sem][.scope]"
    forms = [
        instruction(f"{syntax}[.space].b64 d:u64, [a]{count}", **words, space=SPACES, since=since,
                    requires=NEAR | DISCARDED, defaults=APART if count else APART | {"b": None},
                    ref=f"PTX {since.split()[0]} {opcode}")
        for count, since in (first, *others)
    ]  # fmt: skip
    optional = "[, b:u32]" if others else first[0]
    forms.append(
        instruction(f"{syntax}.space.b64 d:sink, [a]{optional}", **words, space=CLUSTER, since="8.0 sm_90",
                    requires=FAR, defaults=APART, ref=f"PTX 8.0 {opcode}")
    )  # fmt: skip

    def declare(meaning: M) -> M:
        for form in forms:
            form(meaning)
        return meaning

    return declare


WITHOUT, WITH = ("", "7.0 sm_80"), (", b:u32", "7.8 sm_90")
TRANSACTION = (", b:u32", "8.0 sm_90")


@arrivals("mbarrier.arrive", WITHOUT, WITH)
@instruction("mbarrier.arrive.noComplete[.sem][.scope][.space].b64 d:u64, [a], b:u32", sem="release",
             scope="cta", space=SPACES, since="7.0 sm_80", check=whole, ranges={"b": COUNTS},
             requires=NOT_LAST, effects="memory", traits=NUMBERS, defaults=APART,
             ref="PTX 7.0 mbarrier.arrive")  # fmt: skip
def arrive(
    m: Algebra[V], a: V, space: str | None, sem: str | None, scope: str | None, b: V | None = None,
    alike: bool = False,
) -> V:  # fmt: skip
    """Arrives once, or `b` times; gives the barrier as it was, as a token for a wait.

    The last arrival that a phase expects begins the next one, unless bytes are pending.
    """
    return _change(m, ARRIVE, a, b, space, sem, scope, alike)


@arrivals("mbarrier.arrive_drop", WITHOUT, WITH)
@instruction("mbarrier.arrive_drop.noComplete[.sem][.scope][.space].b64 d:u64, [a], b:u32", sem="release",
             scope="cta", space=SPACES, since="7.0 sm_80", check=whole, ranges={"b": COUNTS},
             requires=NOT_LAST, effects="memory", traits=NUMBERS, defaults=APART,
             ref="PTX 7.0 mbarrier.arrive_drop")  # fmt: skip
def arrive_drop(
    m: Algebra[V], a: V, space: str | None, sem: str | None, scope: str | None, b: V | None = None,
    alike: bool = False,
) -> V:  # fmt: skip
    """Arrives once, or `b` times, and lets later phases expect so many arrivals less."""
    return _change(m, "arrive_drop", a, b, space, sem, scope, alike)


@arrivals("mbarrier.arrive.expect_tx", TRANSACTION)
def arrive_expect_tx(
    m: Algebra[V], a: V, b: V, space: str | None, sem: str | None, scope: str | None, alike: bool = False
) -> V:
    """Lets the phase wait for `b` bytes more, and arrives once."""
    return _change(m, "arrive_expect_tx", a, b, space, sem, scope, alike)


@arrivals("mbarrier.arrive_drop.expect_tx", TRANSACTION)
def drop_expect_tx(
    m: Algebra[V], a: V, b: V, space: str | None, sem: str | None, scope: str | None, alike: bool = False
) -> V:
    """Lets the phase wait for `b` bytes more, arrives once, and lets later phases expect one arrival less."""
    return _change(m, "drop_expect_tx", a, b, space, sem, scope, alike)


@instruction("mbarrier.action[.sem][.scope][.space].b64 [a], b:u32", action="expect_tx complete_tx",
             sem="relaxed", scope="cta cluster", space=f"{SPACES} {CLUSTER}", since="8.0 sm_90", check=whole,
             effects="memory", traits=NUMBERS, ref="PTX 8.0 mbarrier.expect_tx")  # fmt: skip
def transactions(m: Algebra[V], a: V, b: V, action: str, space: str | None) -> None:
    """Lets the phase wait for `b` bytes more, or fewer."""
    _change(m, action, a, b, space, "relaxed", None)


@instruction("cp.async.mbarrier.arrive[.noinc][.space].b64 [a]", space=SPACES, since="7.0 sm_80",
             requires={"shared::cta": LATE["shared::cta"]}, effects="memory",
             ref="PTX 7.0 cp.async.mbarrier.arrive")  # fmt: skip
def copied(m: Algebra[V], a: V, noinc: bool, space: str | None) -> None:
    """Arrives when the thread's asynchronous copies are done, which they are.

    Without `.noinc` the phase waits for one arrival more, which is this one.
    """
    if noinc:
        _change(m, "arrive", a, None, space, None, None)
    else:
        m.fence("cta")


# ------------------------------------------------------------------ waits


def _now(m: Algebra[V], a: V, space: str | None, sem: str | None, scope: str | None) -> V:
    """The barrier's phase, 0 or 1."""
    (found,) = m.load(U64, state_space(space), a, 1, True)
    if sem != "relaxed":
        m.fence(FENCES[scope or "cta"])
    return field(m, found, PHASE, 1)


WAITS: dict[str, Any] = {
    "sem": "acquire relaxed", "scope": "cta cluster", "space": SPACES, "traits": NUMBERS,
}  # fmt: skip
WAITS_LATE = {k: v for k, v in LATE.items() if k not in ("release", "shared::cluster")}


@instruction("mbarrier.test_wait[.sem][.scope][.space].b64 p:pred, [a], b:token(u64)", **WAITS,
             since="7.0 sm_80", requires=WAITS_LATE, check=whole,
             effects="memory", ref="PTX 7.0 mbarrier.test_wait")  # fmt: skip
@instruction("mbarrier.try_wait[.sem][.scope][.space].b64 p:pred, [a], b:token(u64)[, c:u32]", **WAITS,
             since="7.8 sm_90", requires=WAITS_LATE, check=whole, effects="memory",
             ref="PTX 7.8 mbarrier.try_wait")  # fmt: skip
def wait(m: Algebra[V], a: V, b: V, space: str | None, sem: str | None, scope: str | None) -> V:
    """Whether the phase is over in which an arrival gave the token `b`.

    `.try_wait` may wait for `c` nanoseconds; here it tells at once.
    """
    phase = field(m, b, PHASE, 1)
    return m.compare("ne", U64, _now(m, a, space, sem, scope), phase)


@instruction("mbarrier.test_wait.parity[.sem][.scope][.space].b64 p:pred, [a], b:u32", **WAITS,
             since="7.1 sm_80", requires=WAITS_LATE, check=whole, ranges={"b": range(2)}, effects="memory",
             ref="PTX 7.1 mbarrier.test_wait")  # fmt: skip
@instruction("mbarrier.try_wait.parity[.sem][.scope][.space].b64 p:pred, [a], b:u32[, c:u32]", **WAITS,
             since="7.8 sm_90", requires=WAITS_LATE, check=whole, ranges={"b": range(2)}, effects="memory",
             ref="PTX 7.8 mbarrier.try_wait")  # fmt: skip
def wait_parity(m: Algebra[V], a: V, b: V, space: str | None, sem: str | None, scope: str | None) -> V:
    """Whether the phase of parity `b` is over: the current one has the other parity.

    The first one has parity 0.
    """
    now = _now(m, a, space, sem, scope)
    return m.compare("ne", U64, now, m.and_(U64, m.resize(U32, U64, b), m.const(U64, 1)))


@instruction(
    "mbarrier.pending_count.b64 d:u32, a:token(u64)", since="7.0 sm_80", ref="PTX 7.0 mbarrier.pending_count"
)
def pending_count(m: PureAlgebra[V], a: V) -> V:
    """How many arrivals were pending when an arrival gave the token `a`."""
    count = m.sub(U64, m.const(U64, 0), field(m, a, PENDING, COUNT))
    return m.and_(U32, m.resize(U64, U32, count), m.const(U32, (1 << COUNT) - 1))
