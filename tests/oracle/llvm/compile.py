"""Prints PTX for `backend.ll` through llvmlite: `python compile.py CPU FEATURES OPTIMISATION > FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm


def main(cpu: str, features: str, level: int) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    library: Any = llvm
    module = library.parse_assembly(Path(__file__).with_name("backend.ll").read_text())
    machine = library.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu, features, level)
    sys.stdout.write(machine.emit_assembly(module))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
