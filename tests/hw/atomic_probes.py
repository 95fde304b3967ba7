"""Programs of atomic operations: on a cell for each thread, with special values crossed; and on four cells
that all threads share, 16 threads to a cell with the same operand, so that order makes no difference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simt.isa.form import Binding, Form, Version
from simt.isa.memory import state_space
from simt.ptx.types import Type
from tests.hw.memory_probes import registers
from tests.hw.operands import column
from tests.hw.probes import STRIDE, THREADS, Probe, forms, versions

OWN, SHARED = 0, 1
"""Words of a thread's input: its cell, the shared cell's first value, then the operands."""


def probes() -> Iterator[Probe]:
    """Of all atomics, in every space."""
    for form in forms("atomics"):
        for binding in _bindings(form):
            for name, version, target in versions(form, binding):
                yield _probe(form, binding, name, version, target)


def _bindings(form: Form) -> list[Binding]:
    """Every operation and space, without orders and scopes."""
    return [b for b in form.bindings() if not b["sem"] and not b["scope"]]


def _given(t: Type, cas: bool) -> bytes:
    """Eight words a thread: own cell, shared cell, operands of both; compared values often agree."""
    cells, operands, third = (column(t, i)[:THREADS] for i in range(3))
    shared = cells[np.arange(THREADS) % 4 + 1]
    common = operands[(np.arange(THREADS) % 4 + 3) * 8]
    if cas:
        common = shared
    rows = np.zeros((THREADS, STRIDE // 8), np.uint64)
    for i, words in enumerate((cells, shared, operands, common, third, third[np.arange(THREADS) % 4 * 9])):
        rows[:, i] = words
    return rows.tobytes()


def _probe(form: Form, binding: Binding, name: str, version: Version, target: int) -> Probe:
    t, cas = binding["type"], binding["op"] == "cas"
    assert isinstance(t, Type)
    space, kind = state_space(str(binding.get("space") or "")), registers(t, False)
    returns = form.mnemonic == "atom"
    body = [f"mul.wide.u32 %o, %lane, {STRIDE}; add.u64 %in, %in, %o; .reg .u64 %a, %b;"]
    body += [f".reg .{kind} %x, %y, %z, %d; .reg .u32 %four;"]
    variables = list[str]()
    if space == "shared":
        variables = [f".shared .align 8 .b8 own[{8 * THREADS}];", ".shared .align 8 .b8 all[32];"]
        body += ["mov.u64 %a, own; mul.wide.u32 %o, %lane, 8; add.u64 %a, %a, %o; mov.u64 %b, all;"]
    else:
        body += ["add.u64 %a, %out, 8; ld.param.u64 %b, [to]; add.u64 %b, %b, 24;"]
    step = 8 if space == "shared" else STRIDE
    where = space or "global"
    body += [f"and.b32 %four, %lane, 3; mul.wide.u32 %o, %four, {step}; add.u64 %b, %b, %o;"]
    for i, cell in ((OWN, "%a"), (SHARED, "%b")):
        body += [f"ld.global.{kind} %x, [%in+{8 * i}]; st.{where}.{kind} [{cell}], %x;"]
    body += ["bar.sync 0;"]
    for i, cell in ((OWN, "%a"), (SHARED, "%b")):
        body += [f"ld.global.{kind} %y, [%in+{16 + 8 * i}]; ld.global.{kind} %z, [%in+{32 + 8 * i}];"]
        operands = f"[{cell}], %y" + (", %z" if cas else "")
        body += [f"{form.spell(binding)} {'%d, ' if returns else ''}{operands};"]
        body += [f"st.global.{kind} [%out+{16 * i}], %d;"] if returns else []
    if space == "shared":
        body += ["bar.sync 0;", f"ld.shared.{kind} %x, [%a]; st.global.{kind} [%out+8], %x;"]
        body += [f"ld.shared.{kind} %x, [%b]; st.global.{kind} [%out+24], %x;"]
    return Probe(
        name, form, version, target, (*body, "exit;"), tuple(variables), _given(t, cas), unordered=(2,)
    )  # fmt: skip
