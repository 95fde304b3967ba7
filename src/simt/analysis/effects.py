"""Primitives that give no value: an analysis of values has nothing to do for them."""

from __future__ import annotations

from typing import TypeVar

from simt.isa.algebra import Composed

V = TypeVar("V")


class WithoutEffects(Composed[V]):
    """The part of `simt.isa.algebra.Algebra` that acts on the machine and gives nothing back."""

    def fence(self, level: str) -> None:
        return

    def trap(self) -> None:
        return

    def breakpoint(self) -> None:
        return

    def event(self, number: V) -> None:
        return

    def events(self, mask: V) -> None:
        return

    def sleep(self, nanoseconds: V) -> None:
        return
