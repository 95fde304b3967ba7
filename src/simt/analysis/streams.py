"""Stores that write on into an array which the kernel does not read.

Where a launch writes more than the CPU's caches hold, such lines need neither be read before they are
written nor stay in a cache.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from simt.analysis.access import ALIKE
from simt.analysis.evaluate import Evaluator
from simt.analysis.facts import key_of
from simt.analysis.observer import Anything
from simt.analysis.program import Address, Call, Op, SymbolAddress, memory_operands
from simt.analysis.shape import UNIFORM, VARYING, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa, uses
from simt.isa.algebra import Environment
from simt.ptx.types import Type
from simt.records import dataclass

OWN = frozenset({"shared", "local", ALIKE, "param", "const"})
"""State spaces of which no store to global memory is a part."""
Parameter = tuple[str, int]
"""Name and offset of a parameter."""


def streams(ssa: Ssa, environment: Environment) -> set[int]:
    """Stores (by the op's `id`) to addresses made of parameters of which no address is made that is loaded
    from. In a loop the address must be made in that loop, so that each turn goes on in memory.

    None in a kernel by whose atomic operations or fences threads may tell what other threads have done
    before: they would wait for such stores. Volatile accesses alone promise nothing about others.
    """
    found = list(_accesses(ssa, environment))
    if any(access.speaks or (access.loads and access.addresses is None) for access in found):
        return set()
    origins, read = _Origins(ssa), set[Parameter]()
    for access in found:
        if access.loads and access.addresses is not None:
            read |= origins.of(access.addresses)
    written = {a: origins.of(a.addresses) for a in found if a.streams and a.addresses is not None}
    return {a.number for a, parameters in written.items() if parameters and not parameters & read}


@dataclass(frozen=True, slots=True)
class _Access:
    """An op's accesses to global memory. `number`: its `id`. `loads`: it reads, or others read what it
    writes. `speaks`: atomic, or a fence. `addresses`: the register that holds its address, if one does."""

    number: int
    loads: bool
    streams: bool
    speaks: bool
    addresses: Definition | None


class _Watcher(ShapeAlgebra):
    """Notes what an op does with memory."""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self.loads = self.stores = self.speaks = False

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self.loads |= space not in OWN
        return (VARYING,) * count

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self.stores |= space == "global" and not volatile
        self.loads |= space not in OWN and volatile

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self.speaks = True
        return UNIFORM

    def fence(self, level: str) -> None:
        self.speaks = True


def _accesses(ssa: Ssa, environment: Environment) -> Iterator[_Access]:
    loop_of, watchers = ssa.schedule.loop_of, dict[Hashable, _Watcher]()
    for block in ssa.schedule.order:
        for op in block.ops:
            if isinstance(op, Call):
                yield _Access(id(op), loads=False, streams=False, speaks=True, addresses=None)
            elif op.form.effects:
                key, register = key_of(op, type), next((r for r, _ in memory_operands(op)), None)
                watcher = watchers.get(key)
                if watcher is None:
                    watcher = watchers[key] = _Watcher()
                    Evaluator(watcher, Anything(), environment).op(op)
                address = register and ssa.read[id(op)][register]
                goes_on = address is not None and loop_of[address.block.index] is loop_of[block.index]
                yield _Access(id(op), watcher.loads, watcher.stores and goes_on, watcher.speaks, address)


class _Origins:
    """From which parameters 64-bit values are made by arithmetic."""

    def __init__(self, ssa: Ssa) -> None:
        self.ssa = ssa

    def of(self, address: Definition) -> set[Parameter]:
        found, seen, work = set[Parameter](), {address}, [address]
        while work:
            definition = work.pop()
            found.update(_parameter(definition.origin))
            for source in (*self._inputs(definition), *definition.inputs.values()):
                if source not in seen:
                    seen.add(source)
                    work.append(source)
        return found

    def _inputs(self, definition: Definition) -> Iterator[Definition]:
        """The 64-bit values that an instruction makes a value of."""
        op = definition.origin
        if not isinstance(op, str):
            read = self.ssa.read[id(op)]
            yield from (read[r] for r in uses(op) if r.type.bits == 64)


def _parameter(op: Op | Call | str) -> Iterator[Parameter]:
    """The parameter that an op reads."""
    for source in op.sources.values() if isinstance(op, Op) else ():
        base = source.base if isinstance(source, Address) else None
        if isinstance(base, SymbolAddress) and base.space == "param" and isinstance(source, Address):
            yield base.name, base.offset + source.offset
