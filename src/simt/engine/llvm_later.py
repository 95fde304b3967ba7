"""Memory that later warps will load, asked for where CPUs do not look far enough ahead by themselves.

Where the threads of a CTA of one dimension load every second word, or members of small structures, a warp
takes so many lines at once, and does so much with them, that a CPU is at the next warps' lines too late.
Code of such a load asks for what lies two pages on: the grid goes straight on through memory. It does so in
launches that load more than the second cache holds. In loops, and where CTAs have barriers,
`simt.engine.llvm_prefetch` does the like. A prefetch of a wild address does nothing."""

from __future__ import annotations

from functools import cached_property

from simt.engine.llvm_access import ARENA, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_prefetch import NEAR, PAGE
from simt.engine.llvm_spreads import SpreadAlgebra

LARGE = 4 << 20
"""Bytes that a launch loads."""
FAR = 2 * PAGE
"""Bytes ahead. By measurement on an AMD Zen 5: 0.5, 1, 2, 4, 6, 8, 16 KB ahead a pooling kernel out of the
caches takes 1.8, 1.38, 1.21, 0.77, 0.68, 0.66, 0.68 ms, 2.2 without."""


class LaterAlgebra(SpreadAlgebra):
    """`SpreadAlgebra` that asks for later warps. `asked_for`: bytes that a warp asks for."""

    asked_for = 0

    def ask_for_later(self, access: Access, address: Value, nbytes: int) -> None:
        """Some bytes at an address (a scalar) are being loaded."""
        if self.at_start is None or self.frame is not None or self.loop is not None or self.for_next_cta:
            return
        plain = access.region.space == ARENA.space and not (access.volatile or self.seldom)
        if plain and self.block.linear and nbytes >= NEAR and self._is_first_near(address):
            self.asked_for += nbytes
            ask, go = self.builder.block_name("ask"), self.builder.block_name("go")
            self.builder.void(f"br i1 %loads.much, label %{ask}, label %{go}")
            self.builder.label(ask)
            self._ask_ahead([address], nbytes, str(FAR))
            self.builder.void(f"br label %{go}")
            self.builder.label(go)

    def _is_first_near(self, address: Value) -> bool:
        """Whether nothing has been asked for by an address of which this one is a few bytes away."""
        base, constant = self.as_sum(address)
        key = base.ir, (constant + NEAR // 2) // NEAR
        known = key in self._asked
        self._asked.add(key)
        return not known

    @cached_property
    def _asked(self) -> set[tuple[str, int]]:
        return set()


def begin(bytes_of_cta: int) -> list[str]:
    """When a kernel begins: whether the launch loads much, given what each CTA asks for."""
    if not bytes_of_cta:
        return []
    return [
        f"  %loads.bytes = mul i64 %ctas, {bytes_of_cta}",
        f"  %loads.much = icmp ugt i64 %loads.bytes, {LARGE}",
    ]
