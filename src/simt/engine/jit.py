"""The fast engine: kernels as machine code, CTAs on native threads."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from simt.analysis.program import BARRIERS, Function, Program
from simt.analysis.shape import WARP, BlockShape
from simt.engine.abi import NATIVE_STACK, SPACES, WORKER_SLOTS, FaultKind, FaultSlot, LaunchSlot, WorkerSlot
from simt.engine.compile import Compiled, Compiler
from simt.engine.host import HOST, find_cpu
from simt.engine.llvm_barriers import TABLE_BYTES
from simt.engine.system_gate import SystemGate
from simt.engine.unsupported import Unsupported
from simt.errors import BarrierError, FaultSite, KernelFault, LaunchTimeout, TrapError
from simt.machine.faults import memory_fault, thread_of
from simt.machine.launch import Engine, Launch

Slots = NDArray[np.int64]
POLL_SECONDS = 0.05


class Jit:
    """Engine that compiles. What it cannot compile, `fallback` interprets; `reasons` says why, by kernel.

    `cpu`: what code is made for, as `simt.engine.host.find_cpu` takes it."""

    name = "jit"

    def __init__(self, cpu: str = HOST) -> None:
        self.compiler = Compiler(cpu=find_cpu(cpu))
        self._fallback: Engine | None = None
        self.reasons: dict[str, str] = {}
        self._made: WeakKeyDictionary[Program, dict[tuple[str, BlockShape], Compiled | None]] = (
            WeakKeyDictionary()
        )
        self._pool: ThreadPoolExecutor | None = None
        self._pool_size = 0
        self._pool_process = 0
        self._lock = threading.Lock()

    def launch(self, launch: Launch) -> None:
        compiled = self.compiled(launch.program, launch.kernel, BlockShape(*launch.block))
        if compiled is None:
            self.fallback.launch(launch)
            return
        run = _Run(launch, compiled)
        try:
            self._run(run)
        finally:
            run.release()

    @property
    def fallback(self) -> Engine:
        if self._fallback is None:
            from simt.engine.interpreter import Interpreter  # only if needed: start-up time

            self._fallback = Interpreter()
        return self._fallback

    def compiled(self, program: Program, kernel: Function, block: BlockShape) -> Compiled | None:
        """The kernel's machine code, None if only the interpreter runs it."""
        key = (kernel.name, block)
        with self._lock:
            made = self._made.setdefault(program, {})
            if key not in made:
                try:
                    made[key] = self.compiler.compile(program, kernel, block)
                except Unsupported as reason:
                    self.reasons[kernel.name] = str(reason)
                    made[key] = None
            return made[key]

    def _run(self, run: _Run) -> None:
        pool = self._threads(len(run.workers))
        futures = [pool.submit(run.work, i) for i in range(len(run.workers))]
        timed_out = False
        try:
            timed_out = run.wait(futures)
        except BaseException:  # Ctrl-C: stop the kernel, then let it pass
            run.stop()
            wait(futures)
            raise
        run.raise_fault(timed_out)

    def _threads(self, count: int) -> ThreadPoolExecutor:
        """Native threads with stacks deep enough for recursion in kernels."""
        with self._lock:
            # A forked process has none of its parent's threads.
            if self._pool is None or self._pool_size < count or self._pool_process != os.getpid():
                self._pool = ThreadPoolExecutor(count, thread_name_prefix="simt")
                self._pool_size = count
                self._pool_process = os.getpid()
                old = threading.stack_size(NATIVE_STACK)
                try:  # threads are made on demand: make them all now, with this stack size
                    gate = threading.Barrier(count + 1)
                    for _ in range(count):
                        self._pool.submit(gate.wait)
                    gate.wait()
                finally:
                    threading.stack_size(old)
            return self._pool


class _Run:
    """One launch: its memory blocks, and what became of it."""

    def __init__(self, launch: Launch, compiled: Compiled) -> None:
        self.launch = launch
        self.compiled = compiled
        self.owned: list[int] = []
        x, y, z = launch.grid
        self.ctas = x * y * z
        self.block = BlockShape(*launch.block)
        count = max(1, min(launch.workers, self.ctas))
        self.table = np.array([launch.symbols[name] for name in compiled.symbols] or [0], dtype=np.int64)
        self.contexts = [
            np.zeros(compiled.context * self.block.warps + TABLE_BYTES + 64, np.uint8) for _ in range(count)
        ]
        self.gate = SystemGate(launch, compiled.system, self.stop) if compiled.system else None
        try:
            self.workers = [self._worker(i) for i in range(count)]
            self.slots = self._launch_slots()
        except BaseException:
            self.release()
            raise

    def _allocate(self, nbytes: int) -> int:
        address = self.launch.memory.allocate(max(nbytes, 64))
        self.owned.append(address)
        return address

    def _launch_slots(self) -> Slots:
        launch, memory = self.launch, self.launch.memory
        parameters = self._allocate(len(launch.parameters))
        if launch.parameters:
            memory.view(parameters, len(launch.parameters))[:] = np.frombuffer(launch.parameters, np.uint8)
        values = {
            LaunchSlot.PARAMETERS: parameters,
            LaunchSlot.BASE: memory.base,
            LaunchSlot.LIMIT: memory.limit,
            LaunchSlot.GRID_X: launch.grid[0],
            LaunchSlot.GRID_Y: launch.grid[1],
            LaunchSlot.GRID_Z: launch.grid[2],
            LaunchSlot.CTAS: self.ctas,
            LaunchSlot.SHARED_BYTES: launch.shared_bytes,
            LaunchSlot.DYNAMIC_SHARED: max(0, launch.shared_bytes - launch.kernel.dynamic_shared),
            LaunchSlot.LOCAL_BYTES: self._local_bytes(),
            LaunchSlot.GRID_ID: launch.grid_id,
            LaunchSlot.SYMBOLS: self.table.ctypes.data,
            LaunchSlot.SM_COUNT: launch.device.sm_count,
            LaunchSlot.WARPS_OF_SM: launch.device.max_warps_per_multiprocessor,
            LaunchSlot.SYSTEM: self.gate.address if self.gate else 0,
        }
        slots = np.zeros(len(LaunchSlot), np.int64)
        for slot, value in values.items():
            slots[slot] = value
        return slots

    def _local_bytes(self) -> int:
        return (self.launch.local_bytes + 15) // 16 * 16

    def _worker(self, number: int) -> Slots:
        slots = np.zeros(WORKER_SLOTS, np.int64)
        slots[WorkerSlot.SHARED] = self._allocate(self.launch.shared_bytes)
        slots[WorkerSlot.LOCAL] = self._allocate(self._local_bytes() * WARP * self.block.warps)
        slots[WorkerSlot.CONTEXT] = (self.contexts[number].ctypes.data + 63) // 64 * 64
        slots[WorkerSlot.SM] = number
        return slots

    def release(self) -> None:
        for address in self.owned:
            self.launch.memory.free(address)
        self.owned.clear()

    def work(self, number: int) -> None:
        """Runs compiled code in this thread until no CTA is left."""
        self.compiled.entry(self.slots.ctypes.data, self.workers[number].ctypes.data)

    def stop(self) -> None:
        self.slots[LaunchSlot.ABORT] = 1

    def wait(self, futures: list[Future[None]]) -> bool:
        """Waits for all workers; True if the deadline passed first and they had to be stopped."""
        deadline, stopped = self.launch.deadline, False
        left = set(futures)
        while left:
            _, left = wait(left, timeout=POLL_SECONDS)
            if left and deadline is not None and not stopped and time.monotonic() > deadline:
                self.stop()
                stopped = True
            if callable(self.launch.progress):
                self.launch.progress(int(self.slots[LaunchSlot.FINISHED]))
        for future in futures:
            future.result()
        return stopped

    def raise_fault(self, timed_out: bool) -> None:
        """The fault of the lowest CTA, if there was any; a timeout if the kernel was stopped by it."""
        faults = [w[WorkerSlot.FAULT :] for w in self.workers if w[WorkerSlot.FAULT + FaultSlot.KIND]]
        real = [f for f in faults if f[FaultSlot.KIND] != FaultKind.ABORTED]
        if real:
            raise self._fault(min(real, key=lambda f: int(f[FaultSlot.CTA])))
        if timed_out:
            site = self._site(faults[0]) if faults else FaultSite(self.launch.kernel.name)
            raise LaunchTimeout("the kernel ran past its timeout and was stopped", site)

    def _site(self, fault: Slots) -> FaultSite:
        linear = int(fault[FaultSlot.WARP]) * WARP + int(fault[FaultSlot.LANE])
        line = int(fault[FaultSlot.LINE])
        return FaultSite(
            self.launch.kernel.name,
            thread_of(int(fault[FaultSlot.CTA]), self.launch.grid),
            thread_of(min(linear, self.block.threads - 1), self.launch.block),
            line or None,
            self.launch.program.text.name,
        )

    def _fault(self, fault: Slots) -> BaseException:
        site, kind = self._site(fault), FaultKind(int(fault[FaultSlot.KIND]))
        match kind:
            case FaultKind.TRAP:
                return TrapError("the kernel executed trap", site)
            case FaultKind.SYSTEM:
                assert self.gate is not None
                return self.gate.errors[int(fault[FaultSlot.ADDRESS])]
            case FaultKind.STACK:
                return KernelFault("call stack overflow: calls nest too deeply for local memory", site)
            case FaultKind.BARRIER:
                number = int(fault[FaultSlot.ADDRESS])
                return BarrierError(
                    f"deadlock: threads wait at barrier {number} that can never complete", site
                )
            case FaultKind.NO_BARRIER:
                number = int(fault[FaultSlot.ADDRESS])
                return BarrierError(f"there is no barrier {number}: a CTA has {BARRIERS}", site)
            case FaultKind.TARGET:
                return KernelFault(
                    "indirect branch or call to a target that is none of the listed ones", site
                )
            case _:
                address = ctypes.c_uint64(int(fault[FaultSlot.ADDRESS])).value
                space = SPACES[int(fault[FaultSlot.SPACE])]
                size = int(fault[FaultSlot.SIZE])
                return cast(
                    "KernelFault", memory_fault(site, address, size, space, kind is FaultKind.MISALIGNED)
                )
