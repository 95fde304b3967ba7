"""What the JIT makes of a suite's kernel: `python bench/show_code.py ENTRY [--ir | --asm]`.

Without an option: how often each kind of memory access, call and branch stands in the optimised IR.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys

from suite.catalogue import ENTRIES
from suite.problem import Launch, triple

import simt
from simt.analysis.joined import asked
from simt.engine.compile import attributes, optimized, target_machine
from simt.engine.host import HOST, Cpu, find_cpu
from simt.engine.llvm_kernel import emit

KINDS = {
    "gather": r"call .*llvm\.masked\.gather",
    "scatter": r"call .*llvm\.masked\.scatter",
    "masked load or store": r"call .*llvm\.masked\.(load|store)",
    "vector load": r"= load <",
    "vector store": r"^  store <",
    "scalar load": r"= load [a-z]",
    "scalar store": r"^  store [a-z]",
    "stack slot": r"= alloca",
    "phi of a vector": r"= phi <",
    "select of a vector": r"= select <",
    "branch": r"^  br i1",
    "call of the runtime": r"call .*@simt\.",
    "instruction": r"^  \S",
}


def main() -> int:
    names = [entry.name for entry in ENTRIES]
    parser = argparse.ArgumentParser(description="The JIT's code for a kernel of the suite.")
    parser.add_argument("entry", choices=names, metavar="ENTRY", help=", ".join(names))
    parser.add_argument("--ir", action="store_true", help="print LLVM IR before optimisation")
    parser.add_argument("--optimised", action="store_true", help="print LLVM IR after optimisation")
    parser.add_argument("--asm", action="store_true", help="print the machine code")
    parser.add_argument("--cpu", default=HOST, help="for this CPU: x86-64-v3, for instance")
    options = parser.parse_args()
    entry = ENTRIES[names.index(options.entry)]
    module = simt.Device("sm_90").load(entry.ptx)
    shapes = {launch.kernel: launch for launch in entry.problem("quick").launches}
    for launch in shapes.values():
        show(module, launch, options)
    return 0


def show(module: simt.Module, launch: Launch, options: argparse.Namespace) -> None:
    cpu, function = find_cpu(options.cpu), module.program.functions[launch.kernel]
    shape = asked(triple(launch.block), triple(launch.grid), function)
    text, _, context = emit(module.program, function, shape, cpu.features, attributes(cpu))
    optimised, machine = compiled(cpu, text)
    if options.ir or options.optimised or options.asm:
        print(text if options.ir else optimised if options.optimised else machine)
        return
    print(f"{launch.kernel}, CTAs of {shape.x}x{shape.y}: {context} bytes of context a warp")
    counts = collections.Counter(
        kind for line in optimised.splitlines() for kind, pattern in KINDS.items() if re.search(pattern, line)
    )
    for kind in KINDS:
        print(f"{counts[kind]:8} {kind}")


def compiled(cpu: Cpu, text: str) -> tuple[str, str]:
    """Optimised IR and assembly, by the compiler's own pipeline."""
    module = optimized(text, cpu)
    return str(module), target_machine(cpu).emit_assembly(module)


if __name__ == "__main__":
    sys.exit(main())
