"""Special registers (PTX 1.4 chapter 8, tables 86-95, and the later ones).

`mov` and `cvt` are the only instructions that read them.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.isa.catalogue import requirement
from simt.isa.form import Requirement, Version
from simt.ptx.types import PRED, U16, U32, U64, Type
from simt.records import dataclass

COMPONENTS = ("x", "y", "z", "w")
READERS = frozenset({"mov", "cvt"})
"""The instructions that read special registers (chapter 8)."""


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """One predefined read-only register.

    `name` has its `%`. `type`: what the machine supplies (`Algebra.special`) and what modules see since
    PTX 2.0; `old_type`: as declared by PTX 1.x (see `declared`). `vector`: it is a `.v4` with the components
    x, y, z, w, of which w reads as zero. `widths`: sizes in bits of registers into which `mov` may read it.
    """

    name: str
    type: Type
    summary: str
    ref: str
    requirement: Requirement
    vector: bool = False
    old_type: Type | None = None
    widths: tuple[int, ...] = ()

    @property
    def components(self) -> tuple[str, ...]:
        """The components that may be read; "" for a scalar."""
        return COMPONENTS if self.vector else ("",)

    def declared(self, version: Version) -> Type:
        """The declared type of the register (of one component) in a module of this version."""
        return self.old_type if self.old_type is not None and version < (2, 0) else self.type


def lookup(name: str, component: str = "", version: Version = (99, 0)) -> SpecialRegister | None:
    """The register called `name` (`%` included), None if a module of this version has none of that name,
    or if it has no such component. Component "" is the scalar, or the whole of a vector."""
    found = SPECIAL_REGISTERS.get(name)
    if found is None or version < found.requirement.version:
        return None
    return found if component == "" or component in found.components else None


def _one(
    name: str,
    t: Type,
    since: str,
    ref: str,
    summary: str,
    vector: bool = False,
    old: Type | None = None,
    widths: tuple[int, ...] = (),
) -> SpecialRegister:
    return SpecialRegister(name, t, summary, ref, requirement(since), vector, old, widths or (t.bits,))


def _shapes() -> Iterator[SpecialRegister]:
    old = (
        ("tid", 86, "Index of the thread within its CTA."),
        ("ntid", 87, "Shape of the CTA, in threads."),
        ("ctaid", 90, "Index of the CTA within the grid."),
        ("nctaid", 91, "Shape of the grid, in CTAs."),
    )
    for name, table, summary in old:
        yield _one(f"%{name}", U32, "1.0", f"PTX 1.4 table {table}", summary, True, U16, (16, 32))
    clusters = (
        ("clusterid", "Index of the cluster within the grid."),
        ("nclusterid", "Shape of the grid, in clusters."),
        ("cluster_ctaid", "Index of the CTA within its cluster."),
        ("cluster_nctaid", "Shape of the cluster, in CTAs."),
    )
    for name, summary in clusters:
        yield _one(f"%{name}", U32, "7.8 sm_90", "PTX 7.8 cluster registers", summary, True)
    ranks = (
        ("cluster_ctarank", "Number of the CTA within its cluster."),
        ("cluster_nctarank", "Number of CTAs in the cluster."),
    )
    for name, summary in ranks:
        yield _one(f"%{name}", U32, "7.8 sm_90", "PTX 7.8 cluster registers", summary)
    yield _one(
        "%is_explicit_cluster",
        PRED,
        "7.8 sm_90",
        "PTX 7.8 cluster registers",
        "Whether the launch asked for clusters.",
    )


def _warps() -> Iterator[SpecialRegister]:
    yield _one("%laneid", U32, "1.3", "PTX 1.4 table 88", "Number of the lane within its warp.")
    yield _one("%warpid", U32, "1.3", "PTX 1.4 table 89", "Number of the warp within its CTA.")
    yield _one("%nwarpid", U32, "2.0 sm_20", "PTX 2.0 %nwarpid", "Most warps that an SM can hold.")
    yield _one("%smid", U32, "1.3", "PTX 1.4 table 92", "Number of the SM that runs the thread.")
    yield _one("%nsmid", U32, "2.0 sm_20", "PTX 2.0 %nsmid", "Number of SM identifiers.")
    yield _one("%gridid", U64, "1.0", "PTX 1.4 table 93", "Number of the launch.", False, U32, (16, 32, 64))
    for relation, words in (("eq", "at"), ("le", "up to"), ("lt", "below"), ("ge", "from"), ("gt", "above")):
        yield _one(
            f"%lanemask_{relation}",
            U32,
            "2.0 sm_20",
            "PTX 2.0 %lanemask",
            f"Mask with a one for each lane number {words} the thread's own.",
        )


CLOCK = (
    "Cycle counter: the instructions that the warp has executed, from 0 on; a warp that waits executes none."
)


CLOCKS = frozenset({"%clock", "%clock_hi", "%clock64"})
"""The counters that count instructions, not time."""


def _counters() -> Iterator[SpecialRegister]:
    yield _one("%clock", U32, "1.0", "PTX 1.4 table 94", "Cycle counter, lower half: see `%clock64`.")
    yield _one(
        "%clock_hi", U32, "5.0 sm_20", "PTX 5.0 %clock_hi", "Cycle counter, upper half: see `%clock64`."
    )
    yield _one("%clock64", U64, "2.0 sm_20", "PTX 2.0 %clock64", CLOCK)
    for name, t, words in (("", U64, ""), ("_lo", U32, ", lower half"), ("_hi", U32, ", upper half")):
        yield _one(
            f"%globaltimer{name}", t, "3.1 sm_30", "PTX 3.1 %globaltimer", f"Nanoseconds since 1970{words}."
        )
    for n in range(8):
        since, ref = ("1.3", "PTX 1.4 table 95") if n < 4 else ("3.0 sm_20", "PTX 3.0 %pm")
        yield _one(f"%pm{n}", U32, since, ref, f"Performance counter {n}; zero here.")
        yield _one(
            f"%pm{n}_64", U64, "4.0 sm_50", "PTX 4.0 %pm_64", f"Performance counter {n}, 64 bits; zero here."
        )


OWN_CONSTANT = ", though an H200's driver keeps a constant of its own there"
WORKSPACE = ", but in cooperative launches the {} half of the address of memory for barriers of the grid"
DRIVER_VALUES = {
    **dict.fromkeys((0, 6, 10), OWN_CONSTANT),
    1: WORKSPACE.format("upper"),
    2: WORKSPACE.format("lower"),
}
"""What is known of values that are not always zero on an H200 (`tests/hw/test_environment.py`)."""


SYSTEM_MEMORY = "%reserved_smem"
SYSTEM_BYTES, SYSTEM_ALIGN = 1024, 128
"""Shared memory of the system, in CTAs of kernels that ask where it is: a GPU's keeps as much."""
SYSTEM_PLACES = {"begin": 0, "end": SYSTEM_BYTES, "0": 0, "1": SYSTEM_BYTES // 2}
"""What its registers `%reserved_smem_offset_...` point to, from where it begins. Cooperative groups keep
barriers and words of tiles of several warps at the last one."""
SYSTEM_CAPACITY = "%reserved_smem_offset_cap"
"""The register that tells its size."""


def system_place(name: str) -> int | None:
    """Where in the system's shared memory a register points, None for every other one."""
    before, _, which = name.rpartition("_")
    return SYSTEM_PLACES.get(which) if before == "%reserved_smem_offset" else None


def _launch() -> Iterator[SpecialRegister]:
    for n in range(32):
        words = f"Driver value {n}; zero here{DRIVER_VALUES.get(n, '')}."
        yield _one(f"%envreg{n}", U32, "2.0 sm_20", "PTX 2.1 %envreg", words)
    sizes = (
        ("dynamic", "4.1 sm_20", "Bytes of shared memory asked for at launch."),
        ("total", "4.1 sm_20", "Bytes of shared memory of the CTA, static and dynamic."),
        ("aggr", "8.1 sm_90", "Bytes of shared memory of the CTA, what the system keeps included."),
    )
    for name, since, summary in sizes:
        yield _one(f"%{name}_smem_size", U32, since, f"PTX {since.split()[0]} %{name}_smem_size", summary)
    since, ref = "7.6 sm_80", "PTX 7.6 %reserved_smem_offset"
    for name in SYSTEM_PLACES:
        words = "Place in the shared memory that the system keeps for itself."
        yield _one(f"%reserved_smem_offset_{name}", U32, since, ref, words)
    yield _one(SYSTEM_CAPACITY, U32, since, ref, "Bytes of shared memory that the system keeps for itself.")
    yield _one(
        "%current_graph_exec",
        U64,
        "8.0 sm_50",
        "PTX 8.0 %current_graph_exec",
        "Handle of the running graph; zero, as there is none.",
    )


SPECIAL_REGISTERS: dict[str, SpecialRegister] = {
    r.name: r for group in (_shapes, _warps, _counters, _launch) for r in group()
}
"""Every special register by its name."""
