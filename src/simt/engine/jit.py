"""The fast engine: kernels as machine code, CTAs on native threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

from simt.analysis.outline import Function, Program
from simt.analysis.shape import BlockShape
from simt.engine.compile import Compiled, Compiler
from simt.engine.host import HOST, find_cpu
from simt.engine.pool import Pool
from simt.engine.prepared import Host, Prepared
from simt.engine.repeat import Repeat, can_repeat
from simt.engine.unsupported import Unsupported
from simt.machine.launch import Engine, Given, Launch, Replay

KEPT = 1 << 20
"""Bytes of device memory of a worker that are kept for the next launch of the same kernel."""


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
        self._lock = threading.RLock()  # a handler of signals may launch while a kernel is compiled

    def launch(self, launch: Launch) -> None:
        prepared = launch.state
        if isinstance(prepared, Prepared):
            prepared.run(launch)
            return
        if launch.breakpoint is not None:  # who looks at a thread wants to see it as it is
            self.fallback.launch(launch)
            return
        started = time.monotonic()
        compiled = self.compiled(launch.program, launch.kernel, BlockShape(*launch.block))
        if launch.deadline is not None:  # it is about running, not compiling
            launch.deadline += time.monotonic() - started
        if compiled is None:
            self.fallback.launch(launch)
            return
        prepared = Prepared(launch, compiled, self.host)
        if not compiled.system and prepared.crew.need.device_bytes <= KEPT:
            launch.state = prepared
            prepared.run(launch)
            return
        try:
            prepared.run(launch)
        finally:
            prepared.close()

    def repeat(self, launch: Launch, given: Given) -> Repeat | None:
        """The launch that has just ended, to be made once more. None if it is to be launched as others."""
        prepared = launch.state
        if not isinstance(prepared, Prepared) or not can_repeat(launch, prepared):
            return None
        return Repeat(launch, prepared, given)

    def sequence(self, launches: Sequence[Launch]) -> Replay:
        """Launches to be run one after the other, any number of times."""
        from simt.engine.jit_sequence import NativeSequence  # only if needed: start-up time

        return NativeSequence(self, launches)

    @cached_property
    def host(self) -> Host:
        native = self.compiler.native()
        return Host(native, Pool(native))

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
