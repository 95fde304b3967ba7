"""NVIDIA's assembler as an oracle: which instructions does it accept?"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from simt.isa.form import Binding, Form, OperandForm, Value
from simt.ptx.types import PRED, TYPES, Kind, Type

PTXAS = shutil.which("ptxas")
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="NVIDIA's ptxas is not on this machine")
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*:?\s*(.*)")


def newest_target(form: Form, binding: Binding | None = None) -> str:
    """A target that has the form, with these modifiers. (What 10.0 brought, some with an `a` alone have.)"""
    binding = binding or next(iter(form.bindings()))
    return "sm_100a" if form.required(binding).target > 90 else "sm_90"


def _declarations(version: tuple[int, int], target: str) -> str:
    """Eight registers of every type that registers may have there, `%f32_0` and so on."""
    kinds = (Kind.SIGNED, Kind.UNSIGNED, Kind.BITS, Kind.PREDICATE, Kind.FLOAT)
    wide = [
        t
        for t in TYPES.values()
        if t.kind in kinds and t.name not in ("bf16", "f16", "b128", "b8", "s8", "u8")
    ]
    names = [t.name for t in wide] + (
        ["b128"] if version >= (8, 3) and int(target[3:].rstrip("a")) >= 70 else []
    )
    return "\n".join(f".reg .{n} %{n}_<8>;" for n in names)


def rejected(
    lines: Sequence[str], version: tuple[int, int] = (9, 0), target: str = "sm_90", prelude: str = ""
) -> dict[int, str]:
    """The lines that ptxas does not take as instructions of one kernel, with its message.

    It stops at the first syntax error, so the lines it names are taken out until the rest assembles.
    `prelude`: module-scope declarations.
    """
    size = ".address_size 64\n" if version >= (2, 3) else ""
    head = f".version {version[0]}.{version[1]}\n.target {target}\n{size}{prelude}\n"
    head += f".entry k () {{\n{_declarations(version, target)}\n"
    found: dict[int, str] = {}
    while len(found) < len(lines):
        live = [i for i in range(len(lines)) if i not in found]
        errors = _assemble(head, [lines[i] for i in live], target)
        if not errors:
            break
        found |= {live[position]: message for position, message in errors.items()}
    return found


def _assemble(head: str, lines: Sequence[str], target: str) -> dict[int, str]:
    """Positions of the wrong lines."""
    first = head.count("\n") + 1
    text = head + "".join(f"{line};\n" for line in lines) + "exit;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.ptx"
        path.write_text(text)
        # Targets before sm_75 assemble for sm_90 as well: newer devices run older PTX.
        device = target if len(target) > len("sm_90") else "sm_90"
        command = [str(PTXAS), f"-arch={device}", "-O0", "-o", str(Path(folder) / "case.cubin"), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode == 0:
        return {}
    places = [(int(m[1]) - first, m[2]) for m in _ERROR.finditer(done.stderr + done.stdout)]
    errors = {p: text for p, text in places if 0 <= p < len(lines)}
    assert errors, f"ptxas fails outside of the lines: {(done.stderr + done.stdout)[:500]}"
    return errors


def register(t: Type, index: int) -> str:
    """A register that may hold values of a type, untyped where the type has no registers."""
    if t.kind is Kind.PACKED or t.name in ("bf16", "f16"):
        return f"%b{t.bits}_{index}"
    return f"%{'b16' if t.bits == 8 else t.name}_{index}"


def operand_text(form: Form, operand: OperandForm, binding: Mapping[str, Value], index: int) -> str:
    """A legal operand for a place: a register, an immediate, an address."""
    if operand.kind in ("address", "sink"):
        return "[%b64_7]" if operand.address else "_"
    t, count = form.operand_type(operand, binding)
    if operand.kind == "imm":
        allowed = form.ranges.get(operand.name)
        return str(allowed.start) if isinstance(allowed, range) else "1"
    if operand.second:
        return f"{register(t, index)}|{register(PRED, index + 1)}"
    if count > 1:
        return "{" + ", ".join(register(t, i) for i in range(count)) + "}"
    return register(t, index)


def instruction_text(form: Form, binding: Mapping[str, Value], optional: bool = True) -> str:
    """One instruction of a form, with all optional operands or with none."""
    operands = [o for o in form.operands if optional or not o.optional]
    texts = [operand_text(form, o, binding, i) for i, o in enumerate(operands)]
    return f"{form.spell(binding)} {', '.join(texts)}".rstrip()
