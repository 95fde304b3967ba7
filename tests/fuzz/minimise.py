"""Makes a random program smaller while it keeps a property."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.programs import Program
from tests.fuzz.statements import Body


def minimise(program: Program, keeps: Callable[[Program], bool], tries: int = 400) -> Program:
    """Leaves out statements, halves of bodies first, as long as `keeps` says yes. Changes the program."""
    budget = [tries]
    changed = True
    while changed and budget[0] > 0:
        changed = False
        for body in program.all_bodies():
            changed |= _shrink(body, lambda: keeps(program), budget)
    return program


def _shrink(body: Body, keeps: Callable[[], bool], budget: list[int]) -> bool:
    """Leaves out runs of statements of one body. Returns whether any could be left out."""
    length, changed = len(body), False
    while length >= 1:
        start = 0
        while start < len(body) and budget[0] > 0:
            removed = body[start : start + length]
            del body[start : start + length]
            budget[0] -= 1
            if keeps():
                changed = True
            else:
                body[start:start] = removed
                start += length
        length //= 2
    return changed
