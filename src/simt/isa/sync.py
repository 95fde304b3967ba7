"""Barriers and memory ordering (PTX 1.4 section 7.7.8, tables 78 and 79, and later forms).

Barriers are declared only: the lowering turns them into `simt.analysis.program.Barrier`.
"""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import control, instruction
from simt.isa.memory import FENCES, SCOPES

SYNC = "Waits until all threads of the CTA, or `b` of them, have arrived at barrier `a`."
ARRIVE = "Arrives at barrier `a` and goes on; `b` threads are expected in all."
COUNT = "Waits at a barrier; counts the threads of the CTA whose predicate holds."
REDUCE = "Waits at a barrier; whether the predicate holds in all threads of the CTA, or in any."


def _barriers(opcode: str, suffix: str, since: str, later: str, ref: str) -> None:
    """`sync` with a count, `arrive` and `red` of one spelling of the barrier instruction."""
    requires = {"cta": "7.8"}
    for operands in ("a:u32, c:pred", "a:u32, b:u32, c:pred"):
        tail = operands.replace("c:", "[!]c:")
        control(
            f"{opcode}.action.reduce{suffix}.type d, {tail}", "barrier", COUNT, since=later, ref=ref,
            action="red", reduce="popc", type="u32", requires=requires,
        )  # fmt: skip
        control(
            f"{opcode}.action.reduce{suffix}.type p, {tail}", "barrier", REDUCE, since=later, ref=ref,
            action="red", reduce="and or", type="pred", requires=requires,
        )  # fmt: skip
    control(
        f"{opcode}.action{suffix} a:u32, b:u32", "barrier", ARRIVE, since=later, ref=ref,
        action="arrive", requires=requires,
    )  # fmt: skip
    control(
        f"{opcode}.action{suffix} a:u32, b:u32", "barrier", SYNC, since=later, ref=ref,
        action="sync", requires=requires,
    )  # fmt: skip
    control(
        f"{opcode}.action{suffix} a:u32", "barrier", SYNC, since=since,
        ref="PTX 1.4 table 78" if since == "1.0" else ref, action="sync", requires=requires,
    )  # fmt: skip


_barriers("bar[.cta]", "", "1.0", "2.0 sm_20", "PTX 2.0 bar")
_barriers("barrier[.cta]", "[.aligned]", "6.0 sm_30", "6.0 sm_30", "PTX 6.0 barrier")


@instruction("bar.warp.sync mask:b32", since="6.0 sm_30", effects="warp memory", ref="PTX 6.0 bar.warp.sync")
def bar_warp(m: Algebra[V], mask: V) -> None:
    """Waits for the lanes of a mask and orders their accesses to memory.

    From compute capability 7.0 on, lanes on both ways of a branch wait for each other.
    """
    m.fence("cta")


@instruction(
    "membar.level", level="cta gl sys", since="1.4", requires={"sys": "2.0 sm_20"}, effects="memory",
    ref="PTX 1.4 table 79", seam="*",
)  # fmt: skip
def membar(m: Algebra[V], level: str) -> None:
    """Orders the thread's accesses to memory before it and after it, as a level of threads sees them.

    `cta`: as the threads of its CTA see them, `gl`: those of the device, `sys`: the host and other devices
    too.
    """
    m.fence(level)


@instruction(
    "fence[.sem].scope", sem="sc acq_rel acquire release", scope=SCOPES, since="6.0 sm_70",
    requires={"cluster": "7.8 sm_90", "acquire": "8.6 sm_70", "release": "8.6 sm_70"}, effects="memory",
    ref="PTX 6.0 fence", seam="sc acq_rel !sem",
)  # fmt: skip
def fence(m: Algebra[V], scope: str) -> None:
    """Orders the thread's accesses to memory before it and after it, as the threads of a scope see them."""
    m.fence(FENCES[scope])


@instruction(
    "membar.proxy.kind", kind="alias", since="7.5 sm_60", effects="memory", ref="PTX 7.5 membar.proxy"
)
@instruction(
    "fence.proxy.kind", kind="alias async", since="7.5 sm_60",
    requires={"async": "8.0 sm_90"}, effects="memory", ref="PTX 7.5 fence.proxy",
)  # fmt: skip
def fence_proxy(m: Algebra[V]) -> None:
    """Orders accesses to memory made by different ways of access."""
    m.fence("sys")


RESTRICTED = "sync_restrict::shared::"
"""A fence for what is in the shared memory of the cluster, or of the CTA, alone."""


@instruction("fence.mbarrier_init.release.cluster", since="8.0 sm_90", effects="memory", ref="PTX 8.0 fence")
@instruction(
    "fence.proxy.async.space", space="global shared::cta shared::cluster", since="8.0 sm_90",
    effects="memory", ref="PTX 8.0 fence.proxy",
)  # fmt: skip
@instruction(
    "fence.acquire.what.cluster", what=f"{RESTRICTED}cluster", since="8.6 sm_90", effects="memory",
    ref="PTX 8.6 fence",
)  # fmt: skip
@instruction(
    "fence.release.what.cluster", what=f"{RESTRICTED}cta", since="8.6 sm_90", effects="memory",
    ref="PTX 8.6 fence",
)  # fmt: skip
@instruction(
    "fence.proxy.way.acquire.what.cluster", way="async::generic", what=f"{RESTRICTED}cluster",
    since="8.6 sm_90", effects="memory", ref="PTX 8.6 fence.proxy",
)  # fmt: skip
@instruction(
    "fence.proxy.way.release.what.cluster", way="async::generic", what=f"{RESTRICTED}cta",
    since="8.6 sm_90", effects="memory", ref="PTX 8.6 fence.proxy",
)  # fmt: skip
@instruction(
    "fence.proxy.way.release.scope", way="tensormap::generic", scope=SCOPES,
    since="8.3 sm_90", effects="memory", ref="PTX 8.3 fence.proxy",
)  # fmt: skip
def fence_narrow(m: Algebra[V]) -> None:
    """Orders some of the thread's accesses to memory; here it orders all of them."""
    m.fence("sys")


@instruction(
    "fence.proxy.way.acquire.scope [a], b:imm(u32)", way="tensormap::generic", scope=SCOPES,
    ranges={"b": range(128, 129)}, since="8.3 sm_90", effects="memory", ref="PTX 8.3 fence.proxy",
)  # fmt: skip
def fence_tensor_map(m: Algebra[V], a: V) -> None:
    """Orders accesses to a description of a tensor, of 128 bytes; here it orders all accesses."""
    m.fence("sys")
