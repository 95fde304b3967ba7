"""Control flow (PTX 1.4 section 7.7.7, tables 74-77) and the miscellaneous instructions (83-85).

Branches, calls and returns are declared only: the lowering turns them into the terminators of
`simt.analysis.program`.
"""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import control, instruction

control(
    "bra[.uni] target:label", "branch", "Continues at a label; with a guard, a conditional branch.",
    ref="PTX 1.4 table 74",
)  # fmt: skip
control(
    "brx.idx[.uni] a:u32, targets:labels", "indirect-branch",
    "Continues at the label that an index picks from a `.branchtargets` list.",
    since="6.0 sm_30", ref="PTX 6.0 brx.idx",
)  # fmt: skip
control(
    "call[.uni] ?r:arguments, f:function, ?a:arguments, ?targets:prototype", "call",
    "Calls a function; `targets` names the prototype or the `.calltargets` list of an indirect call.",
    ref="PTX 1.4 table 75",
)  # fmt: skip
control(
    "ret[.uni]", "return", "Returns from a function; in a kernel, ends the thread.", ref="PTX 1.4 table 76"
)
control("exit", "exit", "Ends the thread.", ref="PTX 1.4 table 77")

STACK = "7.3 sm_52"


class Alignments:
    """Numbers of bytes to which something can be aligned."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and 0 < value < 1 << 31 and value.bit_count() == 1

    def __str__(self) -> str:
        return "a power of two"


control(
    "alloca.type d, a[, b:imm(u32)]", "allocate",
    "Allocates `a` bytes of the function's stack frame, aligned to `b` (8 if left out); a local address.",
    type="u32 u64", since=STACK, ref="PTX 7.3 alloca", ranges={"b": Alignments()},
)  # fmt: skip
control(
    "stacksave.type d", "save-stack", "What `stackrestore` needs to free all later allocations.",
    type="u32 u64", since=STACK, ref="PTX 7.3 stacksave",
)  # fmt: skip
control(
    "stackrestore.type a", "restore-stack", "Frees all allocations since a `stacksave`.",
    type="u32 u64", since=STACK, ref="PTX 7.3 stackrestore", ranges={"a": ()},
)  # fmt: skip


@instruction("trap", effects="machine", ref="PTX 1.4 table 83")
def trap(m: Algebra[V]) -> None:
    """Stops the kernel with an error that the host sees.

    `simt.TrapError` names the thread. What other threads have stored by then stays.
    """
    m.trap()


@instruction("brkpt", since="sm_11", effects="machine breakpoint", ref="PTX 1.4 table 84", seam="*")
def brkpt(m: Algebra[V]) -> None:
    """Suspends the thread for a debugger.

    Here that is `Device.on_breakpoint`, and without one it does nothing; an H200 without a debugger ends the
    launch with an error, as for `trap` (recorded in `tests/hw/vectors/probes.npz`).
    """
    m.breakpoint()


@instruction(
    "pmevent a:imm(u32)", since="1.4", effects="machine event", ref="PTX 1.4 table 85",
    ranges={"a": range(16)}, seam="*",
)  # fmt: skip
def pmevent(m: Algebra[V], a: V) -> None:
    """Triggers the performance monitor event of that number.

    Nothing that the program can see changes.
    """
    m.event(a)


@instruction(
    "pmevent.mask a:imm(u32)", since="3.0 sm_20", effects="machine event", ref="PTX 3.0 pmevent",
    ranges={"a": range(1 << 16)}, seam="*",
)  # fmt: skip
def pmevent_mask(m: Algebra[V], a: V) -> None:
    """Triggers the performance monitor events whose bits are set."""
    m.events(a)


@instruction("nanosleep.type a", type="u32", since="6.2 sm_70", effects="machine", ref="PTX 6.3 nanosleep")
def nanosleep(m: Algebra[V], a: V) -> None:
    """Suspends the thread for about that many nanoseconds."""
    m.sleep(a)
