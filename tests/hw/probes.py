"""Small programs around one instruction each, for what is no function of one lane's operands: memory,
atomics, control flow, barriers, special registers. The recorder runs them on a GPU, the tests on our engines.

Every program is a module of its own with an entry `k` of two pointers, input and output. A thread finds its
number within the grid's first CTA in `%lane`, its 64 bytes of the output at `%out`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, Version
from simt.isa.special_registers import SpecialRegister
from simt.isa.targets import NEWEST
from tests.hw.arithmetic import GPU, OLD_TARGET, OLD_VERSION, is_old
from tests.unit.isa.meaning import Array

THREADS = 64
STRIDE = 64
"""Bytes of output of a thread."""

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Probe:
    """A program. `subject`: the form or special register that it is about. `variables`: declared in the
    module, before the entry. `given`: bytes of input. `unordered`: words of a thread's output that the
    threads of a number modulo 4 may have in any order. `parameter`: bytes of the entry's third parameter."""

    name: str
    subject: Form | SpecialRegister
    version: Version
    target: int
    body: tuple[str, ...]
    variables: tuple[str, ...] = ()
    given: bytes = b""
    unordered: tuple[int, ...] = ()
    parameter: bytes = b""
    grid: Shape = (1, 1, 1)
    block: Shape = (THREADS, 1, 1)

    @property
    def threads(self) -> int:
        return int(np.prod(self.grid) * np.prod(self.block))

    @property
    def text(self) -> str:
        """The module."""
        old = self.version < (2, 0)
        size = ".address_size 64\n" if self.version >= (2, 3) else ""
        extra = f", .param .align 16 .b8 blob[{len(self.parameter)}]" if self.parameter else ""
        lines = [f".version {self.version[0]}.{self.version[1]}\n.target sm_{self.target}\n{size}"]
        lines += [*self.variables, f".entry k (.param .u64 from, .param .u64 to{extra}) {{"]
        lines += [".reg .u64 %in, %out, %o; .reg .u32 %lane, %t, %n;"]
        lines += ["cvt.u32.u16 %lane, %tid.x;" if old else "mov.u32 %lane, %tid.x;"]
        lines += ["ld.param.u64 %in, [from]; ld.param.u64 %out, [to];"]
        lines += [*self._place(old), f"mul.wide.u32 %o, %lane, {STRIDE}; add.u64 %out, %out, %o;"]
        return "\n".join([*lines, *self.body, "}"]) + "\n"

    def _place(self, old: bool) -> list[str]:
        """The number of the thread within the grid, where it has more than one dimension."""
        if self.threads == self.block[0]:
            return []
        found: list[str] = []
        read = "cvt.u32.u16" if old else "mov.u32"
        names = ("ctaid.z", "ctaid.y", "ctaid.x", "tid.z", "tid.y", "tid.x")
        sizes = (*reversed(self.grid), *reversed(self.block))
        for name, size in zip(names, sizes):
            found.append(f"{read} %t, %{name};")
            found.append("mov.u32 %n, %t;" if not found[1:] else f"mad.lo.u32 %n, %n, {size}, %t;")
        return [*found, "mov.u32 %lane, %n;"]


@cache
def data() -> bytes:
    """Input of all that have no other: 16 bytes a thread."""
    return np.random.default_rng(7).bytes(16 * THREADS)


def words(raw: bytes) -> str:
    """Bytes as an initialiser of `.u32`."""
    return ", ".join(f"0x{int(w):08x}" for w in np.frombuffer(raw, "<u4"))


def versions(form: Form, binding: Binding) -> Iterator[tuple[str, Version, int]]:
    """Name, version and target of the modules in which an instruction is tried: PTX 1.4, if that has it, and
    the newest."""
    opcode = form.spell(binding)
    if is_old(form, binding):
        yield f"1.4 {opcode}", OLD_VERSION, OLD_TARGET
    if form.until is None:
        yield opcode, NEWEST, 90


def wanted(form: Form) -> list[Binding]:
    """Bindings to try: all that PTX 1.4 has; of newer ones those without optional modifiers, but with every
    space and vector, and of newer forms those of one type. None that the GPU has not got."""
    bindings = [b for b in form.bindings() if form.required(b).target <= GPU]
    optional = {s.name for s in form.slots if s.optional}
    if form.requirement.version <= OLD_VERSION:
        optional -= {"space", "vec"}
        found = [b for b in bindings if is_old(form, b) or not any(b[name] for name in optional)]
        return [b for b in found if "::" not in str(b.get("space"))]
    found = [b for b in bindings if not any(b[name] for name in optional)]
    return [b for b in found if b.get("type") == found[len(found) // 2].get("type")]


def forms(*chapters: str) -> list[Form]:
    """The forms of some chapters that the GPU has."""
    found = [f for fs in FORMS.values() for f in fs if f.chapter in chapters]
    return [f for f in found if f.requirement.target <= GPU]


def normal(probe: Probe, out: Array) -> Array:
    """Output in a form that does not depend on the order in which threads come: unordered words sorted."""
    rows = out.view("<u8").reshape(probe.threads, STRIDE // 8).copy()
    for word in probe.unordered:
        for group in range(4):
            rows[group::4, word] = np.sort(rows[group::4, word])
    return rows
