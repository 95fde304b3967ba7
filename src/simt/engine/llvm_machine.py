"""The machine as LLVM IR: special registers, the blocks of a launch and of a worker, events, fences."""

from __future__ import annotations

from collections.abc import Iterable

from simt.analysis.outline import EVENTS
from simt.analysis.shape import WARP
from simt.engine.abi import LaunchSlot, WorkerSlot
from simt.engine.integers import lane_masks
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import KEEP_ORDER, Value
from simt.engine.llvm_clock import nanoseconds
from simt.engine.llvm_lanes import Lanes
from simt.engine.llvm_quotients import QuotientAlgebra
from simt.isa.special_registers import lookup
from simt.ptx.types import U32, bits_type

WARP_FIRST = "%warp.first"
"""The linear number of the warp's first thread, an i32 of every function's frame."""


class MachineAlgebra(QuotientAlgebra):
    """`QuotientAlgebra` with special registers, and effects that have no data.

    `launch`, `worker`: IR names of pointers to the blocks of `simt.engine.abi`. `warp`: the warp's number
    (i32). `cta`: the CTA's coordinates (i32 each). `in_order`: some code was emitted by which threads may
    tell what other threads have done before.
    """

    launch, worker = "%launch", "%worker"
    warp = Value("%warp", "i32")
    cta = tuple(Value(f"%cta.{c}", "i32") for c in "xyz")
    in_order = False

    # -- blocks ------------------------------------------------------------------------------------

    def launch_slot(self, slot: int) -> Value:
        return self._slot(self.launch, slot)

    def worker_slot(self, slot: int) -> Value:
        return self._slot(self.worker, slot)

    def _slot(self, base: str, slot: int) -> Value:
        place = self.builder.emit(f"getelementptr i64, ptr {base}, i64 {slot}")
        return Value(self.builder.emit(f"load i64, ptr {place}, align 8"), "i64")

    def pointer(self, address: Value) -> str:
        return self.builder.emit(f"inttoptr i64 {address.ir} to ptr")

    # -- special registers -----------------------------------------------------------------------

    def special(self, name: str, component: str) -> Value:
        """A special register, in the type that the machine supplies (`SpecialRegister.type`)."""
        value = self._special(name, component)
        entry = lookup(f"%{name}", component)
        wanted = f"i{entry.type.bits}" if entry is not None else value.type
        return value if value.type == wanted else self.resize(U32, bits_type(int(wanted[1:])), value)

    def _special(self, name: str, component: str) -> Value:
        axis = self.block.axis(component)
        if component == "w":
            return Value("0", "i32")
        match name:
            case "tid":
                return self._tid(axis, Value(WARP_FIRST, "i32"))
            case "ntid":
                return Value(str((self.block.columns, self.block.y, self.block.z)[axis]), "i32")
            case "ctaid" | "clusterid":  # every CTA is a cluster of its own
                if self.block.joins and axis == 0:
                    return self._joined_cta()
                return Lanes(self.cta[axis].ir, "i32", 1, self.block.special("ctaid", component))
            case "nctaid" | "nclusterid":
                slot = LaunchSlot.GRID_X + "xyz".find(component)  # whatever is exchanged
                if self.block.joins and component == "x":
                    slot = LaunchSlot.GRID_COLUMNS
                return self._low(self.launch_slot(slot))
            case "laneid":
                return self.lane()
            case "warpid":
                return self.warp
            case _:
                return self._rare(name)

    def _rare(self, name: str) -> Value:
        if name.startswith("lanemask_"):
            return self.constant_lanes("i32", lane_masks(name[-2:]))
        match name:
            case "nwarpid":
                return self._low(self.launch_slot(LaunchSlot.WARPS_OF_SM))
            case "smid":
                return self._low(self.worker_slot(WorkerSlot.SM))
            case "nsmid":
                return self._low(self.launch_slot(LaunchSlot.SM_COUNT))
            case "gridid":
                return self.launch_slot(LaunchSlot.GRID_ID)
            case "clock" | "clock64" | "clock_hi" | "globaltimer" | "globaltimer_lo" | "globaltimer_hi":
                return self._clock(name)
            case "total_smem_size" | "aggr_smem_size":
                return self._low(self.launch_slot(LaunchSlot.SHARED_BYTES))
            case "dynamic_smem_size":
                return self._low(self.launch_slot(LaunchSlot.DYNAMIC_SHARED))
            case "is_explicit_cluster":
                return Value("false", "i1")
            case "envreg2":
                return self._low(self.launch_slot(LaunchSlot.WORKSPACE))
            case "envreg1":
                workspace = self.launch_slot(LaunchSlot.WORKSPACE)
                return self._low(Value(self.builder.emit(f"lshr i64 {workspace.ir}, 32"), "i64"))
            case _:
                return self._cluster(name)

    def _cluster(self, name: str) -> Value:
        """A cluster's extent is one CTA; the remaining registers read as zero."""
        ones = ("cluster_nctaid", "cluster_nctarank")
        return Value("1" if name in ones else "0", "i32")

    def _low(self, value: Value) -> Value:
        return Value(self.builder.emit(f"trunc i64 {value.ir} to i32"), "i32")

    def _clock(self, name: str) -> Value:
        if name.startswith("globaltimer"):
            now = Value(self.builder.emit(f"call i64 {nanoseconds(self.module)}()"), "i64")
        else:
            now = self.worker_slot(WorkerSlot.CLOCK)
        if name.endswith("_hi"):
            now = Value(self.builder.emit(f"lshr i64 {now.ir}, 32"), "i64")
        return now if name in ("clock64", "globaltimer") else self._low(now)

    def _joined_cta(self) -> Value:
        """`%ctaid.x` where several CTAs are taken as one."""
        first = self.mul(U32, self.cta[0], self.const(U32, self.block.ctas))
        return Lanes(first.ir, "i32", 1, self.block.special("ctaid", "x"))

    def _tid(self, axis: int, first: Value) -> Value:
        """`first`: the linear number of the warp's first thread."""
        block = self.block
        if block.counts_ctas and axis == 0:
            return Value("0", "i32")
        if block.linear:
            starts = self._row_starts(first)
            return Lanes(starts.ir, "i32", starts.width, block.column) if axis == 0 else Value("0", "i32")
        if not block.rows_fit:
            steps = self.constant_lanes("i32", list(range(WARP)))
            number = LlvmIntegers.binary(self, "add", self.widened(first, WARP), steps)
            return self.shaped(self._coordinate(number, axis), block.coordinate(axis))
        if block.segments == 1 or block.is_cut:
            value = self._coordinate(first, axis)
            if axis != 0:
                return value
            starts = self._row_starts(value)
            return Lanes(starts.ir, "i32", starts.width, block.column)
        if axis == 0:
            return Lanes("0", "i32", 1, block.column)
        shape = block.coordinate(axis)
        value = self._coordinate(first if shape.is_uniform else self._row_starts(first), axis)
        return Lanes(value.ir, "i32", value.width, shape)

    def _row_starts(self, first: Value) -> Value:
        """The linear number (or column) of the first thread in each row of the warp. `first`: the warp's."""
        rows = self.block.segments
        if rows == 1:
            return first
        steps = self.constant_lanes("i32", [row * self.segment for row in range(rows)])
        return LlvmIntegers.binary(self, "add", self.widened(first, rows), steps)

    def _coordinate(self, linear: Value, axis: int) -> Value:
        """One coordinate of a thread's linear number."""
        size, below = (
            (self.block.x, 1),
            (self.block.y, self.block.x),
            (self.block.z, self.block.x * self.block.y),
        )[axis]
        quotient = LlvmIntegers.binary(
            self, "udiv", linear, self.widened(Value(str(below), "i32"), linear.width)
        )
        if axis == 2:
            return quotient
        return LlvmIntegers.binary(
            self, "urem", quotient, self.widened(Value(str(size), "i32"), linear.width)
        )

    # -- effects without data ------------------------------------------------------------------------

    def fence(self, level: str) -> None:
        """A CTA's threads are run by one thread of the CPU, which sees its own accesses in order: among them
        it is enough that LLVM keeps it."""
        self.in_order = True
        self.builder.void(KEEP_ORDER if level == "cta" else "fence seq_cst")

    def breakpoint(self) -> None:
        """Ignored: no debugger is attached to compiled code."""

    def event(self, number: Value) -> None:
        self._count_events((int(number.ir) % EVENTS,))

    def events(self, mask: Value) -> None:
        self._count_events(n for n in range(EVENTS) if int(mask.ir) >> n & 1)

    def _count_events(self, numbers: Iterable[int]) -> None:
        """One for the warp, which has a lane here: ops with effects are skipped without."""
        counters = self.pointer(self.launch_slot(LaunchSlot.EVENTS))
        for n in numbers:
            place = self.builder.emit(f"getelementptr i64, ptr {counters}, i64 {n}")
            self.builder.emit(f"atomicrmw add ptr {place}, i64 1 monotonic, align 8")

    def sleep(self, nanoseconds: Value) -> None:
        """A hint: waiting is left to the scheduler."""
