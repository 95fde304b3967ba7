"""Kernels as machine code in memory: from the cache, or made now.

A process all of whose code is in the cache does without LLVM, which takes as long to load as NumPy does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from simt.analysis.outline import Function, Program
from simt.analysis.shape import BlockShape
from simt.digests import digest
from simt.engine.abi import (
    ASK,
    DRAIN,
    FETCH,
    HIRE,
    JOIN,
    KERNEL,
    LINGER,
    REPEAT,
    RUN,
    SERVE,
    SYSTEM,
    WITHDRAW,
    YIELD,
)
from simt.engine.cache import ObjectCache, code_fingerprint, llvm_fingerprint
from simt.engine.drafts import NONE, Draft, Extent, Source, Terms, can_be_cut
from simt.engine.fine import Coarse, Fine
from simt.engine.host import Cpu, host_cpu
from simt.engine.made import Compiled, Made, Native, objects_of
from simt.engine.native_fibers import can_switch
from simt.engine.placing import Unplaceable, can_place, place
from simt.engine.system_gate import SystemCall
from simt.imports import Later, import_whole
from simt.records import replace

if TYPE_CHECKING:
    from simt.engine import compile as compiling
    from simt.engine import linking
    from simt.engine.llvm_common import Common
    from simt.isa.texels import Sampling
else:
    compiling, linking = Later("simt.engine.compile"), Later("simt.engine.linking")


class Compiler:
    """Compiles kernels for a CPU whose code this machine runs (its own if none is named), and links them.
    `short_drafts`: short code may be a draft as long code may (`simt.engine.drafts`)."""

    def __init__(
        self, objects: ObjectCache | None = None, cpu: Cpu | None = None, short_drafts: bool = False
    ) -> None:
        self.objects = objects or ObjectCache()
        self.cpu = cpu or host_cpu()
        self.short_drafts = short_drafts
        self.identity = "\n".join((code_fingerprint(), llvm_fingerprint(), self.cpu.identity))
        self._common: Common | None = None
        self._begun = False
        self._fetchers: dict[Sampling, tuple[int, object]] = {}

    def compile(
        self,
        program: Program,
        kernel: Function,
        block: BlockShape,
        extent: Extent = NONE,
        drafted: Source | None = None,
    ) -> Compiled:
        """Machine code of a kernel, from the cache or made now. `extent` of the first launch, if its code
        may be a draft (`simt.engine.drafts`); `drafted`: of what there is so far. Raises `Unsupported`."""
        key = self._key(program, kernel, block)
        found = self.objects.load(key)
        if found is not None and _may_serve(found[0], extent, self.short_drafts):
            made = Made(*found, None)
        else:
            if drafted is not None and extent == NONE:
                made = compiling.better(drafted, self.cpu)
            else:
                extent = extent if found is None else NONE
                common = self._common_of(program)
                made = compiling.generate(program, kernel, block, self.cpu, extent, self.short_drafts, common)
            self.objects.store(key, made.header, made.image)
        return self._compiled(made)

    def finer(self, program: Program, kernel: Function, block: BlockShape, coarse: Compiled) -> Compiled:
        """Fine code of a large kernel (`simt.engine.fine`), or what there is if that would be too long.
        Raises `Unsupported`."""
        key, made = self._key(program, kernel, block), compiling.finer(program, kernel, block, self.cpu)
        kept = self.objects.load(key)
        if made is None:
            self._keep_coarse(key, kept)
            return replace(coarse, coarse=None)
        self.objects.store(key, made.header, made.image)
        return replace(self._compiled(made), coarse=Fine(coarse, kept))

    def better(self, program: Program, kernel: Function, block: BlockShape, fine: Compiled) -> Compiled:
        """Fine code, or that from before, which the cache has again then."""
        found = fine.coarse
        if not isinstance(found, Fine) or not found.is_worse:
            return replace(fine, coarse=None)
        self._keep_coarse(self._key(program, kernel, block), found.kept)
        return replace(found.before, coarse=None)

    def _keep_coarse(self, key: str, kept: tuple[dict[str, object], bytes] | None) -> None:
        """No process is to look for better code any more. `kept`: what the cache had, if it had any."""
        if kept is not None:
            self.objects.store(key, {**kept[0], "coarse": 0}, kept[1])

    def _compiled(self, made: Made) -> Compiled:
        """Code in memory, linked."""
        header = made.header
        symbols = tuple(cast("list[str]", header["symbols"]))
        (address,), code = self._link(objects_of(header, made.image), KERNEL)
        entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
        system = tuple(SystemCall(n, tuple(p), tuple(r)) for n, p, r in cast("list[Any]", header["system"]))
        context = cast("int", header["context"])
        spins, locks, shallow = (bool(header[name]) for name in ("spins", "locks", "shallow"))
        shape = _block(cast("dict[str, Any]", header["block"]))
        draft = None
        if header["draft"]:
            draft = Draft(_terms(header), self.short_drafts, _can_be_cut(header), made.draft)
        fetches = tuple((geometry, t) for geometry, t in cast("list[tuple[str, str]]", header["fetches"]))
        ops = cast("int", header["coarse"])
        coarse = Coarse(ops, patient=self.short_drafts) if ops else None
        return Compiled(
            entry, address, symbols, context, system, spins, locks, shallow, fetches, shape, code, draft,
            coarse,
        )  # fmt: skip

    def _common_of(self, program: Program) -> Common | None:
        """What kernels share. None for the first one of all, if its program has no other."""
        if self._common is None and (self._begun or len(program.kernels) > 1):
            import_whole("simt.engine.llvm_common")
            from simt.engine.llvm_common import Common  # only for several kernels: start-up time

            self._common = Common()
        self._begun = True
        return self._common

    def no_more_drafts(self, program: Program, kernel: Function, block: BlockShape) -> None:
        """Later processes are to begin with better code than the draft in the cache."""
        key = self._key(program, kernel, block)
        found = self.objects.load(key)
        if found is not None and found[0]["draft"]:
            self.objects.store(key, {**found[0], "long": True}, found[1])

    def native(self) -> Native:
        """The functions that run launches on the thread of the caller, from the cache or made now."""
        image = self._cached("native", lambda: compiling.native(self.cpu))
        names = RUN, SERVE, LINGER, ASK, WITHDRAW, JOIN, YIELD, DRAIN, SYSTEM, HIRE, REPEAT
        addresses, code = self._link([image], *names)
        run, serve, linger, ask, withdraw, join, yields, drain, system, hire, repeat = addresses
        place, number, truth = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
        return Native(
            ctypes.PYFUNCTYPE(number, place)(run),
            serve,
            ctypes.CFUNCTYPE(None, place)(linger),
            ctypes.PYFUNCTYPE(number, place, place, number, place, place, place, place, number)(ask),
            ctypes.PYFUNCTYPE(number, place, number, number)(withdraw),
            ctypes.CFUNCTYPE(truth, place, number, number, number)(join),
            yields,
            drain,
            system,
            ctypes.PYFUNCTYPE(None, place, place, place, place, number)(hire)
            if can_switch(self.cpu.features)
            else None,
            repeat,
            code,
        )

    def fetcher(self, sampling: Sampling) -> int:
        """Address of the function that fetches from textures of a kind, which lasts as long as this."""
        found = self._fetchers.get(sampling)
        if found is None:
            image = self._cached(f"fetch {sampling}", lambda: compiling.fetcher(sampling, self.cpu))
            (address,), code = self._link([image], FETCH)
            found = self._fetchers[sampling] = address, code
        return found[0]

    def _cached(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Object code that is no kernel's, by what it is for: from the cache or made now."""
        key = digest("\0".join((self.identity, name)).encode()).hex()
        found = self.objects.load(key)
        if found is None:
            found = dict[str, object](), make()
            self.objects.store(key, *found)
        return found[1]

    def _key(self, program: Program, kernel: Function, block: BlockShape) -> str:
        shape = f"{block.x} {block.y} {block.z} {block.many:d} {block.narrow:d} {block.numbers}"
        parts = (self.identity, program.identity, str(program.environment), kernel.name, shape)
        return digest("\0".join(parts).encode()).hex()

    def _link(self, images: list[bytes], *names: str) -> tuple[list[int], object]:
        """Addresses of functions of objects that belong together, and what keeps their code alive."""
        if can_place(self.cpu):
            with suppress(Unplaceable):
                return place(images, names)
        return linking.link(images, names, self.cpu)


def _block(record: dict[str, Any]) -> BlockShape:
    """As it was before it was written as JSON, which has no tuples."""
    record["numbers"] = tuple([((offset, size), n) for (offset, size), n in record["numbers"]])
    return BlockShape(**record)


def _may_serve(header: Mapping[str, object], extent: Extent, short_drafts: bool) -> bool:
    """Whether code from the cache is good enough for a launch (`NONE`: only the best is)."""
    if not header["draft"]:
        return True
    extent = extent if _can_be_cut(header) else extent.uncut
    return not header["long"] and _terms(header).allow(extent, short_drafts)


def _can_be_cut(header: Mapping[str, object]) -> bool:
    return can_be_cut(bool(header["spins"]), bool(header["system"]))


def _terms(header: Mapping[str, object]) -> Terms:
    return Terms(cast("int", header["limit"]), cast("int", header["instructions"]))
