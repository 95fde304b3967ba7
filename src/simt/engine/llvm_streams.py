"""Stores past the caches, for launches that write more than these hold.

An ordinary store brings its line from memory first and drives others out of the caches. Where all of a line
is written at once, x86 can do without both, by stores that are ordered with later ones by a fence alone:
one at the end of the launch is enough for kernels by which threads cannot tell (`simt.analysis.streams`).
"""

from __future__ import annotations

from collections.abc import Callable

from simt.engine.llvm_access import SHARED, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import bases
from simt.engine.llvm_one_by_one import OneByOneAlgebra

LARGE = 32 << 20
"""Bytes that a launch must store so to be taken to write more than caches hold. (C libraries copy memory so
from three quarters of the last cache on, which is about this for a CPU of a server.)"""
LINE = 64
PAST = "!7"
Run = Callable[[], None]
METADATA = f"{PAST} = !{{i32 1}}"
"""At the end of a module."""
NEEDED = frozenset({"avx"})
"""Features of CPUs that store 32 bytes or more so."""


class StreamAlgebra(OneByOneAlgebra):
    """`streams`: the present store may go past the caches. `streamed`: bytes that a warp stores so, if all of
    its stores are of whole lines."""

    streams = False
    streamed = 0

    def stores_past(
        self,
        access: Access,
        parts: list[Value],
        span: int,
        past: Callable[[], None],
        usual: Callable[[], None],
    ) -> None:
        """`past()` if this is a store of whole lines by a launch that stores much; else `usual()`."""
        whole_lines = span * access.size % LINE == 0
        if not self.streams or access.region is SHARED or self.seldom or not whole_lines:
            return usual()
        self.streamed += span * access.size * len(parts)

        def first() -> tuple[Value, ...]:
            past()
            return ()

        def second() -> tuple[Value, ...]:
            usual()
            return ()

        self._either(self._is_worth_it(parts), first, second)
        return None

    def _is_worth_it(self, parts: list[Value]) -> str:
        """i1: all lanes run, lines are whole, and the launch is one that stores much."""
        places = bases(parts[0]).ir
        for part in parts[1:]:
            places = self.builder.emit(f"or {part.type} {places}, {bases(part).ir}")
        rest = self.builder.emit(f"and {parts[0].type} {places}, {LINE - 1}")
        aligned = self.builder.emit(f"icmp eq {parts[0].type} {rest}, 0")
        worth = self.builder.emit(f"and i1 {aligned}, %stream.much")
        if self.mask_is_full:
            return worth
        full = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")
        return self.builder.emit(f"and i1 {worth}, {full}")


def begin(bytes_of_cta: int) -> list[str]:
    """When a kernel begins: whether the launch stores much, given what each CTA stores past the caches."""
    if not bytes_of_cta:
        return []
    return [
        f"  %stream.bytes = mul i64 %ctas, {bytes_of_cta}",
        f"  %stream.much = icmp ugt i64 %stream.bytes, {LARGE}",
    ]


def end(bytes_of_cta: int) -> list[str]:
    """When a kernel ends: its stores come before what tells others that it has ended."""
    return ['  call void asm sideeffect "sfence", "~{memory}"()'] if bytes_of_cta else []
