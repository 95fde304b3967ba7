"""The fast engine: kernels as machine code, CTAs on native threads."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from math import prod
from weakref import WeakKeyDictionary

from simt.analysis.given import Variants, hold
from simt.analysis.joined import asked, is_for_all_grids, suits
from simt.analysis.outline import Function, Program
from simt.analysis.shape import BlockShape, Many
from simt.engine.compiler import Compiler
from simt.engine.drafts import NONE, Draft, Extent, extent_of
from simt.engine.fine import Fine
from simt.engine.going_over import Range, aligned, may_go_over, ranges, run_first
from simt.engine.host import HOST, find_cpu
from simt.engine.made import Compiled
from simt.engine.pool import Pool
from simt.engine.prepared import Host, Prepared
from simt.engine.repeat import Repeat, can_repeat
from simt.engine.unsupported import Unsupported
from simt.errors import CompilerWarning, SimtError, brief
from simt.imports import import_whole
from simt.machine.launch import Engine, Given, Launch, Replay
from simt.records import replace

KEPT = 1 << 20
"""Bytes of device memory of a worker that are kept for the next launch of the same kernel."""

MadeSoFar = dict[tuple[str, BlockShape], Compiled | None]
"""Code of a program's kernels, by name and shape; None for what only the interpreter runs."""


class Jit:
    """Engine that compiles. What it cannot compile, `fallback` interprets; `reasons` says why, by kernel.

    `cpu`: what code is made for, as `simt.engine.host.find_cpu` takes it. `drafts`: whether long code may be
    a draft for first launches (`simt.engine.drafts`); `short_drafts`: and short code too."""

    name = "jit"

    def __init__(self, cpu: str = HOST, drafts: bool = True, short_drafts: bool = False) -> None:
        self.compiler = Compiler(cpu=find_cpu(cpu), short_drafts=short_drafts)
        self._may_draft = drafts
        self._fallback: Engine | None = None
        self.reasons: dict[str, str] = {}
        self._made: WeakKeyDictionary[Program, MadeSoFar] = WeakKeyDictionary()
        self._variants: WeakKeyDictionary[Program, dict[str, Variants]] = WeakKeyDictionary()
        self._host: Host | None = None
        self._lock = threading.RLock()  # a handler of signals may launch while a kernel is compiled

    def launch(self, launch: Launch) -> None:
        prepared = launch.state
        if isinstance(prepared, Prepared) and (prepared.shares or _suits(prepared.compiled, launch)):
            self._run_kept(launch, prepared)
            return
        if launch.breakpoint is not None:  # who looks at a thread wants to see it as it is
            self.fallback.launch(launch)
            return
        with _uncounted(launch):
            if isinstance(prepared, Prepared):
                launch.state = None
                prepared.close()
            compiled = self._compiled_for(launch)
        if compiled is None:
            self.fallback.launch(launch)
            return
        prepared = Prepared(launch, compiled, self.host)
        with _held(launch, prepared):
            self._run(launch, prepared)

    def _run_kept(self, launch: Launch, prepared: Prepared) -> None:
        """Runs what is kept for the next launch, unless this one is stopped."""
        try:
            self._run(launch, prepared)
        except BaseException:
            launch.state = None
            prepared.close()  # at once: what a handler of signals raises in a finalizer is lost
            raise

    def _run(self, launch: Launch, prepared: Prepared) -> None:
        draft = prepared.compiled.draft
        launch.provisional = draft is not None
        if draft is None:
            coarse = prepared.compiled.coarse
            with nullcontext() if coarse is None else coarse.running(launch):
                prepared.run(launch)
            return
        was_long = draft.was_long
        try:
            if draft.suits_all(launch):
                with draft.running():
                    prepared.run(launch)
            else:
                self._begin(launch, prepared, draft)
        finally:  # a timeout may have ended it
            if draft.was_long and not was_long:
                what = launch.program, launch.kernel, _shape(launch, prepared.compiled)
                self.compiler.no_more_drafts(*what)

    def _begin(self, launch: Launch, prepared: Prepared, draft: Draft) -> None:
        """Runs a launch that may take long, which begins with a draft (`simt.engine.going_over`)."""
        run = partial(_run_part, launch, prepared)
        before, ctas = prepared.compiled.block, prod(prepared.compiled.block.grid(launch.grid))
        with draft.running():
            done = run_first(run, ctas, launch.workers, launch.kernel)
        if done == ctas:
            return
        with _uncounted(launch):
            better = self.compiled(launch.program, launch.kernel, _shape(launch, prepared.compiled))
        if better is None or not may_go_over(before, better.block):
            with draft.running():
                run(done, ctas)
            return
        end = aligned(done, launch.grid, before, better.block)
        if done < end:
            run(done, end)
        prepared.close()
        self._go_on(launch, better, ranges(end, launch.grid, before, better.block))

    def _go_on(self, launch: Launch, better: Compiled, left: Sequence[Range]) -> None:
        """Runs what is left of a launch, with code for later ones, too."""
        prepared = Prepared(launch, better, self.host)
        launch.provisional = better.coarse is not None
        done = prod(better.block.grid(launch.grid)) - sum(last - first for first, last in left)
        with _held(launch, prepared):
            for first, last in left:
                _run_part(launch, prepared, first, last, done)
                done += last - first

    def _compiled_for(self, launch: Launch) -> Compiled | None:
        """Code for a launch: maybe a draft, better code once that has run for some time."""
        what = launch.program, launch.kernel, self.shape_of(launch)
        compiled = self.compiled(*what, extent_of(launch) if self._may_draft else NONE)
        if compiled is not None and compiled.coarse is not None and compiled.coarse.is_known:
            compiled = self._finer(*what)
        return compiled if compiled is None or _suits(compiled, launch) else self.compiled(*what)

    def shape_of(self, launch: Launch) -> BlockShape:
        """What code for a launch is made for, by what launches of the kernel have had so far."""
        shape = asked(launch.block, launch.grid, launch.kernel)
        if not launch.kernel.factors and not launch.kernel.ways:
            return shape
        variants = self._variants.setdefault(launch.program, {}).setdefault(launch.kernel.name, Variants())
        return replace(shape, numbers=variants.best(launch.kernel, launch.parameters))

    def repeat(self, launch: Launch, given: Given) -> Repeat | None:
        """The launch that has just ended, to be made once more. None if it is to be launched as others."""
        prepared = launch.state
        if not isinstance(prepared, Prepared) or not can_repeat(launch, prepared):
            return None
        if not hold(prepared.compiled.block.numbers, given.parameters):  # the launch had other integers
            return None
        return Repeat(launch, prepared, given)

    def sequence(self, launches: Sequence[Launch]) -> Replay:
        """Launches to be run one after the other, any number of times."""
        import_whole("simt.engine.jit_sequence")
        from simt.engine.jit_sequence import NativeSequence  # only if needed: start-up time

        return NativeSequence(self, launches)

    @property
    def host(self) -> Host:
        """The same for all launches, those too that a handler of signals makes while it is being made."""
        if self._host is None:
            native = self.compiler.native()
            made = Host(native, Pool(native), self.compiler.fetcher)
            self._host = self._host or made
        return self._host

    @property
    def fallback(self) -> Engine:
        if self._fallback is None:
            import_whole("simt.engine.interpreter")
            from simt.engine.interpreter import Interpreter  # only if needed: start-up time

            self._fallback = Interpreter()
        return self._fallback

    def compiled(
        self, program: Program, kernel: Function, block: BlockShape, extent: Extent = NONE
    ) -> Compiled | None:
        """The kernel's machine code, None if only the interpreter runs it. `extent` of the launch that it is
        for, if it may be a draft."""
        key = (kernel.name, block)
        with self._lock:
            made = self._made.setdefault(program, {})
            found = made.get(key)
            draft = found.draft if found is not None else None
            if key not in made or (draft is not None and extent == NONE):
                source = draft.source if draft is not None else None
                make = partial(self.compiler.compile, program, kernel, block, extent, source)
                self._make(made, kernel, block, make)
            return made[key]

    def _finer(self, program: Program, kernel: Function, block: BlockShape) -> Compiled | None:
        """The kernel's code, after what is coarse, or was, has run for long enough."""
        with self._lock:
            made = self._made[program]
            found = made[kernel.name, block]
            if found is not None and found.coarse is not None and found.coarse.is_known:
                is_fine = isinstance(found.coarse, Fine)
                what = self.compiler.better if is_fine else self.compiler.finer
                self._make(made, kernel, block, partial(what, program, kernel, block, found))
            return made[kernel.name, block]

    def _make(
        self, made: MadeSoFar, kernel: Function, block: BlockShape, make: Callable[[], Compiled]
    ) -> None:
        """Has code made, in place of what there is, if anything."""
        key = (kernel.name, block)
        before = made.get(key)
        try:
            made[key] = found = make()
            if is_for_all_grids(found.block):
                made |= {(kernel.name, replace(block, many=many)): found for many in Many}
        except Unsupported as reason:
            self.reasons[kernel.name] = str(reason)
            made[key] = None
        except Exception as fault:  # a fault of ours is no reason to stop a program
            if not _is_ours(fault):
                raise
            made[key] = None if before is None else replace(before, draft=None, coarse=None)
            self._failed(kernel, fault, before is not None)

    def _failed(self, kernel: Function, fault: Exception, has_draft: bool) -> None:
        """Says that compiling a kernel failed. `has_draft`: code made quickly is there, and stays."""
        what = f"{type(fault).__name__}: {fault}".splitlines()[0]
        if not has_draft:
            self.reasons[kernel.name] = f"it, by a fault of simt's own ({what})"
        instead = "keeps the code that was made quickly" if has_draft else "is interpreted"
        message = f"compiling kernel {brief(kernel.name)} failed ({what}); it {instead}"
        asked = "This is a fault of simt's: please report it with the PTX."
        warnings.warn(f"{message}. {asked}", CompilerWarning, stacklevel=2)


@contextmanager
def _uncounted(launch: Launch) -> Generator[None]:
    """While a launch's time does not run: it is about running, not compiling."""
    started = time.monotonic()
    yield
    if launch.deadline is not None:
        launch.deadline += time.monotonic() - started


@contextmanager
def _held(launch: Launch, prepared: Prepared) -> Generator[None]:
    """While a launch runs what is kept for the next one, if that is little and the launch is not stopped."""
    keeps = prepared.crew.need.device_bytes <= KEPT
    launch.state = prepared if keeps else None
    try:
        yield
    except BaseException:
        launch.state, keeps = None, False
        raise
    finally:
        if not keeps:
            prepared.close()


def _run_part(launch: Launch, prepared: Prepared, first: int, last: int, done: int | None = None) -> int:
    """Runs CTAs from a first one up to a last, which it does not run: nanoseconds. `done`: how many have run
    before, if not all up to the first."""
    prepared.part, prepared.done = (first, last), first if done is None else done
    started = time.perf_counter_ns()
    try:
        prepared.run(launch)
    finally:
        prepared.part, prepared.done = None, 0
    return time.perf_counter_ns() - started


def _shape(launch: Launch, compiled: Compiled) -> BlockShape:
    """For which the code of a launch was made."""
    shape = asked(launch.block, launch.grid, launch.kernel)
    return replace(shape, numbers=compiled.block.numbers)


def _is_ours(fault: Exception) -> bool:
    """Whether simt's code or llvmlite's raised it, not a handler of signals that ran meanwhile, nor the
    machine."""
    if isinstance(fault, SimtError | MemoryError | OSError):
        return False
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
    return module.partition(".")[0] in ("simt", "llvmlite")


def _suits(compiled: Compiled, launch: Launch) -> bool:
    """Whether code is good enough for a launch, which is the next one."""
    block = compiled.block
    is_right = suits(block, asked(launch.block, launch.grid, launch.kernel))
    is_right = is_right and hold(block.numbers, launch.parameters)
    if not is_right or (compiled.draft is not None and not compiled.draft.suits(launch)):
        return False
    return compiled.coarse is None or not compiled.coarse.is_known
