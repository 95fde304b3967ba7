"""Places of columns in large functions: names share memory, but never two that are needed at once."""

from __future__ import annotations

import random
import re

from simt.engine.llvm_kept import name, shared


def test_names_needed_at_once_have_different_memory() -> None:
    chosen = random.Random(7)
    names = [name(size, i) for i, size in enumerate(chosen.choices((64, 128, 256), k=60))]
    lines = [f"  call void @f(ptr {a}, ptr {b})" for a, b in (chosen.sample(names, 2) for _ in range(90))]
    lines += [f"  call void @f(ptr {a}, ptr {a})" for a in names]
    allocas, given = shared(lines)
    alive: dict[str, list[int]] = {}
    places: dict[str, str] = {}
    for i, (before, after) in enumerate(zip(lines, given, strict=True)):
        for old, new in zip(re.findall(r"%[\w.]+", before), re.findall(r"%[\w.]+", after), strict=True):
            assert places.setdefault(old, new) == new
            assert f"  {new} = alloca [{old.split('.')[1]} x i8], align 64" in allocas
            alive.setdefault(old, []).append(i)
    together = [
        (a, b)
        for a in names
        for b in names
        if a < b and alive[a][0] <= alive[b][-1] and alive[b][0] <= alive[a][-1]
    ]
    assert together
    assert all(places[a] != places[b] for a, b in together)


def test_memory_is_used_again() -> None:
    lines = [f"  call void @f(ptr {name(128, i)}, ptr {name(128, i + 1)})" for i in range(1000)]
    assert len(shared(lines)[0]) <= 3
