"""What the JIT makes of a suite's kernel: `python bench/show_code.py ENTRY [--ir | --asm]`.

Without an option: how often each kind of memory access, call and branch stands in the optimised IR.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
from typing import Any

import llvmlite.binding
from suite.catalogue import ENTRIES
from suite.problem import Launch, pair

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import Compiler
from simt.engine.llvm_kernel import emit

llvm: Any = llvmlite.binding  # its functions carry no types
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
    options = parser.parse_args()
    entry = ENTRIES[names.index(options.entry)]
    module = simt.Device("sm_90").load(entry.ptx)
    shapes = {launch.kernel: launch for launch in entry.problem("quick").launches}
    for launch in shapes.values():
        show(module, launch, options)
    return 0


def show(module: simt.Module, launch: Launch, options: argparse.Namespace) -> None:
    compiler, shape = Compiler(), BlockShape(*pair(launch.block), 1)
    function = module.program.functions[launch.kernel]
    text, _, context = emit(module.program, function, shape, compiler.features, compiler._attributes())
    optimised, machine = compiled(compiler, text)
    if options.ir or options.optimised or options.asm:
        print(text if options.ir else optimised if options.optimised else machine)
        return
    print(f"{launch.kernel}, CTAs of {shape.x}x{shape.y}: {context} bytes of context a warp")
    counts = collections.Counter(
        kind for line in optimised.splitlines() for kind, pattern in KINDS.items() if re.search(pattern, line)
    )
    for kind in KINDS:
        print(f"{counts[kind]:8} {kind}")


def compiled(compiler: Compiler, text: str) -> tuple[str, str]:
    """Optimised IR and assembly, by the compiler's own pipeline."""
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(compiler.machine, options)
    builder.getModulePassManager().run(module, builder)
    return str(module), compiler.machine.emit_assembly(module)


if __name__ == "__main__":
    sys.exit(main())
