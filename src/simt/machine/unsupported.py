"""Kernels that cannot be launched because of an instruction that simt knows but does not run."""

from __future__ import annotations

from simt.analysis.outline import Function, Missing, Program
from simt.errors import UnsupportedInstruction, brief


def unsupported(program: Program, kernel: Function) -> UnsupportedInstruction:
    """What a launch of a kernel with `missing` instructions raises: which one, where, and by which calls it
    is reached."""
    first = kernel.missing[0]
    line, file = program.text.place(first.line)
    opcodes = tuple(dict.fromkeys(m.opcode for m in kernel.missing))
    message = (
        f"kernel {brief(kernel.name)}: simt does not run `{first.opcode}` "
        f"({file} line {line}{_reached(first)}){_further(opcodes[1:])}; {_others(program)}"
    )
    return UnsupportedInstruction(message, opcodes, line, file)


def _reached(missing: Missing) -> str:
    """`, reached through f, g`."""
    return f", reached through {', '.join(map(brief, missing.path))}" if missing.path else ""


MOST_NAMED = 5


def _further(opcodes: tuple[str, ...]) -> str:
    if not opcodes:
        return ""
    more = " ..." if len(opcodes) > MOST_NAMED else ""
    return f", nor {', '.join(f'`{o}`' for o in opcodes[:MOST_NAMED])}{more}"


def _others(program: Program) -> str:
    """Which kernels of the module can be launched."""
    able = [f.name for f in program.functions.values() if f.is_kernel and not f.missing]
    if not able:
        return "no kernel of the module can be launched"
    shown = f"{', '.join(map(brief, able[:MOST_NAMED]))}{' ...' if len(able) > MOST_NAMED else ''}"
    return f"of the module's kernels {len(able)} can be launched: {shown}"
