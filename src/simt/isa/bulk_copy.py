"""Asynchronous copies of many bytes (PTX ISA 8.0 cp.async.bulk), carried out at once.

Lowering makes loops of them (`simt.analysis.lower_bulk`); whoever waits for them finds them done."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import control, instruction

SINCE, REF = "8.0 sm_90", "PTX 8.0 cp.async.bulk"
KIND = "bulk-copy"
"""What lowering knows a copy by."""
UNIT = 16
"""Bytes of which addresses and sizes are multiples."""
SIZES = {"c": range(0, 1 << 32, UNIT)}
"""The constants that may be a size."""
OWN = "shared::cta"
NEAR = f"shared::cluster {OWN}"
INTO_OWN = {OWN: "8.6 sm_90"}

INTO_SHARED = "cp.async.bulk.space.source.mbarrier::complete_tx::bytes"
INTO_GLOBAL = "cp.async.bulk.space.source.bulk_group"

for _hint, _policy in (("", ""), (".L2::cache_hint", ", f:token(u64)")):
    control(
        f"{INTO_SHARED}{_hint} [a], [b], c:u32, [e]{_policy}", KIND,
        "Copies from global to shared memory, and tells a barrier how many bytes.",
        space=NEAR, source="global", since=SINCE, requires=INTO_OWN, ranges=SIZES, ref=REF,
    )  # fmt: skip
    control(
        f"{INTO_GLOBAL}{_hint} [a], [b], c:u32{_policy}", KIND, "Copies from shared to global memory.",
        space="global", source=OWN, since=SINCE, ranges=SIZES, ref=REF,
    )  # fmt: skip
control(
    f"{INTO_SHARED} [a], [b], c:u32, [e]", KIND,
    "Copies from shared memory to that of the cluster, and tells a barrier how many bytes.",
    space="shared::cluster", source=OWN, since=SINCE, ranges=SIZES, ref=REF,
)  # fmt: skip


@instruction("cp.async.bulk.commit_group", since=SINCE, effects="memory", ref=REF)
def commit(m: Algebra[V]) -> None:
    """Makes a group of the copies to global memory so far."""


@instruction("cp.async.bulk.wait_group[.read] a:imm(u32)", since=SINCE, effects="memory", ref=REF)
def wait(m: Algebra[V], a: V) -> None:
    """Waits until at most `a` groups of copies are unfinished."""


@instruction("cp.async.bulk.prefetch.L2.global [a], c:u32", since=SINCE, effects="memory", ref=REF)
@instruction("cp.async.bulk.prefetch.L2.global.L2::cache_hint [a], c:u32, f:token(u64)", since=SINCE,
             effects="memory", ref=REF)  # fmt: skip
def prefetch(m: Algebra[V], a: V) -> None:
    """Prefetches into the second-level cache, which is not modelled."""
